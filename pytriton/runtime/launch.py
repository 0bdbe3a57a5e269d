"""A compiled kernel on a GPU: grids, devices and streams.

``CompiledKernel.run`` is Triton's own launcher. It takes the same arguments in Triton 3.6 to 3.9: three grid
sizes, the stream, the function's handle, packed metadata, launch metadata, two hooks, and then *all*
arguments of the function, constexprs included (they are skipped). Pointers may be bare addresses. What
differs between the versions stands in ``_adjusted_values``, and nowhere else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
import triton
from triton import knobs
from triton.runtime.driver import driver

from pytriton.lang.types import ScalarType
from pytriton.pipeline import Parameter
from pytriton.runtime.options import Options
from pytriton.runtime.refusals import refusal

__all__ = ["LARGEST_GRID", "DeviceKernel", "Grid", "present_target", "sizes_of"]

Grid = tuple[int, int, int]

LARGEST_GRID: Final[Grid] = (2**31 - 1, 65535, 65535)  # what CUDA accepts, per axis

_TRITON_VERSION: Final = tuple(int(part) for part in triton.__version__.split(".")[:2])


def sizes_of(grid: Any, options: Options, kernel: str) -> Grid | None:
    """Three sizes from what a user gave as grid; None where one is zero and nothing is to be launched.

    ``grid`` is a callable of the options, or a tuple, list or integer of 1 to 3 entries.
    """
    sizes = grid(options) if callable(grid) else grid
    if not isinstance(sizes, (tuple, list)):
        sizes = (sizes,)
    try:
        found = [operator.index(size) for size in sizes]
    except TypeError:
        raise refusal(
            f"{kernel}: the grid is {_shown(sizes)}, but its entries must be integers",
            "TC511",
            "give a function of the options, or 1 to 3 integers; round up with pytriton.cdiv(a, b)",
        ) from None
    if not 1 <= len(found) <= 3:
        raise refusal(
            f"{kernel}: the grid is {_shown(sizes)}, which has {len(found)} entries",
            "TC511",
            "a grid has 1 to 3",
        )
    while len(found) < 3:
        found.append(1)
    x, y, z = found
    if 0 < x <= LARGEST_GRID[0] and 0 < y <= LARGEST_GRID[1] and 0 < z <= LARGEST_GRID[2]:
        return x, y, z
    for axis, (size, largest) in enumerate(zip(found, LARGEST_GRID, strict=True)):
        if not 0 <= size <= largest:
            raise refusal(
                f"{kernel}: the grid is {_shown(sizes)}, but axis {axis} takes 0 to {largest}",
                "TC512",
                "put the longest axis first, or give each program more work" if size > 0 else None,
            )
    return None


def _shown(sizes: Sequence[object]) -> str:
    text = repr(tuple(sizes))
    return text if len(text) <= 60 else f"{text[:57]}..."


def present_target() -> Any:
    """Triton's target for the current GPU; raises LaunchError where there is none."""
    if not torch.cuda.is_available():
        raise refusal("there is no GPU here to compile for", "TC518", "name a target, for example 'cuda:90'")
    return driver.active.get_current_target()


class DeviceKernel:
    """A compiled kernel on one device; a call launches it on that device's current stream."""

    def __init__(
        self, compiled: Any, device: int, parameters: Sequence[Parameter], constexprs: Sequence[Any]
    ) -> None:
        """Loads the machine code; raises Triton's OutOfResources if it does not fit the device."""
        self.compiled = compiled
        self._device = device
        self._constexprs = tuple(constexprs)
        self._adjust = _adjusted_values(parameters)
        with torch.cuda.device(device):
            self._run = compiled.run
        self._function = compiled.function
        self._metadata = compiled.packed_metadata
        self._stream_of = driver.active.get_current_stream

    def __call__(self, grid: Grid, values: Sequence[Any]) -> None:
        if torch.cuda.current_device() != self._device:
            with torch.cuda.device(self._device):
                self._launch(grid, values)
        else:
            self._launch(grid, values)

    def _launch(self, grid: Grid, values: Sequence[Any]) -> None:
        if self._adjust is not None:
            values = self._adjust(values)
        stream = self._stream_of(self._device)
        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        told = self.compiled.launch_metadata(grid, stream, *values, *self._constexprs)
        self._run(
            *grid,
            stream,
            self._function,
            self._metadata,
            told,
            enter,
            leave,
            *values,
            *self._constexprs,
        )


def _adjusted_values(
    parameters: Sequence[Parameter],
) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """What must be done to launch values for this version of Triton; None for nothing.

    Triton 3.6 parses an 8-bit argument with ``PyArg_ParseTuple``'s ``b``, which takes 0 to 255 only.
    """
    signed_bytes = [
        position
        for position, parameter in enumerate(parameters)
        if isinstance(parameter.type, ScalarType) and (parameter.type.kind, parameter.type.bits) == ("int", 8)
    ]
    if _TRITON_VERSION >= (3, 7) or not signed_bytes:
        return None

    def adjust(values: Sequence[Any]) -> Sequence[Any]:
        adjusted = list(values)
        for position in signed_bytes:
            adjusted[position] &= 0xFF
        return adjusted

    return adjust
