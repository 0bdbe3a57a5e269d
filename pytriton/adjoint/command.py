"""What ``python -m pytriton gradient`` prints: the backward of a text, for launches of the usual kind.

A launch knows its integers, a text does not. So an input is taken to be read once if there are ordinary sizes for
which it is; ``pytriton.gradient`` looks again at each launch.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pytriton.adjoint.access import Accesses
from pytriton.adjoint.again import WAYS, Way
from pytriton.adjoint.derive import Forward, derive, forward_of
from pytriton.errors import CompileError, Report
from pytriton.frozen import replace
from pytriton.lang.tokens import decode
from pytriton.lang.tree.types import ScalarType
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["derivable", "derived_text", "usual_ways"]

TYPICAL_SIZES: Final = ((64, 4096), (4096, 64), (1, 4096), (4096, 4096))  # of integers, in turn
TYPICAL_GRID: Final = 3  # programs along each axis that the text asks for


def usual_ways(forward: Forward) -> dict[str, Way]:
    """How the gradients of inputs get to memory in the best of some ordinary launches."""
    best: dict[str, Way] = {symbol.name: "atomic" for symbol in forward.inputs}
    grid = tuple(TYPICAL_GRID if axis in forward.flow.programs() else 1 for axis in range(3))
    for sizes in TYPICAL_SIZES:
        whole = {
            symbol.name: sizes[at % 2]
            for at, symbol in enumerate(forward.kernel.parameters)
            if isinstance(symbol.type, ScalarType) and symbol.type.is_integer
        }
        for name, way in forward.ways(Accesses(forward.items, whole, grid)).items():
            best[name] = min(best[name], way, key=WAYS.index)
    return best


def derivable(
    source: Source,
    defines: Mapping[str, object],
    settings: Settings,
    inputs: Collection[str] | None = None,
    outputs: Collection[str] | None = None,
) -> Forward:
    """A kernel with a backward. Inputs that nobody asked for by name, and that have none, are in ``refused``;
    raises a CompileError if none is left.
    """
    forward = forward_of(source, defines, settings, inputs, outputs)
    try:
        derive(forward, usual_ways(forward))
        return forward
    except CompileError:
        if inputs is not None or len(forward.inputs) < 2:
            raise
    refused = dict(forward.refused)
    for symbol in forward.inputs:
        alone = forward_of(source, defines, settings, (symbol.name,), outputs)
        try:
            derive(alone, usual_ways(alone))
        except CompileError as error:
            refused[symbol.name] = error
    kept = [symbol.name for symbol in forward.inputs if symbol.name not in refused]
    if not kept:
        raise refused[forward.inputs[0].name]
    return replace(forward_of(source, defines, settings, kept, outputs), refused=refused)


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
) -> tuple[str, tuple[str, ...]]:
    """The text, and what is to be said about it: inputs that have no gradient. Raises CompileError."""
    folders = tuple(os.fspath(folder) for folder in include_dirs)
    single = {key: value[0] if isinstance(value, list) else value for key, value in defines.items()}
    source = decode(data, name, Report())
    forward = derivable(source, single, Settings(kernel, folders, strict_literals), inputs, outputs)
    told = tuple(str(error).replace(": error: ", ": warning: ", 1) for error in forward.refused.values())
    return derive(forward, usual_ways(forward)).text, told
