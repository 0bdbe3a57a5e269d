"""What the old packages took from ``triton`` beside their kernels: tensors, sizes, and mappings by tensor."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any, Final, Generic, TypeVar

import torch

__all__ = [
    "IdDict",
    "bench_registry",
    "cdiv",
    "cdiv_sum",
    "ctx_registry",
    "empty",
    "next_power_of_2",
    "shape",
    "synchronize",
]


def empty(shape: Sequence[int] | int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """An uninitialised tensor on the current CUDA device; on the CPU where there is none."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.empty(shape, dtype=dtype, device=device)


def synchronize(device: Any = None) -> None:
    """Wait for the work of a CUDA device, the current one if None; on a CPU everything is done already."""
    wanted = None if device is None or isinstance(device, int) else torch.device(device)
    if torch.cuda.is_available() and (wanted is None or wanted.type == "cuda"):
        torch.cuda.synchronize(device)


def cdiv(a: int, b: int) -> int:
    """a / b, rounded up: how many tiles of b elements cover a elements."""
    return -(a // -b)


def cdiv_sum(a: Iterable[int], b: int) -> int:
    """The sum of ``cdiv(x, b)`` over a list."""
    return sum(cdiv(x, b) for x in a)


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least n; 1 for n below 1."""
    return 1 << (n - 1).bit_length() if n > 1 else 1


def shape(x: Any) -> Any:
    """The sizes of a tensor."""
    return x.shape


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
