"""The typed tree: what a source means, and the ways to walk it, rebuild it and convert its values.

Every expression has a type, every node a span. How the source was written is not in it.
"""
