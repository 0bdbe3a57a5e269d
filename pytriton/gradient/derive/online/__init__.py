"""A running softmax, in which a loop rescales its sums as their exponent grows.

rescaled.py  the loop that only adds in its place
guarded.py   exponents that may be -infinity
"""
