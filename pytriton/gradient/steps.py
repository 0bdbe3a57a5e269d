"""The launches of a derived backward, as records: what is public of them, and what a launch is found to need."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from pytriton.gradient.derive.derive import Backward
from pytriton.gradient.derive.kernel import Derived
from pytriton.gradient.derive.plan import Pass
from pytriton.gradient.points import Point, Sizes, device_of, needs, sharing
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Options

DTYPES: Final = {
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "float": torch.float32,
    "double": torch.float64,
}


@dataclass(frozen=True)
class Step:
    """One launch of a backward: the kernel, the names of its parameters in order, and its grid."""

    kernel: Kernel
    parameters: tuple[str, ...]
    sized: Callable[[Any, Mapping[str, Any], Options | None], Any]

    def grid(self, forward_grid: Any, arguments: Mapping[str, Any], options: Options | None = None) -> Any:
        """The programs of this step, for the forward's grid and arguments, at a point of a sweep (the first)."""
        return self.sized(forward_grid, arguments, options)


@dataclass(frozen=True)
class Scratch:
    """Memory that a launch needs beside gradients, or a number. ``shape`` and ``value`` are functions of the
    forward's arguments by name, its grid, and the point of a sweep (the first one). The grid may be among the
    arguments, as ``grid_0`` to ``grid_2``. A number has the shape () and a ``value``.
    """

    name: str
    dtype: torch.dtype
    shape: Callable[..., tuple[int, ...]]
    zeroed: bool
    value: Callable[..., int] | None = None


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
        sizes = (
            sum(math.prod(each.shapes[state.parameter]) * state.element.bits // 8 for state in each.of.states)
            for each in self.launches
        )
        return max(sizes, default=0)


@dataclass(frozen=True)
class Launch:
    """Of one pass. ``names``: of its arguments; ``grid``: by the point of the sweep; ``numbers`` and ``shapes`` of
    its scratch, by parameter; ``same_parts``: whether each point of the sweep fills as much of it.
    """

    of: Derived
    kernel: Kernel
    names: tuple[str, ...]
    grid: Callable[[Options], Sizes]
    numbers: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    same_parts: bool


def described(
    made: Backward,
    types: Mapping[str, torch.dtype],
    point: Callable[[Mapping[str, Any], Any, Options | None], Point | None],
) -> tuple[Scratch, ...]:
    """What the launches of a text need, each name once; ``types``: of inputs; ``point``: gives a launch."""
    found: dict[str, Scratch] = {}

    def add(each: Derived, name: str, dtype: torch.dtype | None = None, zeroed: bool = False) -> None:
        def needed(given: Mapping[str, Any], grid: Any = None, options: Options | None = None) -> Any:
            launch = point(given, grid, options)
            sizes = {name: given[name].numel() for name in types}
            shapes = {parameter: given[name].shape for name, parameter in each.d_inputs.items()}
            for more in needs([launch], [each], sizes, sharing(device_of(given))) if launch else ():
                shapes |= more
            return shapes.get(name, 0 if dtype is None else (0,))

        if dtype is None:
            found[name] = Scratch(name, torch.int32, lambda *_: (), False, needed)
        else:
            found[name] = Scratch(name, dtype, needed, zeroed)

    for each in made.passes:
        for name, parameter in each.d_inputs.items():
            if name in each.sizes or name in made.wide:
                add(each, parameter, torch.promote_types(types[name], torch.float32), True)
        for state in each.states:
            add(each, state.parameter, DTYPES[str(state.element)])
            add(each, state.room)
        for name, size in each.sizes.items():
            add(each, size)
            add(each, f"count_{name}")
        if each.count is not None:
            add(each, each.count)
    return tuple(found.values())
