"""One kernel from many variants: the translations of a text for all its define sets, folded into one function.

The files in the order of a fold; fold.py is the map:

* variants.py: the define sets, and sets of variants. evaluate.py: conditions over defines.
* read.py: the text of a translation -> statements. walk.py: their parts. write.py: statements -> text.
* padding.py: sizes that are padded in some variants and not in others.
* align.py: which statements of the variants are one. join.py: two expressions that compute the same -> one.
* conditions.py: which condition is true of exactly these variants. merge.py: rows of statements -> statements.
* unify.py: one question for what several defines say together.
* polish.py: comments once, names for choices. known.py: which define sets the result serves.

Needs neither torch nor triton: that a folded kernel is equal to each of its variants is proved by who has them
(port/prove.py).
"""
