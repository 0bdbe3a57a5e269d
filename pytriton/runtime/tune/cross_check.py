"""Do the candidates of a sweep compute the same?

Each candidate is launched once, from the same state, before anything is timed, and what it wrote is
compared with what the others wrote. Whole numbers must be equal. Floats may differ as the order of sums
does: an element by 2^-7 (of half and bfloat16 2^-5) of its size and of the mean size of what was written.
The largest group that agrees is right; of groups of one size, that of the first point. Only the user's
points vote, never pytriton's own variants.

A kernel whose results depend on luck (on the order of atomics) cannot be judged so: where a candidate does
not agree with itself, nobody is dropped. ``PYTRITON_NO_COMPARE=1`` is for kernels that are meant to write
something else with each point, as into scratch memory whose layout is the tile's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import torch

from pytriton.runtime.tune.snapshot import Memory, Saved

__all__ = ["Agreement", "may_compare"]

NO_COMPARE_VARIABLE: Final = "PYTRITON_NO_COMPARE"

_One = TypeVar("_One")

_CHUNK: Final = 1 << 24  # bytes that are compared as numbers at a time
_TOLERANCE: Final = {
    torch.float16: 2.0**-5,
    torch.bfloat16: 2.0**-5,
    torch.float32: 2.0**-7,
    torch.float64: 2.0**-7,
}


def may_compare() -> bool:
    """Whether the user lets outputs be compared."""
    return os.environ.get(NO_COMPARE_VARIABLE, "") in ("", "0")


@dataclass
class _Group(Generic[_One]):
    """Candidates that agree, and what the first of them wrote."""

    members: list[_One]
    written: tuple[torch.Tensor, ...]
    differs: str = ""  # from the first group, and where


class Agreement(Generic[_One]):
    """Sorts candidates into groups that agree. ``run`` restores the memory and launches one of them."""

    def __init__(self, saved: Saved, run: Callable[[_One], None], judging: bool = True) -> None:
        self._saved = saved
        self._run = run
        self._groups: list[_Group[_One]] = []
        self._can_judge = judging

    def add(self, one: _One) -> None:
        """Launch a candidate, and find its group."""
        self._run(one)
        if not self._can_judge:
            return
        try:
            self._sort_in(one)
        except torch.cuda.OutOfMemoryError:
            self._give_up()

    def _sort_in(self, one: _One) -> None:
        differs = ""
        for group in self._groups:
            found = self._difference(group.written)
            if not found:
                group.members.append(one)
                return
            differs = differs or found
        written = self._snapshot()
        if self._groups and not (self._repeats(one, written) and self._repeats_first()):
            self._give_up()
            return
        self._groups.append(_Group([one], written, differs))

    def _snapshot(self) -> tuple[torch.Tensor, ...]:
        return tuple(each.memory.clone() for each in self._saved.memories)

    def _repeats(self, one: _One, written: Sequence[torch.Tensor]) -> bool:
        """Whether a candidate writes the same when it is launched again."""
        self._run(one)
        return not self._difference(written)

    def _repeats_first(self) -> bool:
        return self._repeats(self._groups[0].members[0], self._groups[0].written)

    def _give_up(self) -> None:
        self._can_judge = False
        self._groups = []

    def wrong(self, voters: Callable[[_One], bool]) -> dict[_One, str]:
        """Who disagrees with the largest group of voters, and how."""
        if len(self._groups) < 2:
            return {}
        votes = [sum(map(voters, group.members)) for group in self._groups]
        right = self._groups[votes.index(max(votes))]
        found: dict[_One, str] = {}
        for group in self._groups:
            if group is not right:
                differs = group.differs or right.differs
                found |= dict.fromkeys(group.members, differs)
        return found

    def _difference(self, written: Sequence[torch.Tensor]) -> str:
        """How the present memory differs from what was written before; empty if it does not."""
        for each, other in zip(self._saved.memories, written, strict=True):
            count = _count_of_others(each, other)
            if count:
                return f"{count} elements of '{each.name}'" if each.name else f"{count} elements"
        return ""


def _count_of_others(memory: Memory, other: torch.Tensor) -> int:
    """How many elements of a memory are not what they are in another run's copy."""
    now = memory.memory
    if torch.equal(now, other):
        return 0
    tolerance = _TOLERANCE.get(memory.dtype) if memory.dtype is not None else None
    width = 1 if memory.dtype is None else memory.dtype.itemsize
    if tolerance is None or memory.dtype is None or now.numel() % width:
        whole = now.numel() // width * width
        return int((now != other)[:whole].view(-1, width).any(1).sum()) or 1
    size = tolerance * _mean_size(other, memory.copy, memory.dtype)
    count = 0
    for start in range(0, now.numel(), _CHUNK):
        a, b = (each[start : start + _CHUNK].view(memory.dtype).double() for each in (now, other))
        near = b.isfinite() & ((a - b).abs() <= tolerance * b.abs() + size)
        count += int((~(near | (a == b) | (a.isnan() & b.isnan()))).sum())
    return count


def _mean_size(written: torch.Tensor, before: torch.Tensor, dtype: torch.dtype) -> float:
    """The mean magnitude of the finite elements that a launch changed."""
    total, count = 0.0, 0
    for start in range(0, written.numel(), _CHUNK):
        new, old = (each[start : start + _CHUNK].view(dtype).double() for each in (written, before))
        changed = new[(new != old) & new.isfinite()].abs()
        total += float(changed.sum())
        count += changed.numel()
    return total / count if count else 0.0
