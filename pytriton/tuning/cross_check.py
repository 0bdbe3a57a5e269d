"""Do the candidates of a sweep compute the same?

Each candidate is launched once, from the same state, before anything is timed, and what it wrote is
compared with what the others wrote. Whole numbers must be equal. Floats may differ as the order of sums
does: an element by 2^-7 (of half and bfloat16 2^-5) of its size and of the mean size of what was written.
The largest group that agrees is right; of groups of one size, that of the first config. Only the user's
configs vote, never pytriton's own variants.

A kernel whose results depend on luck (on the order of atomics) cannot be judged so: where a candidate does
not agree with itself, none is dropped. ``PYTRITON_NO_COMPARE=1`` is for kernels that are meant to write
something else with each config, as into scratch memory whose layout is the tile's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy
import torch

from pytriton.errors import counted
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.runtime.checks.memory import blocks

# Memory that a kernel writes, saved and put back: repeated launches must leave no trace.
#
# Tuning and ``bench=`` launch a kernel many times, and the caller is to see one launch. A kernel may write
# anywhere in the storage behind a tensor (views overlap, pointers move), so whole storages are saved. Of a bare
# address the extent is unknown; torch's allocator knows the block that holds it. Unknown memory cannot be
# saved, and then the kernel is launched only once.


@dataclass(frozen=True, slots=True)
class WrittenArgument:
    """An argument through which a kernel writes, and the parameter that it is given for."""

    argument: Any
    parameter: Parameter | None = None

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype of the elements, as they are declared."""
        if self.parameter is None or not isinstance(self.parameter.type, PointerType):
            return None
        element = self.parameter.type.element
        dtype = torch.int64 if isinstance(element, PointerType) else getattr(torch, element.torch)
        assert isinstance(dtype, torch.dtype)
        return dtype


@dataclass(frozen=True, slots=True, eq=False)
class SavedMemory:
    """A stretch of memory and its copy, both as bytes; what its elements are, which parameter led there, and
    whether all candidates should leave the same there."""

    memory: torch.Tensor
    copy: torch.Tensor
    dtype: torch.dtype | None = None
    name: str = ""
    compared: bool = True


@dataclass(frozen=True, slots=True)
class Saved:
    """All memory that a launch may change."""

    memories: tuple[SavedMemory, ...]

    def restore(self) -> None:
        """Put everything back, in order with the other work of the current stream."""
        for memory in self.memories:
            memory.memory.copy_(memory.copy)


def save(written: Iterable[WrittenArgument], device: int, scratch: Collection[str] = ()) -> Saved | None:
    """A copy of the memory behind these arguments; None if some of it cannot be found or copied. What
    ``scratch`` names is not compared."""
    memories: dict[int, SavedMemory] = {}
    try:
        for target in written:
            memory = _memory_of(target.argument, device)
            if memory is None:
                return None
            if memory.numel() and memory.data_ptr() not in memories:
                name = "" if target.parameter is None else target.parameter.name
                compared = name not in scratch
                memories[memory.data_ptr()] = SavedMemory(
                    memory, memory.clone(), target.dtype, name, compared
                )
        return Saved(tuple(memories.values()))
    except torch.cuda.OutOfMemoryError:
        return None


def _memory_of(argument: Any, device: int) -> torch.Tensor | None:
    """The bytes that a kernel can reach through an argument; empty for an absent one."""
    if isinstance(argument, torch.Tensor) and argument.numel():
        storage = argument.untyped_storage()
        return torch.empty(0, dtype=torch.uint8, device=argument.device).set_(storage)
    if argument is None or isinstance(argument, torch.Tensor) or argument == 0:
        return torch.empty(0, dtype=torch.uint8)
    return _allocated_block(int(argument)) if device >= 0 else None


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch of CUDA memory, in the form that torch.as_tensor understands."""

    address: int
    size: int

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "data": (self.address, False),
            "shape": (self.size,),
            "typestr": numpy.dtype(numpy.uint8).str,
            "version": 3,
        }


def _allocated_block(address: int) -> torch.Tensor | None:
    """The block of torch's CUDA allocator that holds an address."""
    for device, start, size, _ in blocks():
        if start <= address < start + size:
            memory = torch.as_tensor(_Block(start, size), device=f"cuda:{device}")
            return memory if memory.data_ptr() == start else None
    return None


NO_COMPARE_VARIABLE: Final = "PYTRITON_NO_COMPARE"

Member = TypeVar("Member")

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
class _Group(Generic[Member]):
    """Candidates that agree, and what the first of them wrote."""

    members: list[Member]
    written: tuple[torch.Tensor, ...]
    differs: str = ""  # from the first group, and where


def disagreeing(
    members: Iterable[Member],
    saved: Saved,
    run: Callable[[Member], None],
    votes: Callable[[Member], bool] = lambda member: True,
) -> dict[Member, str]:
    """Launch all candidates; those that write something else than the largest group of those that vote, and where.

    ``run`` restores the memory and launches one of them. Each is launched, also where none can be judged.
    """
    groups: list[_Group[Member]] = []
    can_judge = may_compare()
    for member in members:
        run(member)
        if can_judge:
            try:
                can_judge = _sort_in(member, groups, saved, run)
            except torch.cuda.OutOfMemoryError:
                can_judge = False
    if not can_judge or len(groups) < 2:
        return {}
    counts = [sum(map(votes, group.members)) for group in groups]
    right = groups[counts.index(max(counts))]
    wrong: dict[Member, str] = {}
    for group in groups:
        if group is not right:
            wrong |= dict.fromkeys(group.members, group.differs or right.differs)
    return wrong


def _sort_in(
    member: Member, groups: list[_Group[Member]], saved: Saved, run: Callable[[Member], None]
) -> bool:
    """Find the group of what was launched last, or open one; False where results depend on luck."""
    differs = ""
    for group in groups:
        difference = _difference(saved, group.written)
        if not difference:
            group.members.append(member)
            return True
        differs = differs or difference
    written = _copies(saved)
    if groups:
        first = groups[0]
        for rerun, before in ((member, written), (first.members[0], first.written)):
            run(rerun)
            if _difference(saved, before):
                return False
    groups.append(_Group([member], written, differs))
    return True


def _copies(saved: Saved) -> tuple[torch.Tensor, ...]:
    return tuple(memory.memory.clone() for memory in saved.memories if memory.compared)


def _difference(saved: Saved, written: Sequence[torch.Tensor]) -> str:
    """How memory differs from the earlier copies; empty if it does not."""
    compared = (memory for memory in saved.memories if memory.compared)
    for memory, other in zip(compared, written, strict=True):
        count = _count_of_others(memory, other)
        if count:
            return (
                f"{counted(count, 'element')} of '{memory.name}'"
                if memory.name
                else counted(count, "element")
            )
    return ""


def _count_of_others(memory: SavedMemory, other: torch.Tensor) -> int:
    """How many elements of a memory are not what they are in another run's copy."""
    now = memory.memory
    if torch.equal(now, other):
        return 0
    tolerance = _TOLERANCE.get(memory.dtype) if memory.dtype is not None else None
    width = 1 if memory.dtype is None else memory.dtype.itemsize
    if tolerance is None or memory.dtype is None or now.numel() % width:
        complete = now.numel() // width * width
        return int((now != other)[:complete].view(-1, width).any(1).sum()) or 1
    size = tolerance * _mean_size(other, memory.copy, memory.dtype)
    count = 0
    for start in range(0, now.numel(), _CHUNK):
        a, b = (data[start : start + _CHUNK].view(memory.dtype).double() for data in (now, other))
        count += int((~torch.isclose(a, b, tolerance, size, equal_nan=True)).sum())
    return count


def _mean_size(written: torch.Tensor, before: torch.Tensor, dtype: torch.dtype) -> float:
    """The mean magnitude of the finite elements that a launch changed."""
    total, count = 0.0, 0
    for start in range(0, written.numel(), _CHUNK):
        new, old = (data[start : start + _CHUNK].view(dtype).double() for data in (written, before))
        changed = new[(new != old) & new.isfinite()].abs()
        total += float(changed.sum())
        count += changed.numel()
    return total / count if count else 0.0
