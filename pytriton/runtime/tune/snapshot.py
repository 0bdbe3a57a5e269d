"""Memory that a kernel writes, saved and put back: repeated launches must leave no trace.

Tuning and ``bench=`` launch a kernel many times, and the caller is to see one launch. A kernel may write
anywhere in the storage behind a tensor (views overlap, pointers move), so whole storages are saved. Of a bare
address the extent is unknown; torch's allocator knows the block that holds it. What nobody knows cannot be
saved, and then the kernel is launched only once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.runtime.checks.memory import blocks

__all__ = ["Memory", "Saved", "Written", "save"]


@dataclass(frozen=True, slots=True)
class Written:
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
class Memory:
    """A stretch of memory and its copy, both as bytes; what its elements are, and which parameter led
    there."""

    memory: torch.Tensor
    copy: torch.Tensor
    dtype: torch.dtype | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """All memory that a launch may change."""

    memories: tuple[Memory, ...]

    def restore(self) -> None:
        """Put everything back, in order with the other work of the current stream."""
        for memory in self.memories:
            memory.memory.copy_(memory.copy)


def save(written: Iterable[Written], device: int) -> Saved | None:
    """A copy of the memory behind these arguments; None if some of it cannot be found or copied."""
    memories: dict[int, Memory] = {}
    try:
        for target in written:
            memory = _memory_of(target.argument, device)
            if memory is None:
                return None
            if memory.numel() and memory.data_ptr() not in memories:
                name = "" if target.parameter is None else target.parameter.name
                memories[memory.data_ptr()] = Memory(memory, memory.clone(), target.dtype, name)
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
