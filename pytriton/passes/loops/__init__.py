"""C's loops as ``range``; prefetched loads moved back to the top of the loop that uses them.

``prefetch.py`` is the pass; ``slices.py`` finds the statements that can move to the start of an iteration and their
values there; ``rotate.py`` compares them with the statements before the loop, and builds the new loop.
"""
