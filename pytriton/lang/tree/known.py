"""Room in the typed tree for what walk.py found out about a node, so that it is found out once.

These are no fields: equality, printing and ``replace`` do not know of them, and a node starts without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytriton.lang.tree.typed import Expr, Symbol

__all__ = ["Known", "KnownInside"]


class Known:
    """Of an expression: the nodes below; the symbols in it; the classes of its nodes. Of a pointer: the variables
    that it is computed from, or None where memory or a number is (passes/memory/provenance.py).
    """

    __slots__ = ("bases", "below", "kinds", "symbols")
    bases: frozenset[Symbol] | None
    below: tuple[Expr, ...]
    kinds: frozenset[type]
    symbols: frozenset[Symbol]


class KnownInside:
    """Of a statement and the blocks in it: the symbols that are read; those that are set; the classes of nodes."""

    __slots__ = ("kinds", "reads", "sets")
    kinds: frozenset[type]
    reads: frozenset[Symbol]
    sets: frozenset[Symbol]
