"""The launches of a derived backward, as records: what is public of them, and what a launch is found to need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from pytriton.adjoint.derive import Backward
from pytriton.adjoint.kernel import Derived
from pytriton.adjoint.plan import Pass
from pytriton.operators.points import Sizes
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Options

__all__ = ["Facts", "Launch", "Scratch", "Step"]


@dataclass(frozen=True)
class Step:
    """One launch of a backward: the kernel, the names of its parameters in order, and its grid."""

    kernel: Kernel
    parameters: tuple[str, ...]
    sized: Callable[[Any, Mapping[str, Any], Options], Any]

    def grid(self, forward_grid: Any, arguments: Mapping[str, Any], options: Options) -> Any:
        """The programs of this step, for the forward's grid and arguments, at one point of a sweep."""
        return self.sized(forward_grid, arguments, options)


@dataclass(frozen=True)
class Scratch:
    """A buffer that a launch needs beside gradients; ``shape`` is a function of the arguments."""

    name: str
    dtype: torch.dtype
    shape: Callable[[Mapping[str, Any]], tuple[int, ...]]
    zeroed: bool


@dataclass(frozen=True)
class Facts:
    """Of one kind of launch. ``launches``: of its passes; ``dense``: of inputs whose gradient is stored, how many
    elements that are, from the first one on; ``reach``: of tensors, how many elements the kernel may touch, from
    the first one on.
    """

    passes: tuple[Pass, ...]
    made: Backward
    launches: tuple[Launch, ...]
    dense: Mapping[str, int]
    reach: Mapping[str, int]

    @property
    def scratch(self) -> int:
        """The bytes that hold what loops carry, in the launch that has the most."""
        states = (each.states.values() for each in self.launches)
        return max(sum(count * dtype.itemsize for count, dtype in sizes) for sizes in states)


@dataclass(frozen=True)
class Launch:
    """Of one pass. ``names``: of its arguments; ``grid``: by the point of the sweep; ``count``: of the
    forward's programs along the axis that is walked, where it is an argument; ``parts``: at most, of each sum, and
    whether each point has as many; ``states``: elements of scratch for what loops carry, by parameter; ``room``:
    for how many iterations that is.
    """

    of: Derived
    kernel: Kernel
    names: tuple[str, ...]
    grid: Callable[[Options], Sizes]
    count: int | None
    parts: int
    same_parts: bool
    room: Mapping[str, int]
    states: Mapping[str, tuple[int, torch.dtype]]
