"""The map: one call per stage, from a text to a module.

text -> read (preprocess, parse) -> check -> passes -> emit -> Translation
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pytriton.collecting import not_collecting
from pytriton.emit.module import Module, emit
from pytriton.errors import Diagnostic, Report
from pytriton.lang.check import check, kernel_names
from pytriton.lang.convert import scalar_of
from pytriton.lang.front import read
from pytriton.lang.tokens import decode
from pytriton.lang.typed import Atomic, Binary, Dot, Expr, Load, RangeLoop, Statement, Symbol
from pytriton.lang.types import DOUBLE, PointerType, ScalarType
from pytriton.lang.walk import expressions, kinds, kinds_in, statements, walk
from pytriton.passes import run
from pytriton.passes.beliefs import warn_of_beliefs
from pytriton.passes.descriptors import Described, tilings, with_tiles
from pytriton.passes.provenance import Provenance
from pytriton.passes.remap import can_remap
from pytriton.passes.remap import remap as remap_ids
from pytriton.passes.streams import can_stream, stream
from pytriton.passes.tiles import Tiles, largest_tiles
from pytriton.source import Source

__all__ = ["Parameter", "Translation", "translate"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    ``name`` is the user's, ``identifier`` its name in the generated function (they differ where the user's is
    a Python keyword). ``declaration`` is its source text. A promise that was not made is 1 (``multiple_of``,
    the integer; ``aligned``, the address in bytes) or False. A constant buffer of the text stands behind the
    parameters of the kernel: the launcher supplies ``buffer`` bytes for it.
    """

    name: str
    identifier: str
    type: ScalarType | PointerType
    declaration: str
    multiple_of: int = 1
    aligned: int = 1
    retune: bool = False
    buffer: int = 0


@dataclass(frozen=True, slots=True)
class Translation:
    """One kernel as modern Python.

    ``text`` is the module, whose function is called ``function`` and takes the ``parameters`` in order, then
    the ``constexprs`` by name (numbers). ``kernels`` are the names of all kernels in the source text.
    ``reads`` and ``writes`` name the pointer parameters through which memory is read and written (an
    atomic does both). ``mentioned``: the given defines that the text mentions at all.
    """

    text: str
    kernel: str
    function: str
    kernels: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    constexprs: Mapping[str, int | float]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    mentioned: frozenset[str] = frozenset()
    lines: Mapping[int, int] = field(default_factory=dict)  # line of the module -> line of the source
    remappable: bool = False  # it may be translated with ``remap``
    described: tuple[Described, ...] = ()  # where it has descriptors: what must hold of a launch
    doubles: bool = False  # it computes with double, which is exact: no product is fused into a sum
    pipelined: bool = False  # a loop of it loads for a matrix product, and is a ``range``
    streams: bool = False  # a loop of it loads for something else, and may do so ahead of its stores
    strays: bool = False  # it writes through pointers that it loaded, or made from numbers
    buffers: Mapping[str, int] = field(default_factory=dict)  # constant buffers of the text -> bytes
    tiles: Tiles = field(default_factory=Tiles)  # what its matrix products need at least


def translate(
    source: str | bytes | Source,
    defines: Mapping[str, object] | None = None,
    *,
    kernel: str | None = None,
    name: str | None = None,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    strict_literals: bool = False,
    precision: str = "ieee",
    remap: int = 0,
    num_stages: int | None = None,
    descriptors: bool = False,
    without_promises: Collection[str] = (),
) -> Translation:
    """One kernel of a Triton-C text (the first, or the one named) as modern Python.

    ``defines`` are as in python-api.md, section 1; a list takes its first value. ``name`` is what
    messages call the text. ``precision`` is how ``float @ float`` is computed (``ieee``, ``tf32``, ``tf32x3``,
    ``bf16x3``, ``bf16x6``); with ``remap`` the program ids are taken in groups of so many.
    ``num_stages`` is for loops that only stream (passes/streams.py); those with products take it from the launch.
    With ``descriptors`` tiles are loaded through tensor descriptors where that is exact for launches of which
    ``Translation.described`` holds (passes/descriptors.py).
    What ``__multipleof`` and ``__aligned`` say of the parameters ``without_promises`` is not relied upon.
    Raises a ``CompileError`` that holds every finding.
    """
    with not_collecting():  # its trees are gone again when the collector goes on
        return _translated(
            *(source, defines, kernel, name, include_dirs, strict_literals),
            *(precision, remap, num_stages, descriptors, without_promises),
        )


def _translated(
    source: str | bytes | Source,
    defines: Mapping[str, object] | None,
    kernel: str | None,
    name: str | None,
    include_dirs: Sequence[str | os.PathLike[str]],
    strict_literals: bool,
    precision: str,
    remap: int,
    num_stages: int | None,
    descriptors: bool,
    without_promises: Collection[str],
) -> Translation:
    report = Report()
    text = _source(source, name, report)
    single = {key: _first(value) for key, value in (defines or {}).items()}
    front = read(text, single, report, include_dirs)
    checked = check(
        front.tree, report, kernel, strict_literals, front.numbers, front.macros, without_promises
    )
    provenance = Provenance(checked)
    warn_of_beliefs(checked, provenance, report)
    lowered = run(checked, report)
    reached = Provenance(lowered)
    tiled = tilings(lowered, reached) if descriptors else ()
    changed = with_tiles(lowered, tiled)
    changed = remap_ids(changed, remap) if remap else changed
    if num_stages is not None:
        changed = stream(changed, num_stages)
    module = emit(changed, reached if changed is lowered else Provenance(changed), precision)
    return Translation(
        text=module.text,
        kernel=checked.name,
        function=module.function,
        kernels=kernel_names(front.tree),
        parameters=tuple(_parameter(symbol, module) for symbol in checked.parameters),
        constexprs=MappingProxyType(dict(module.constexprs)),
        reads=provenance.reads,
        writes=provenance.writes,
        warnings=tuple(report.warnings),
        remappable=can_remap(checked),
        described=tuple(each.described for each in tiled),
        doubles=any(map(_is_double, expressions(lowered.body))),
        pipelined=any(map(_is_pipelined, statements(lowered.body))),
        streams=can_stream(lowered, reached),
        mentioned=front.mentioned,
        lines=MappingProxyType(dict(module.lines)),
        strays=provenance.strays,
        buffers=MappingProxyType({symbol.name: symbol.buffer for symbol in checked.buffers}),
        tiles=largest_tiles(lowered.body),
    )


def _source(source: str | bytes | Source, name: str | None, report: Report) -> Source:
    if isinstance(source, Source):
        return source
    if isinstance(source, bytes):
        return decode(source, name or "<kernel>", report)
    return Source(source, name or "<kernel>")


def _is_pipelined(statement: Statement) -> bool:
    """Whether a statement is a loop that Triton pipelines of its own accord."""
    if not isinstance(statement, RangeLoop):
        return False
    found = kinds_in(statement.body)
    return Dot in found and (Load in found or Atomic in found)


def _is_double(expr: Expr) -> bool:
    """Whether an expression computes with double."""
    return Binary in kinds(expr) and any(
        isinstance(node, Binary) and scalar_of(node.type) == DOUBLE for node in walk(expr)
    )


def _first(value: object) -> object:
    """The value of a define; of a sweep, its first."""
    if isinstance(value, list | tuple):
        return value[0] if value else ""
    return value


def _parameter(symbol: Symbol, module: Module) -> Parameter:
    assert isinstance(symbol.type, ScalarType | PointerType)
    return Parameter(
        name=symbol.name,
        identifier=module.identifiers[symbol],
        type=symbol.type,
        declaration=symbol.declaration,
        multiple_of=int(symbol.multiple_of),
        aligned=int(symbol.aligned),
        retune=symbol.retune,
        buffer=symbol.buffer,
    )
