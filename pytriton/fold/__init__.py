"""One kernel from many variants: the translations of a source for all its define sets, folded into one function.

The files in the order of a fold; fold.py is the map:

* variants.py: the define sets, and sets of variants. partial.py: conditions of ``#if``, and their values.
* walk.py: the parts of a tree (emit/python.py), which emit/printer.py prints.
* padding.py: sizes that are padded in some variants and not in others.
* merge.py: which statements of the variants are one. join.py: merges equivalent expressions.
* separations.py: which condition is true of exactly these variants.
* polish.py: comments once, the best name for a type.
* leaves.py: which define sets the result accepts. formula.py: this in few conditions.

Needs neither torch nor triton: that a folded kernel is equal to each of its variants is proved by the caller
(port/prove.py).
"""

from pytriton.fold.fold import Folded, fold
from pytriton.fold.variants import Unfoldable, Variant

__all__ = ["Folded", "Unfoldable", "Variant", "fold"]
