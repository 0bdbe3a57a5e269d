"""The arithmetic of grids, and the sizes that it starts from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["cdiv", "cdiv_sum", "next_power_of_2", "shape"]


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
