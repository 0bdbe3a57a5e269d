"""What was found of one site of a launch: the accesses that were outside, counted, and the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from pytriton.errors import counted
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.memory import Extent, Memory

__all__ = ["Outside", "Violation"]


@dataclass(slots=True)
class Violation:
    """``count`` elements in ``programs`` programs (None for several that nobody counted) were outside.

    Of the first are known its ``program``, its ``element`` (the index in the block, () of a scalar) and its
    ``address``; ``lowest`` and ``highest`` are of all. ``all_outside``: no element of the first block was inside.
    """

    site: Site
    count: int
    programs: int | None
    program: tuple[int, int, int]
    element: tuple[int, ...]
    address: int
    lowest: int
    highest: int
    all_outside: bool = False
    last: tuple[int, int, int] | None = None  # the program in which one was noted last


@dataclass(frozen=True)
class Outside:
    """A violation beside the launch in which it was found. Indices and distances are in elements of the site."""

    violation: Violation
    memory: Memory
    grid: tuple[int, int, int]

    @property
    def site(self) -> Site:
        return self.violation.site

    @cached_property
    def extent(self) -> Extent | None:
        """What the pointer came from; of several, the one that is nearest; None for a pointer from memory."""
        if not self.site.roots:
            return None
        extents = [self.memory.extents[name] for name in self.site.roots]
        known = [extent for extent in extents if extent.tensor is not None]
        return min(known or extents, key=self._gap)

    def _gap(self, extent: Extent) -> int:
        address = self.violation.address
        return max(extent.low - address, address - extent.end, 0)

    @property
    def tensor(self) -> torch.Tensor | None:
        return None if self.extent is None else self.extent.tensor

    @property
    def absent(self) -> str:
        """What stands for an absent tensor."""
        assert self.extent is not None
        at = [parameter.name for parameter in self.memory.parameters].index(self.extent.parameter.name)
        given = self.memory.arguments[at]
        return "an empty tensor" if isinstance(given, torch.Tensor) else repr(given)

    def index_of(self, address: int) -> int:
        """The element at an address, counted from the first of the tensor."""
        assert self.extent is not None
        return (address - self.extent.start) // self.site.width

    @property
    def index(self) -> int:
        """Of the first access outside."""
        return self.index_of(self.violation.address)

    @property
    def highest(self) -> int:
        """The highest of all."""
        return self.index_of(self.violation.highest)

    @property
    def reachable(self) -> tuple[int, int]:
        """The first and the last element of the storage."""
        assert self.extent is not None
        width, extent = self.site.width, self.extent
        return -((extent.start - extent.low) // width), (extent.end - extent.start) // width - 1

    @property
    def distance(self) -> str:
        """How far outside the first access was."""
        first, last = self.reachable
        count, side = (
            (first - self.index, "before the start")
            if self.index < first
            else (self.index - last, "past the end")
        )
        return f"{counted(count, 'element')} {side}"
