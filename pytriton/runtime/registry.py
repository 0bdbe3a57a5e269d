"""Times by tensor, as the old packages kept them: a mapping keyed by identity that keeps nothing alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any, Final, Generic, TypeVar

__all__ = ["IdDict", "bench_registry", "ctx_registry"]

Value = TypeVar("Value")


class IdDict(MutableMapping[Any, Value], Generic[Value]):
    """A weak mapping keyed by object identity: tensors have neither a useful hash nor ``==``."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def __setitem__(self, key: Any, value: Value) -> None:
        identity = id(key)
        forget = self._entries.pop
        self._entries[identity] = (weakref.ref(key, lambda _: forget(identity, None)), value)

    def __getitem__(self, key: Any) -> Value:
        entry = self._entries.get(id(key))
        if entry is None or entry[0]() is not key:
            raise KeyError(f"an object of type {type(key).__name__}")
        return entry[1]

    def __delitem__(self, key: Any) -> None:
        self[key]
        del self._entries[id(key)]

    def __iter__(self) -> Iterator[Any]:
        for reference, _ in list(self._entries.values()):
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        entry = self._entries.get(id(key))
        return entry is not None and entry[0]() is key


bench_registry: Final[IdDict[int]] = IdDict()
"""The best time of a launch in nanoseconds, by the tensor that it writes."""

ctx_registry: Final[IdDict[Any]] = IdDict()
"""The ctx of ``pytriton.function``, by the tensor that its forward gave."""
