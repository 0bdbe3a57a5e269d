"""Which plan the defines of a call mean, found without making a key of them.

Programs of 2019 give all defines with each call, twenty of them as a rule. Equal defines give equal code only if
their types are equal, too: 1, True, 1.0 and '1' are four different defines. A ``Recent`` holds what the last few
calls gave and compares by Python's own list comparison, in C: names and values, and the types of numbers, also
inside of lists; 0.0 and -0.0 are compared as they are spelled. Lists are copied, so that a user may change them.
Where the fast path runs in C, so does this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from types import NoneType
from typing import Any, Final, Generic, TypeVar

from pytriton.runtime.launch.fast_path_c import native_recall

__all__ = ["Recent"]

Kept = TypeVar("Kept")

_MOST: Final = 8


class Recent(Generic[Kept]):
    """What belongs to the defines of the last few calls.

    ``get(defines, *more)`` gives what was kept for just these defines and ``more``, such as ``num_warps``; None if
    that is not known.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[list[str], list[Any], Kept, _Types]] = []
        self._hits = 0
        self.get: Callable[..., Kept | None] = self._get

    def _get(self, defines: Mapping[str, Any] | None, *more: Any) -> Kept | None:
        names, values = ([], [*more]) if defines is None else ([*defines], [*defines.values(), *more])
        try:
            for known, before, kept, types in (*self._seen,):
                if values == before and names == known and types.are_those_of(values):
                    self._hits += 1
                    if not self._hits & (self._hits - 1):  # now and then: does the same exist in C by now?
                        self.get = native_recall(self._seen) or self._get
                    return kept
        except (RuntimeError, TypeError, ValueError):
            pass  # an array or the like, which cannot be compared with everything
        return None

    def put(self, kept: Kept, defines: Mapping[str, Any] | None, *more: Any) -> None:
        """Remember; the longest known is forgotten. (Threads may lose what another has just put: no harm.)"""
        values = [*(defines or {}).values(), *more]
        copied = [type(value)(value) if type(value) in (list, tuple) else value for value in values]
        self._seen[:] = ((list(defines or {}), copied, kept, _Types(copied)), *self._seen[: _MOST - 1])


class _Types:
    """The types of one call's defines. Only numbers can be equal and of different types, alone or in lists.

    ``zeros``: the spelling of what may be 0.0 or -0.0.
    """

    __slots__ = ("lists", "numbers", "types", "zeros")

    def __init__(self, values: Sequence[Any]) -> None:
        numbers = [
            at for at, value in enumerate(values) if not isinstance(value, (str, list, tuple, NoneType))
        ]
        self.numbers = itemgetter(*numbers, *numbers[:1]) if numbers else None  # two or more give a tuple
        self.types = [*map(type, self.numbers(values))] if self.numbers else []
        lists = [(at, value) for at, value in enumerate(values) if isinstance(value, (list, tuple))]
        self.lists = [(at, [*map(type, value)]) for at, value in lists]

        shown = [(at, repr(value)) for at, value in enumerate(values)]
        self.zeros = [(at, spelled) for at, spelled in shown if "0.0" in spelled]

    def are_those_of(self, values: Sequence[Any]) -> bool:
        """Whether these equal values are of the same types, too, and their zeros have the same signs."""
        if self.numbers is not None and [*map(type, self.numbers(values))] != self.types:
            return False
        if self.zeros and any(repr(values[at]) != spelled for at, spelled in self.zeros):
            return False
        return not self.lists or all([*map(type, values[at])] == types for at, types in self.lists)
