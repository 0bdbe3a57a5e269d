"""One kernel from many variants: the translations of a text for all its define sets, folded into one function.

text and variants -> read -> align -> merge -> a module; conditions.py says which variants an ``if`` is for.
Needs neither torch nor triton: that a folded kernel is equal to each of its variants is proved by who has them
(port/prove.py).
"""
