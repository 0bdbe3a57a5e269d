"""The memory that one launch may reach, by parameter, and how its accesses are checked.

A pointer may go anywhere in the *storage* of the tensor that was passed for it, which may be larger than the
tensor (a view). An absent tensor has no memory. The end of the memory at a bare address is unknown: it is
*open*, and so are pointers that were loaded from memory. They may reach every storage of the launch, and on the
CPU all pages that the process has mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from pytriton.lang.tree.types import PointerType
from pytriton.passes.check.sites import Site
from pytriton.pipeline import Parameter
from pytriton.runtime.options.annotations import Check


class Checks:
    """How the launches of one kernel object are checked, for all its plans."""

    def __init__(self, check: Check | None = None) -> None:
        self.check = check
        self.warned: set[object] = set()  # the places in its text of which the user was warned
        self.outputs = True  # whether an output that is mostly not stored is worth a note

    def are_on(self, *, on_cpu: bool) -> bool:
        """Whether launches there are checked."""
        return on_cpu if self.check is None else self.check is not False

    @property
    def strict(self) -> bool:
        """Whether a load outside is an error, too."""
        return self.check == "strict"


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
