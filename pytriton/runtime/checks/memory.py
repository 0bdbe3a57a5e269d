"""The memory that one launch may reach, by parameter.

A pointer may go anywhere in the *storage* of the tensor that was passed for it, which may be larger than the
tensor (a view). An absent tensor is no memory at all. For an address nobody knows where its memory ends: it is
*open*, and so are pointers that were loaded from memory. They may reach every storage of the launch, and on the
CPU all pages that the process has mapped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy
import torch

from pytriton.lang.tree.types import PointerType
from pytriton.passes.check.sites import Site
from pytriton.pipeline import Parameter
from pytriton.runtime.checks.mode import Checks

__all__ = ["Extent", "Memory", "Pages", "Range", "blocks", "known_blocks", "merged"]

Range = tuple[int, int]  # the first address and the one after the last


@dataclass(frozen=True, slots=True)
class Extent:
    """What one pointer parameter was given.

    ``start`` is the address passed, ``low`` to ``end`` the storage around it. ``tensor`` is None for an address and
    for an absent tensor, whose ``start`` is 0.
    """

    parameter: Parameter
    start: int
    low: int = 0
    end: int = 0
    tensor: torch.Tensor | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is a bare address, whose memory may have any size."""
        return self.tensor is None and self.start != 0


@dataclass(frozen=True)
class Memory:
    """The pointers and numbers of one launch, and how it is checked."""

    checks: Checks
    kernel: str
    parameters: Sequence[Parameter]
    values: Sequence[Any]
    arguments: Sequence[Any]  # as given, with the tensors of constant buffers after them
    kept: Sequence[Any] = ()  # what must live as long

    def outlived(self, *kept: Any) -> Memory:
        """The same without the user's tensors, which may be gone when it is asked; ``kept`` lives as long as it."""
        shapes = [
            torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
            if isinstance(x, torch.Tensor)
            else x
            for x in self.arguments
        ]
        other = replace(self, arguments=shapes, kept=kept)
        pairs = {parameter.name: shape for parameter, shape in zip(self.parameters, shapes, strict=True)}
        other.__dict__["extents"] = {
            name: replace(extent, tensor=None if extent.tensor is None else pairs[name])
            for name, extent in self.extents.items()
        }
        return other

    @cached_property
    def extents(self) -> Mapping[str, Extent]:
        """By the user's names of the parameters."""
        rows = zip(self.parameters, self.values, self.arguments, strict=True)
        return {
            parameter.name: _extent(parameter, value, argument)
            for parameter, value, argument in rows
            if isinstance(parameter.type, PointerType)
        }

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The integers of the launch, by the user's names of the parameters."""
        return {
            parameter.name: value
            for parameter, value in zip(self.parameters, self.values, strict=True)
            if type(value) is int and not isinstance(parameter.type, PointerType)
        }

    def ranges(self, site: Site) -> list[Range]:
        """Where an access may be as far as the launch knows, in the order of its parameters."""
        extents = (
            self.extents.values() if self.is_open(site) else [self.extents[name] for name in site.roots or ()]
        )
        return [(extent.low, extent.end) for extent in extents if extent.end > extent.low]

    def is_open(self, site: Site) -> bool:
        """Whether an access may go to memory that the launch does not know."""
        return site.roots is None or any(self.extents[name].is_open for name in site.roots)


def _extent(parameter: Parameter, value: int, argument: Any) -> Extent:
    if not isinstance(argument, torch.Tensor) or not value:
        return Extent(parameter, value)
    storage = _storage(argument)
    if storage is None or not storage[0] <= value < storage[1]:
        return Extent(parameter, value)
    return Extent(parameter, value, *storage, argument)


def _storage(tensor: torch.Tensor) -> Range | None:
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    except (NotImplementedError, RuntimeError):  # a subclass that has no storage of its own
        return None


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in rising order, those that touch made one."""
    result: list[Range] = []
    for low, end in sorted(ranges):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((low, end))
    return result


class Pages:
    """The mapped pages of this process, as they were when it was made."""

    def __init__(self, *, writable: bool) -> None:
        ranges = merged(_mapped("w" if writable else "r"))
        self._lows = [low for low, _ in ranges]
        self._ends = [end for _, end in ranges]

    def around(self, address: int) -> Range | None:
        """The mapped range in which an address lies."""
        at = bisect_right(self._lows, address) - 1
        return (self._lows[at], self._ends[at]) if at >= 0 and address < self._ends[at] else None

    def hold(self, addresses: Any, width: int) -> Any:
        """Which elements of so many bytes lie in mapped pages, as truth values."""
        if not self._lows:
            return numpy.zeros(addresses.shape, bool)
        at = numpy.searchsorted(numpy.array(self._lows, numpy.uint64), addresses, "right")
        lasts = numpy.array([0, *(end - width for end in self._ends)], numpy.uint64)
        return (at > 0) & (addresses <= lasts[at])


def _mapped(permission: str) -> Iterator[Range]:
    """In rising order; nothing where the system does not say."""
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as lines:
            for line in lines:
                span, permissions, *_ = line.split(maxsplit=2)
                if permission in permissions:
                    low, end = span.split("-")
                    yield int(low, 16), int(end, 16)
    except OSError:
        return


def blocks() -> Iterator[tuple[int, int, int, str]]:
    """Device, address, bytes and state of each block of GPU memory that torch's allocator has."""
    for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
        address = segment["address"]
        for block in segment["blocks"]:
            yield segment["device"], address, block["size"], block["state"]
            address += block["size"]


def known_blocks(device: int) -> list[Range]:
    """Those that it gave out on a device, in rising order, those that touch made one; others say nothing."""
    rows = (
        (at, at + size) for on, at, size, state in blocks() if on == device and state == "active_allocated"
    )
    return merged(rows)
