"""The launches of a derived backward: the memory and numbers that they need, and public records of them.

A ``Point`` is one config of a sweep in one launch of the forward. ``Facts`` are its consequences for the passes
of the backward; ``BackwardStep`` and ``Scratch`` are public, for programs that make the launches themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, starmap
from typing import Any, Final, TypeVar

import torch

from pytriton.compat.torch_names import wait_on_gpu
from pytriton.errors import PytritonError
from pytriton.gradient.derive.access import Touched
from pytriton.gradient.derive.assemble import Derived, State
from pytriton.gradient.derive.backward_passes import Point, Sizes
from pytriton.gradient.derive.derive import Backward
from pytriton.gradient.derive.graph import Write
from pytriton.gradient.enumerated import stored_once
from pytriton.lang.tree.typed import Load
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Options
from pytriton.tuning.benchmark import milliseconds_on_gpu

DTYPES: Final = {
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "float": torch.float32,
    "double": torch.float64,
}
TIMED_RUNS: Final = 5
AHEAD: Final = 20_000_000  # cycles, about 10 ms: a timed run is queued before it starts
PROGRAMS_PER_PROCESSOR: Final = 16  # that share a walk over the forward's
T = TypeVar("T")


def needs(
    points: Sequence[Point], kernels: Sequence[Derived], sizes: Mapping[str, int], sharing: int
) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """The numbers that a kernel takes and the shapes of its scratch, by parameter, enough for every config.

    ``kernels``: one for each config; ``sizes``: elements of inputs. Raises LaunchError where a loop has no known
    end.
    """
    first, numbers = kernels[0], dict[str, int]()
    shapes: dict[str, tuple[int, ...]] = {}
    for states in zip(*(derived.states for derived in kernels), strict=True):
        kept, state, rows = [*zip(points, states, strict=True)], states[0], 1
        if state.capacity is not None:
            rows = max(starmap(_iterations, kept))
            numbers[state.capacity] = rows = math.isqrt(max(rows - 1, 0)) + 1 if state.segments else rows
        parts = 2 if state.segments else 1
        of_configs = ((math.prod(point.grid), rows * parts, own.count) for point, own in kept)
        shapes[state.parameter] = max(of_configs, key=math.prod)
    if first.count is not None and first.at.axis is not None:
        numbers[first.count] = points[0].grid[first.at.axis]
    for name, size in first.sizes.items():
        numbers[size] = sizes[name]
        numbers[f"count_{name}"] = count = max(point.parts(first.at, sharing) for point in points)
        shapes[first.d_inputs[name]] = count, sizes[name]
    return numbers, shapes


def _iterations(point: Point, state: State) -> int:
    """How often the loop of a state runs at most."""
    count = point.iterations(state.loop)
    if count is None:
        raise refusal(
            "the number of iterations has no known bound in this launch, so scratch has no size",
            "TC708",
            "end it by comparing its counter with a number",
        )
    return count


def quickest(runs: Mapping[T, Callable[[], object]]) -> T | None:
    """The one of several ways to the same result that takes the GPU the least time; None where each fails."""
    times: dict[T, float] = {}
    for way, run in runs.items():
        with suppress(PytritonError):
            run()  # its kernels are tuned
            times[way] = min(milliseconds_on_gpu(run, partial(wait_on_gpu, AHEAD), TIMED_RUNS))
    return min(times, key=times.__getitem__, default=None)


def reach_of(points: Sequence[Point]) -> dict[str, int]:
    """How many elements of each tensor a launch may touch, from its first one on, where that is known."""
    reaches: dict[str, list[int | None]] = {}
    for point in points:
        flow, accesses = point.forward.flow, point.accesses
        every = chain[tuple[Load | Write, Touched]](accesses.loads.items(), accesses.writes.items())
        for access, touched in every:
            for symbol in flow.roots(access.pointer):
                name = "" if symbol is None else symbol.name
                reaches.setdefault(name, []).append(accesses.reach(touched))
    return {name: max(filter(None, sizes), default=0) for name, sizes in reaches.items() if None not in sizes}


def check_stores(point: Point, values: Mapping[str, int], device: torch.device) -> None:
    """Raise LaunchError where an element of an output may be stored twice."""
    accesses = point.accesses
    for symbol in point.forward.outputs:
        writes = [write for write in point.forward.flow.writes_of(symbol) if not write.atomic]
        once = all(accesses.once(accesses.writes[write]) for write in writes) and accesses.disjoint(writes)
        if not once and not stored_once(point.forward, writes, values, point.grid, device):
            stores = "\n".join(write.statement.span.text.strip() for write in writes)
            raise refusal(
                f"no proof that each element of '{symbol.name}' is stored at most once in this "
                f"launch (grid {point.grid})\n{stores}",
                "TC750",
                "check strides, sizes and masks, and the grid; outputs that are added to by atomic_add "
                "need no proof",
            )


def dense_of(passes: Sequence[Derived], points: Sequence[Point]) -> dict[str, int]:
    """How many elements of a gradient are stored, where these are proven to be all, from the first one on: the
    kernel stores the gradient of a load, and the launch reads just these elements by it.
    """
    stored: dict[str, set[int | None]] = {}
    for derived in passes:
        at = derived.at
        without = () if at.axis is None else (at.axis, *at.others)
        ways = dict(at.ways)
        for number in derived.stores:
            for point in points:
                load = point.forward.loads[number]
                touched = point.accesses.loads[load]
                count = point.accesses.dense(touched, without if ways[number] == "sum" else ())
                stored.setdefault(point.forward.input_of(load).name, set()).add(count)
    counts = {name: next(iter(sizes)) for name, sizes in stored.items() if len(sizes) == 1}
    return {name: count for name, count in counts.items() if count is not None}


def device_of(arguments: Mapping[str, Any]) -> torch.device:
    """The device of the tensors of a launch."""
    return next(value.device for value in arguments.values() if isinstance(value, torch.Tensor))


@cache
def sharing(device: torch.device) -> int:
    """How many programs share a walk over the forward's."""
    if device.type != "cuda":
        return 2
    processors: int = torch.cuda.get_device_properties(device).multi_processor_count
    return processors * PROGRAMS_PER_PROCESSOR


# ---------------------------------------------------------------- records


@dataclass(frozen=True)
class BackwardStep:
    """One launch of a backward: the kernel, the names of its parameters in order, and its grid."""

    kernel: Kernel
    parameters: tuple[str, ...]
    sized: Callable[[Any, Mapping[str, Any], Options | None], Any]

    def grid(self, forward_grid: Any, arguments: Mapping[str, Any], options: Options | None = None) -> Any:
        """The programs of this step, for the forward's grid and arguments, for a config of a sweep (the first)."""
        return self.sized(forward_grid, arguments, options)


@dataclass(frozen=True)
class Scratch:
    """Memory that a launch needs in addition to gradients, or a number. ``shape`` and ``value`` are functions of
    the forward's arguments by name, its grid, and the config of a sweep (the first one). The grid may be among
    the arguments, as ``grid_0`` to ``grid_2``. A number has the shape () and a ``value``.
    """

    name: str
    dtype: torch.dtype
    shape: Callable[..., tuple[int, ...]]
    zeroed: bool
    value: Callable[..., int] | None = None


@dataclass(frozen=True)
class Facts:
    """Proven facts of one kind of launch. ``launches``: of its passes; ``dense``: of inputs whose gradient is
    stored, how many elements that are, from the first one on; ``reach``: of tensors, how many elements the
    kernel may touch, from the first one on.
    """

    backward: Backward
    launches: tuple[PassLaunch, ...]
    dense: Mapping[str, int]
    reach: Mapping[str, int]

    @property
    def leaves_rows(self) -> bool:
        """Whether one pass leaves numbers of rows for another."""
        return any(state.capacity is None for launch in self.launches for state in launch.of.states)

    @property
    def scratch(self) -> int:
        """The bytes of saved loop values, in the launch that needs most."""
        sizes = (
            sum(
                math.prod(launch.shapes[state.parameter]) * state.element.bits // 8
                for state in launch.of.states
            )
            for launch in self.launches
        )
        return max(sizes, default=0)


@dataclass(frozen=True)
class PassLaunch:
    """The launch of one pass. ``names``: of its arguments; ``grid``: by config; ``numbers`` and ``shapes`` of
    its scratch, by parameter; ``same_parts``: whether all configs fill as much of it.
    """

    of: Derived
    kernel: Kernel
    names: tuple[str, ...]
    grid: Callable[[Options], Sizes]
    numbers: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    same_parts: bool


def described(
    backward: Backward,
    types: Mapping[str, torch.dtype],
    point: Callable[[Mapping[str, Any], Any, Options | None], Point | None],
) -> tuple[Scratch, ...]:
    """The scratch of the launches of a backward, each name once; ``types``: of inputs; ``point``: describes a
    launch.
    """
    records: dict[str, Scratch] = {}

    def add(derived: Derived, name: str, dtype: torch.dtype | None = None, zeroed: bool = False) -> None:
        def needed(arguments: Mapping[str, Any], grid: Any = None, options: Options | None = None) -> Any:
            launch = point(arguments, grid, options)
            sizes = {name: arguments[name].numel() for name in types}
            shapes = {parameter: arguments[name].shape for name, parameter in derived.d_inputs.items()}
            for more in needs([launch], [derived], sizes, sharing(device_of(arguments))) if launch else ():
                shapes |= more
            return shapes.get(name, 0 if dtype is None else (0,))

        if dtype is None:
            records[name] = Scratch(name, torch.int32, lambda *_: (), False, needed)
        else:
            records[name] = Scratch(name, dtype, needed, zeroed)

    for derived in backward.passes:
        for name, parameter in derived.d_inputs.items():
            if name in derived.sizes or name in backward.wide:
                add(derived, parameter, torch.promote_types(types[name], torch.float32), True)
        for state in derived.states:
            add(derived, state.parameter, DTYPES[str(state.element)])
            if state.capacity is not None:
                add(derived, state.capacity)
        for name, size in derived.sizes.items():
            add(derived, size)
            add(derived, f"count_{name}")
        if derived.count is not None:
            add(derived, derived.count)
    return tuple(records.values())
