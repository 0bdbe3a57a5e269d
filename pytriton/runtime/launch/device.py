"""A compiled kernel on a GPU: grids, devices and streams.

``CompiledKernel.run`` is Triton's own launcher. It takes the same arguments in Triton 3.6 to 3.9: three grid
sizes, the stream, the function's handle, packed metadata, launch metadata, two hooks, and then *all*
arguments of the function, constexprs included (they are skipped). Pointers may be bare addresses. What
differs between the versions is in ``_adjusted_values`` and ``direct_of``, and nowhere else.

Below ``run`` is a C function. ``Direct`` describes how to call that without what ``run`` does first: allocating
scratch memory and reading hooks. There is one in known versions of Triton, for kernels whose scratch memory
torch can give (for tensor descriptors, below).
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any, Final, Literal, NoReturn

import torch

from pytriton.compat.torch_names import allocate, release
from pytriton.compat.triton_names import driver, knobs, triton
from pytriton.errors import short
from pytriton.lang.tree.types import ScalarType
from pytriton.passes.analysis.context import Described
from pytriton.pipeline import Parameter, Translation
from pytriton.runtime.errors import refusal
from pytriton.runtime.options.defines import Options

Grid = tuple[int, int, int]

LARGEST_GRID: Final[Grid] = (2**31 - 1, 65535, 65535)  # what CUDA accepts, per axis
# Triton multiplies the axes as 32-bit numbers, and launches nothing if that wraps.
MOST_PROGRAMS: Final = 2**31 - 1

_GRIDS: Final = "give a function of the options, or 1 to 3 integers; round up with pytriton.cdiv(a, b)"
_TRITON_VERSION: Final = tuple(map(int, triton.__version__.split(".")[:2]))


def _asked(grid: Callable[[Options], Any], options: Options, kernel: str) -> Any:
    """The result of a grid function. Its own errors are the user's; one that takes no argument is refused."""
    try:
        return grid(options)
    except TypeError as error:
        traceback = error.__traceback__
        if traceback is None or traceback.tb_next is not None:  # raised inside the function
            raise
        raise refusal(
            f"{kernel}: the grid is a function that does not take the options: {error}",
            "TC511",
            "write lambda opt: (pytriton.cdiv(n, opt.TILE),), with one argument",
        ) from None


def sizes_of(grid: Any, options: Options, kernel: str) -> Grid | None:
    """Three sizes from what a user gave as grid; None where one is zero and nothing is to be launched.

    ``grid`` is a callable of the options, or a tuple, list or integer of 1 to 3 entries.
    """
    sizes = _asked(grid, options, kernel) if callable(grid) else grid
    if sizes is None:
        raise refusal(f"{kernel}: the grid is None: does its function return nothing?", "TC511", _GRIDS)
    if not isinstance(sizes, (tuple, list)):
        sizes = (sizes,)
    try:
        entries = [operator.index(size) for size in sizes]
    except TypeError:
        raise refusal(
            f"{kernel}: the grid is {_shown(sizes)}, but its entries must be integers", "TC511", _GRIDS
        ) from None
    if not 1 <= len(entries) <= 3:
        raise refusal(
            f"{kernel}: the grid is {_shown(sizes)}, which has {len(entries)} entries",
            "TC511",
            "a grid has 1 to 3",
        )
    while len(entries) < 3:
        entries.append(1)
    x, y, z = entries
    if 0 < x <= LARGEST_GRID[0] and 0 < y <= LARGEST_GRID[1] and 0 < z <= LARGEST_GRID[2]:
        return x, y, z
    if min(entries) == 0:
        return None
    for axis, (size, largest) in enumerate(zip(entries, LARGEST_GRID, strict=True)):
        if not 0 <= size <= largest:
            raise refusal(
                f"{kernel}: the grid is {_shown(sizes)}, but axis {axis} takes 0 to {largest}",
                "TC512",
                "put the longest axis first, or give each program more work" if size > 0 else None,
            )
    raise AssertionError("a grid is refused, or empty, or fits")


def refuse_count(kernel: str, grid: Grid) -> NoReturn:
    """Raise LaunchError: a grid has more programs than a launch may have."""
    raise refusal(
        f"{kernel}: the grid is {grid}, which is more than {MOST_PROGRAMS} programs",
        "TC512",
        "give each program more work, or launch parts of the grid",
    )


def _shown(sizes: Sequence[object]) -> str:
    return short(repr(tuple(sizes)))


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
        self.direct = direct_of(compiled, len(self._constexprs))
        if getattr(self._run, "global_scratch_size", 0):
            self._run = _run_of(self.direct, compiled)
        self._stream_of = driver.active.get_current_stream

    def __call__(self, grid: Grid, values: Sequence[Any]) -> None:
        if math.prod(grid) > MOST_PROGRAMS:
            refuse_count(self.compiled.name, grid)
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
        hooked = self.compiled.launch_metadata(grid, stream, *values, *self._constexprs)
        self._run(
            *grid,
            stream,
            self._function,
            self._metadata,
            hooked,
            enter,
            leave,
            *values,
            *self._constexprs,
        )


# The C function below ``run``.

Style = Literal["flat", "packed"]

# flat:   x, y, z, stream, function, cooperative, dependent, two scratches, metadata, what hooks are given,
#         two hooks, and all arguments, constexprs included (they are skipped)
# packed: x, y, z, stream, function, cooperative, dependent, metadata, what hooks are given, two hooks, two
#         scratches, annotations, signature, and one tuple of arguments (of which constexprs, which are last, may
#         be left out)
_SCRATCH: Final[dict[Style, int]] = {"flat": 7, "packed": 11}  # the place of the first
_ALIGNED: Final = 256  # bytes, of whatever CUDA gives
_STYLES: Final[dict[tuple[int, ...], Style]] = {
    (
        3,
        6,
    ): "flat",  # Triton 3.6: takes its arguments one by one; delete with it all of "flat", and ``extra``
    (3, 7): "packed",
    (3, 8): "packed",
    (3, 9): "packed",
}


def sole_device() -> int | None:
    """The index of the only GPU; None where there are several, of which any may be current."""
    return torch.cuda.current_device() if torch.cuda.device_count() == 1 else None


def style_here() -> Style | None:
    """How this version of Triton is called; None for an unknown version."""
    return _STYLES.get(_TRITON_VERSION)


@dataclass(frozen=True, slots=True)
class Direct:
    """The C function of one compiled kernel, and the constant things that it takes.

    ``handles`` are ``function, metadata`` (flat) or ``function, metadata, annotations, signature`` (packed);
    ``extra`` is how many constexprs it wants after the values (none if packed); ``scratch`` how many bytes of
    memory for each program. A launch that does not fit goes ``otherwise``.
    """

    style: Style
    launch: Callable[..., object]
    handles: tuple[Any, ...]
    extra: int
    scratch: int = 0
    fits: Any = None  # of a grid and values, and packed: ``Fits``
    otherwise: Callable[[Grid, Sequence[Any]], object] | None = None

    def bare(self, extra: int) -> Callable[..., object]:
        """The function for a caller that gives ``extra`` constexprs, whatever it wants itself, and the memory."""
        launch, missing = self.launch, self.extra - extra
        if missing > 0:
            return lambda *given: launch(*given, *(None,) * missing)
        return (lambda *given: launch(*given[:missing])) if missing < 0 else launch

    def asked(self, given: Sequence[Any], count: int) -> tuple[Grid, Sequence[Any]]:
        """The grid and the ``count`` values of a launch, from all that the C function is given."""
        x, y, z = given[:3]
        return (x, y, z), given[13 : 13 + count] if self.style == "flat" else given[15]

    @property
    def needs(self) -> tuple[int, bytes, Callable[..., object] | None, tuple[int, ...]] | None:
        """For the launcher: memory, the condition of a launch, and what launches one that fails it."""
        if self.fits is None:
            return (self.scratch, b"", None, ()) if self.scratch else None
        return self.scratch, self.fits.packed, self.otherwise, self.fits.positive


def direct_of(compiled: Any, constexprs: int) -> Direct | None:
    """How to call the C function of a compiled kernel; None where ``run`` has more to do than to call it."""
    run, style = compiled.run, style_here()
    plain = (
        style is not None
        and type(run).__name__ == "CudaLauncher"
        and isinstance(run.launch, BuiltinFunctionType)  # tensor descriptors put a Python function before it
        and getattr(run, "global_scratch_align", 1) <= _ALIGNED
        and not run.profile_scratch_size
        and not run.launch_cooperative_grid
        and not run.launch_pdl
        and not getattr(run, "gsan_enabled", False)
    )
    if not plain or style is None:
        return None
    handles = (compiled.function, compiled.packed_metadata)
    scratch = run.global_scratch_size * run.num_ctas if run.global_scratch_size else 0
    if style == "flat":  # Triton 3.6: as above
        return Direct(style, run.launch, handles, constexprs, scratch)
    return Direct(style, run.launch, (*handles, run.arg_annotations, run.kernel_signature), 0, scratch)


def _with_scratch(launch: Any, style: Style, size: int) -> Callable[..., object]:
    """The C function, given so many bytes a program of torch's memory, on the stream of the launch.

    They are given back once the launch is queued: what is put there next runs behind it.
    """
    place = _SCRATCH[style]

    def launched(*given: Any) -> object:
        memory = allocate(given[0] * given[1] * given[2] * size, given[3])
        try:
            return launch(*given[:place], memory, *given[place + 1 :])
        finally:
            release(memory)

    return launched


def _run_of(direct: Direct | None, compiled: Any) -> Callable[..., None]:
    """``run`` by way of ``direct``; raises LaunchError where there is none."""
    if direct is None:
        message = f"{compiled.name}: it needs scratch memory, which Triton's launcher does not allocate"
        raise refusal(message, "TC531", "use a config without descriptors")
    style, more = direct.style, direct.handles[2:]
    launch = _with_scratch(direct.launch, style, direct.scratch)

    def run(x: int, y: int, z: int, stream: int, function: Any, metadata: Any, *given: Any) -> None:
        hooked, values = given[:3], given[3:]
        if style == "flat":  # Triton 3.6: as above
            launch(x, y, z, stream, function, False, False, None, None, metadata, *hooked, *values)
        else:
            launch(x, y, z, stream, function, False, False, metadata, *hooked, None, None, *more, values)

    return run


def signed_bytes(parameters: Sequence[Parameter]) -> list[int]:
    """The positions of 8-bit integers with a sign if this Triton must be given them without."""
    # Triton 3.6: an 8-bit argument is parsed by ``PyArg_ParseTuple``'s ``b``, which takes 0 to 255 only.
    if _TRITON_VERSION >= (3, 7):
        return []
    return [
        position
        for position, parameter in enumerate(parameters)
        if isinstance(parameter.type, ScalarType) and (parameter.type.kind, parameter.type.bits) == ("int", 8)
    ]


def _adjusted_values(
    parameters: Sequence[Parameter],
) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """What must be done to launch values for this version of Triton; None for nothing."""
    positions = signed_bytes(parameters)
    if not positions:
        return None

    def adjust(values: Sequence[Any]) -> Sequence[Any]:
        adjusted = list(values)
        for position in positions:
            adjusted[position] &= 0xFF
        return adjusted

    return adjust


# Kernels that read tiles through tensor descriptors: on which GPUs, for which launches, with whose memory.
#
# passes/speed/descriptors.py has proved what the source can prove. ``fits_of`` checks the rest at each launch, with
# Python's integers: the base and the distance of rows are positive multiples of 16 bytes, and no offset leaves 32
# bits. (Then the text's own offsets wrap nowhere, so pointers and tiles reach the same elements, and no tile the
# end of its descriptor.) A launch of which that does not hold goes to the same config without descriptors.
#
# Each program builds its descriptors in memory that comes with the launch. Triton takes it from an allocator that a
# user has to set, in every thread. Here each launch takes it from torch, on the stream where it runs, and gives
# it back once it is queued: what is put there next runs behind it. A CUDA graph has memory of its
# own.


_HOPPER: Final = 90
MAX_INT: Final = 2**31 - 1
_BYTES: Final = 16  # what addresses and the distances of rows must be multiples of
_SMALLEST: Final = 2.0**-126  # of a scale: no subnormal float
_LARGEST: Final = 2.0**127  # and times log2(e) no infinity
MAX_PROGRAMS: Final = 1 << 16  # of one launch: each takes some hundred bytes of memory


def describes() -> bool:
    """Whether descriptors may pay on the current GPU: it has hardware that copies tiles."""
    target = driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= _HOPPER and style_here() is not None


@dataclass(frozen=True, slots=True)
class Fits:
    """Whether a launch with this grid and these values reads what the source does."""

    tiles: tuple[Described, ...]
    positive: tuple[int, ...] = ()  # the positions of values that have to be

    def __call__(self, grid: Grid, values: Sequence[Any]) -> bool:
        x, y, z = grid
        return (
            (not self.tiles or x * y * z <= MAX_PROGRAMS)
            and all(_suits(tile, grid, values) for tile in self.tiles)
            and all(_SMALLEST <= values[at] <= _LARGEST for at in self.positive)
        )

    @property
    def packed(self) -> bytes:
        """The same for the launcher in C: of each tile all numbers in order, but not ``feeds``."""
        numbers = [
            number
            for tile in self.tiles
            for entry in tile[:-1]
            for number in (entry if isinstance(entry, tuple) else (entry,))
        ]
        return struct.pack(f"{len(numbers)}q", *numbers)


def fits_of(translation: Translation) -> Fits | None:
    """What must hold of a launch; None if all suit."""
    traits = translation.traits
    return Fits(traits.described, traits.positive) if traits.described or traits.positive else None


def _suits(tile: Described, grid: Grid, values: Sequence[Any]) -> bool:
    """Whether the descriptor reaches what the source does."""
    (a, b, c), (d, e, f), (x, y, z) = tile.row_ids, tile.column_ids, grid
    address, distance = values[tile.base], values[tile.stride]
    row, column = a * x + b * y + c * z + tile.last_row, d * x + e * y + f * z + tile.last_column
    return (
        address > 0
        and not address % _BYTES
        and 0 < distance <= MAX_INT
        and not distance % tile.multiple
        and row * distance + column <= MAX_INT
        and (tile.number if tile.stop < 0 else values[tile.stop]) + tile.size <= MAX_INT
        and tile.down * distance <= MAX_INT
    )
