"""Room in an expression of the typed tree for what walk.py found out about it, so that it is found out once.

These are no fields: equality, printing and ``replace`` do not know of them, and a node starts without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytriton.lang.typed import Expr, Symbol

__all__ = ["Known"]


class Known:
    """The nodes below; the symbols in it."""

    __slots__ = ("below", "symbols")
    below: tuple[Expr, ...]
    symbols: frozenset[Symbol]
