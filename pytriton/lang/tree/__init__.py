"""The typed tree: what a text means, and the ways to walk it, rebuild it and convert its values.

Every expression has a type, every node a span. Knows nothing of how a text was written.
"""
