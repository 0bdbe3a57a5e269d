"""Numbers for expressions, so that many of them can be compared with each other in no time.

Two expressions of one ``Keys`` have one number just where ``lang.walk.same`` holds for them.
"""

from __future__ import annotations

from typing import Any

from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.walk import children, plain_values

__all__ = ["Keys"]


class Keys:
    """Gives out the numbers."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, tuple[Expr, int]] = {}  # by id; the expression is kept, so that its id is

    def of(self, expr: Expr) -> int:
        """The number of an expression."""
        found = self._known.get(id(expr))
        if found is None:
            key = (type(expr), expr.type, plain_values(expr), tuple(map(self.of, children(expr))))
            found = self._known[id(expr)] = (expr, self._numbers.setdefault(key, len(self._numbers)))
        return found[1]
