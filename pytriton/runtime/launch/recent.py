"""Which plan the defines of a call mean, found in C without making a key of them.

Programs of 2019 give all defines with each call, twenty of them as a rule, and a key of twenty takes as long to
make (1.5 to 5 us) as a launch. So what the last few calls gave is compared in C (0.2 us), where the fast path runs
in C, too. Equal defines give equal code only if their types are equal: 1, True, 1.0 and '1' are four different
defines, 0.0 and -0.0 are two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

import torch

from pytriton.runtime.launch.fast_path import native_recall

__all__ = ["Recent", "key_of"]

Value = TypeVar("Value")

MAX_CALLS: Final = 8


class Recent(Generic[Value]):
    """What belongs to the defines of the last few calls, for the fast path in C; without that it knows nothing.

    ``get(defines, *more)`` gives what was put for just these defines and ``more``, such as ``num_warps``; None if
    that is not known.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[list[str], list[Any], Value]] = []
        self.get: Callable[..., Value | None] = _know_nothing

    def put(self, value: Value, defines: Mapping[str, Any] | None, *more: Any) -> None:
        """Remember; the longest known is forgotten. (Threads may lose what another has just put: no harm.)"""
        if self.get is _know_nothing:  # the module in C is built with the first launcher
            self.get = native_recall(self._seen) or _know_nothing
        if self.get is not _know_nothing:
            given = [*(defines or {}).values(), *more]
            # Lists are copied, so that a user may change them.
            copied = [type(each)(each) if type(each) in (list, tuple) else each for each in given]
            self._seen[:] = ((list(defines or {}), copied, value), *self._seen[: MAX_CALLS - 1])


def _know_nothing(*_: Any) -> None:
    return None


# Hashable, and the same define where types and values are equal. (0.0 and -0.0 are equal, and NaN is not.)
_SIMPLE: Final = frozenset({int, str, bool, type(None), torch.dtype})


def key_of(defines: Mapping[str, Any] | None, *more: Any) -> tuple[Any, ...]:
    """A hashable key of the same, in Python; it holds no reference to what a user can change."""
    values: Iterable[Any] = [*defines.values(), *more] if defines else more
    types = tuple(map(type, values))
    if not _SIMPLE.issuperset(types):
        values = [value if type(value) in _SIMPLE else _frozen(value) for value in values]
    return tuple(defines or ()), types, *values


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple((type(item), _frozen(item)) for item in value)
    return value if isinstance(value, (str, int)) else repr(value)
