"""The passes of a backward -> its source: kernels in launch order.

The passes are planned, each becomes a kernel (assemble.py), and kernels that add up parts of sums follow them.

A launch knows its integers, a source does not. So the printed backward assumes that an input is read once if it is
for some ordinary sizes; ``pytriton.gradient`` checks each launch.

A backward is derived for its defines: arms of ``#if`` that they do not choose are not in it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from pytriton.errors import CompileError, Report
from pytriton.frozen import record, replace
from pytriton.gradient.derive.access import Accesses
from pytriton.gradient.derive.assemble import Derived, derived_kernel
from pytriton.gradient.derive.backward_passes import BackwardPass, Point, Unwalkable, added, cost, planned
from pytriton.gradient.derive.forward import Forward, forward_of, refuse_stores
from pytriton.gradient.derive.graph import every, nodes_of, refuse
from pytriton.lang.tokens import decode
from pytriton.lang.tree.typed import Bitcast, Symbol
from pytriton.lang.tree.types import BFLOAT16, DOUBLE, HALF, ScalarType
from pytriton.settings import Settings
from pytriton.source import Source

SUFFIX: Final = "_backward"
TYPICAL_SIZES: Final = ((64, 4096), (4096, 64), (1, 4096), (4096, 4096))  # of integers, in turn
TYPICAL_GRID: Final = 3  # programs along each axis that the source uses


@record
class Backward:
    """The kernels in launch order. ``sums``: of inputs whose gradient comes in parts, the kernel that adds them up,
    with its source. ``wide``: inputs whose gradient is added up in float, and converted afterwards; ``atomic``: by
    atomics; ``zero``: inputs that no kernel has a gradient of.
    """

    passes: tuple[Derived, ...]
    sums: Mapping[str, tuple[str, str]]
    wide: frozenset[str]
    atomic: frozenset[str]
    zero: tuple[str, ...]

    @property
    def text(self) -> str:
        """All kernels."""
        texts = [derived.text for derived in self.passes]
        if self.zero:
            texts.insert(0, f"// zero: the gradient of {', '.join(self.zero)}\n")
        return "\n".join([*texts, *dict(self.sums.values()).values()])


def backward(launches: Iterable[Sequence[Point]], whole: Collection[str]) -> list[Backward]:
    """The backward of each config of a launch, by the best of the plans for several launches of these configs.
    ``whole``: inputs that are dense.
    """
    launches = list(launches)
    forwards = [point.forward for point in launches[0]]
    while True:
        never = {number for forward in forwards for number in forward.never}
        passes = min((planned(points, whole, never) for points in launches), key=cost)
        try:
            return [forward.cached(passes, _backward_of, passes) for forward in forwards]
        except Unwalkable as reason:
            forwards[0].never.update(reason.loads)


def usual(forward: Forward) -> Backward:
    """The backward in the best of some ordinary launches: all are planned, and the best plan is derived."""
    result: Backward = forward.cached("usual", _usual)
    return result


def _usual(forward: Forward) -> Backward:
    launches = [_ordinary(forward, sizes) for sizes in TYPICAL_SIZES]
    for symbol, point in itertools.product(forward.outputs, launches):
        writes = forward.flow.writes_of(symbol)
        pairs = itertools.combinations([w for w in writes if not w.atomic], 2)
        if any(point.accesses.collide(*pair) for pair in pairs):
            refuse_stores(symbol, writes)
    (best,) = backward([[point] for point in launches], {symbol.name for symbol in forward.inputs})
    return best


def _ordinary(forward: Forward, sizes: Sequence[int]) -> Point:
    """An ordinary launch."""
    x, y, z = (TYPICAL_GRID if axis in forward.flow.programs() else 1 for axis in range(3))
    whole = {
        symbol.name: sizes[at % 2]
        for at, symbol in enumerate(forward.kernel.parameters)
        if isinstance(symbol.type, ScalarType) and symbol.type.is_integer
    }
    return Point(forward, Accesses(forward.items, whole, (x, y, z)), (x, y, z))


def derivable(
    source: Source,
    defines: Mapping[str, object],
    settings: Settings,
    inputs: Collection[str] | None = None,
    outputs: Collection[str] | None = None,
    reads_outputs: bool = True,
    checkpoints: bool = False,
    leaves_rows: bool = True,
) -> Forward:
    """A kernel with a backward. Inputs that were not named and have no gradient, are in ``refused``;
    raises a CompileError if none is left. ``reads_outputs``: the backward may read the outputs of the forward;
    ``checkpoints``: it saves carried values for segments of iterations, not for each; ``leaves_rows``: all its
    kernels are launched with the same defines (walk/rows.py).
    """

    def read(inputs: Collection[str] | None) -> Forward:
        forward = forward_of(source, defines, settings, inputs, outputs)
        return replace(forward, reads_outputs=reads_outputs, checkpoints=checkpoints, leaves_rows=leaves_rows)

    forward = read(inputs)
    try:
        usual(forward)
        return forward
    except CompileError:
        if inputs is not None or len(forward.inputs) < 2:
            raise
    refused = dict(forward.refused)
    for symbol in forward.inputs:
        try:
            usual(read((symbol.name,)))
        except CompileError as error:
            refused[symbol.name] = error
    kept = [symbol.name for symbol in forward.inputs if symbol.name not in refused]
    if not kept:
        raise refused[forward.inputs[0].name]
    return replace(read(kept), refused=refused)


def derived_text(
    data: bytes,
    defines: Mapping[str, object],
    *,
    kernel: str | None,
    name: str,
    include_dirs: Sequence[str | os.PathLike[str]],
    strict_literals: bool,
    outputs: Collection[str] | None,
    inputs: Collection[str] | None,
    checkpoints: bool = False,
) -> tuple[str, tuple[str, ...]]:
    """The source, and warnings: inputs that have no gradient. Raises CompileError."""
    folders = tuple(os.fspath(folder) for folder in include_dirs)
    single = {key: value[0] if isinstance(value, list) else value for key, value in defines.items()}
    source = decode(data, name, Report())
    settings = Settings(kernel, folders, strict_literals)
    forward = derivable(source, single, settings, inputs, outputs, checkpoints=checkpoints)
    warnings = tuple(str(error).replace(": error: ", ": warning: ", 1) for error in forward.refused.values())
    return usual(forward).text, warnings


def _backward_of(forward: Forward, passes: Sequence[BackwardPass]) -> Backward:
    for node in nodes_of(every(forward.items), Bitcast):
        if forward.flow.active(node.operand):
            refuse("TC701", "the bits of a value that depends on an input have no derivative", node.span)
    wide = added(forward, passes)
    of = [[forward.input_of(forward.loads[number]) for number, _ in plan.ways] for plan in passes]
    disjoint = len({symbol for symbols in of for symbol in symbols}) == sum(
        len(set(symbols)) for symbols in of
    )
    kernels: list[Derived] = []
    sums: dict[str, tuple[str, str]] = {}
    for plan, symbols in zip(passes, of, strict=True):
        name = f"{forward.kernel.name}{SUFFIX}"
        if len(passes) > 1 and disjoint:
            name += "".join(f"_{symbol.name}" for symbol in dict.fromkeys(symbols))
        elif kernels:
            name += f"_{len(kernels) + 1}"
        kernel = derived_kernel(forward, plan, list(dict.fromkeys(symbols)), wide, name)
        if kernel.rows is not None:
            kernels[:1] = [_leaving(forward, kernels, list(dict.fromkeys(of[0])), wide, kernel)]
        if kernel.d_inputs:
            kernels.append(kernel)
        for symbol in symbols:
            if symbol.name in kernel.sizes:
                sums[symbol.name] = _sum(forward, symbol, dict(sums.values()))
    atomic = {
        symbol.name
        for plan, symbols in zip(passes, of, strict=True)
        for symbol, (_, way) in zip(symbols, plan.ways, strict=True)
        if way == "atomic"
    }
    narrow = {symbol.name for symbol in wide if symbol.target in (HALF, BFLOAT16)}
    zero = tuple(s.name for s in forward.inputs if not any(s.name in kernel.d_inputs for kernel in kernels))
    return Backward(tuple(kernels), sums, frozenset(narrow - sums.keys()), frozenset(atomic - {*zero}), zero)


def _leaving(
    forward: Forward,
    kernels: Sequence[Derived],
    inputs: Sequence[Symbol],
    wide: Collection[Symbol],
    walk: Derived,
) -> Derived:
    """The first of the kernels, which also leaves what a walk reads. Raises Unwalkable where it has not all."""
    reads = [state for state in walk.states if state.capacity is None]
    if (
        kernels
        and kernels[0].at.axis is None
        and not any(state.capacity is None for state in kernels[0].states)
    ):
        leaving = derived_kernel(forward, kernels[0].at, inputs, wide, kernels[0].kernel, walk.rows)
        if {*reads} <= {*leaving.states}:
            return leaving
    raise Unwalkable(walk.at.ways)


def _sum(forward: Forward, symbol: Symbol, taken: Mapping[str, str]) -> tuple[str, str]:
    """The kernel that adds up the parts of a gradient: its name and its source."""
    exact = "double" if symbol.target == DOUBLE else "float"
    name = f"{forward.kernel.name}{SUFFIX}_sum"
    text = _SUM.replace("TO", forward.words.type_word(symbol)).replace("EXACT", exact)
    while taken.get(name, text.replace("NAME", name)) != text.replace("NAME", name):
        name += "_"
    return name, text.replace("NAME", name)


_SUM: Final = """// grid: (size + 31) / 32
// total [size]: the sum of parts [count, size]
__global__ void NAME(EXACT *parts, TO *total, int count, int size) {
  int r[32] = get_program_id(0) * 32 + 0 ... 32;
  int p[64] = 0 ... 64;
  EXACT sum[32] = 0;
  for (int first = 0; first < count; first += 64) {
    bool inside[64, 32] = (p < count - first)[:, newaxis] && (r < size)[newaxis, :];
    EXACT part[64, 32] = inside ? *(parts + (long)first * size + p[:, newaxis] * (long)size + r[newaxis, :]) : 0;
    sum += part[+, :];
  }
  *?(r < size) (total + r) = sum;
}
"""
SUM_BLOCK: Final = 32
