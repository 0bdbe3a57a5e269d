"""Where a generated program comes from: a row of small numbers, 0 always the simplest choice.

The generator asks ``below(n)`` again and again. ``Recorded`` answers from a seed and remembers; ``Replayed``
answers from a row (and 0 behind its end), so that ``shrunk`` can make a failing row shorter and smaller without
knowing anything about programs. Under hypothesis the same generator draws from ``Drawn``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

__all__ = ["Choices", "Drawn", "Recorded", "Replayed", "shrunk"]

T = TypeVar("T")


class Choices:
    """Answers ``below(n)`` with 0 .. n-1."""

    def below(self, n: int) -> int:
        raise NotImplementedError

    def pick(self, items: Sequence[T]) -> T:
        """One of the items; the first is the simplest."""
        return items[self.below(len(items))]

    def chance(self, one_in: int) -> bool:
        """True once in so many times; False is simpler."""
        return self.below(one_in) == one_in - 1

    def weighted(self, items: Sequence[tuple[int, T]]) -> T:
        """One of the items by weight."""
        at = self.below(sum(weight for weight, _ in items))
        for weight, item in items:
            if at < weight:
                return item
            at -= weight
        raise AssertionError


class Recorded(Choices):
    """From a seed; ``row`` is what was answered."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.row: list[int] = []

    def below(self, n: int) -> int:
        self.row.append(int(self.random.random() * n))
        return self.row[-1]


class Replayed(Choices):
    """From a row; numbers that are too large are reduced."""

    def __init__(self, row: Sequence[int]) -> None:
        self.given, self.row = row, []

    def below(self, n: int) -> int:
        at = len(self.row)
        self.row.append(min(self.given[at], n - 1) if at < len(self.given) else 0)
        return self.row[-1]


class Drawn(Choices):
    """From hypothesis."""

    def __init__(self, draw: Callable[[Any], Any], integers: Callable[[int, int], Any]) -> None:
        self.draw, self.integers = draw, integers

    def below(self, n: int) -> int:
        return 0 if n == 1 else self.draw(self.integers(0, n - 1))


def shrunk(row: Sequence[int], fails: Callable[[Sequence[int]], bool], most: int = 1500) -> list[int]:
    """A shorter, smaller row that still fails: runs are cut out, then numbers lowered."""
    best = list(row)
    tries = 0

    def attempt(candidate: list[int]) -> bool:
        nonlocal best, tries
        tries += 1
        if tries <= most and candidate != best and fails(candidate):
            best = candidate
            return True
        return False

    improved = True
    while improved and tries < most:
        improved = False
        for size in (64, 32, 16, 8, 4, 3, 2, 1):
            at = max(0, len(best) - size)
            while at >= 0 and tries < most:
                if attempt(best[:at] + best[at + size :]) or (
                    any(best[at : at + size])
                    and attempt(best[:at] + [0] * len(best[at : at + size]) + best[at + size :])
                ):
                    improved = True
                at -= max(1, size // 2) if size > 1 else 1
        for at in range(len(best)):
            for smaller in (0, best[at] // 2, best[at] - 1) if at < len(best) else ():
                if 0 <= smaller < best[at] and attempt([*best[:at], smaller, *best[at + 1 :]]):
                    improved = True
                    break
    return best
