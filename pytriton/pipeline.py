"""The map: one call per stage, from a text to a module.

text -> read (preprocess, parse) -> check -> passes -> emit -> Translation
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytriton.boundary import entry
from pytriton.collecting import not_collecting
from pytriton.emit.module import Module, emit
from pytriton.emit.printer import printed
from pytriton.emit.python import Atom, BinOp, Call, KernelFunction, Node, Simple
from pytriton.errors import CompileError, Diagnostic, LaunchError, Report, not_a_text
from pytriton.lang.check.checker import check, kernel_names
from pytriton.lang.preprocess.macros import Digits
from pytriton.lang.preprocess.structure import misspelt
from pytriton.lang.read import read
from pytriton.lang.tokens import decode
from pytriton.lang.tree.builtins import Printed
from pytriton.lang.tree.typed import KernelDef, Symbol
from pytriton.lang.tree.types import LONG, PointerType, ScalarType
from pytriton.passes import Context, run
from pytriton.passes.analysis.context import Traits
from pytriton.passes.check.inspector import Inspection, executor, inspector
from pytriton.passes.check.sites import Site, numbered
from pytriton.passes.check.steps import Steps, watched
from pytriton.passes.memory.provenance import Provenance
from pytriton.settings import Settings
from pytriton.source import Source


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    ``name`` is the user's, ``identifier`` its name in the generated function (they differ where the user's is
    a Python keyword). ``declaration`` is its source text. A promise that was not made is 1 (``multiple_of``,
    the integer; ``aligned``, the address in bytes) or False. A constant buffer of the text stands behind the
    parameters of the kernel: the launcher supplies ``buffer`` bytes for it. ``written``: stored through.
    """

    name: str
    identifier: str
    type: ScalarType | PointerType
    declaration: str
    multiple_of: int = 1
    aligned: int = 1
    retune: bool = False
    buffer: int = 0
    written: bool = False


@dataclass(frozen=True, slots=True)
class Translation:
    """One kernel as modern Python.

    ``text`` is the module, printed from ``tree``. Its kernel is called ``function`` and takes the ``parameters`` in
    order, then the ``constexprs`` (numbers) by name. ``kernels`` are the names of all kernels in the source text.
    ``reads`` and ``writes`` name the pointer parameters that are read and written; an atomic does both.
    ``mentioned`` are the defines that the text uses.
    """

    text: str
    tree: KernelFunction = field(repr=False, compare=False)
    kernel: str
    function: str
    kernels: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    constexprs: Mapping[str, int | float]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    mentioned: frozenset[str] = frozenset()
    spelled: frozenset[str] = frozenset()  # the defines whose digits the source reads: #if, #, ##
    lines: Mapping[int, int] = field(default_factory=dict)  # line of the module -> line of the source
    buffers: Mapping[str, int] = field(default_factory=dict)  # constant buffers of the text -> bytes
    traits: Traits = field(default_factory=Traits)  # its features that tuning depends on
    sites: tuple[Site, ...] = ()  # of checked code, by number; if it has any, a table follows its parameters
    inspected: Inspection | None = None  # of inspectors and executors: what the former looks at
    table: Parameter | None = None  # that one; it is not among the parameters
    apart: frozenset[str] = frozenset()  # the parameters declared __noalias
    prints: tuple[Printed, ...] = ()  # its calls of printf, in the order of the module
    steps: Steps = field(default_factory=Steps)  # of traced code

    def __str__(self) -> str:
        return self.text


@entry
def translate(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None = None,
    *,
    kernel: str | None = None,
    name: str | None = None,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    strict_literals: bool = False,
) -> Translation:
    """Translate one kernel of a Triton-C text, the first or the one named, to modern Python.

    ``source`` is the text, its bytes, or a path (``os.PathLike``). ``defines`` are as in ``pytriton.kernel``; of a
    list the first value is taken. ``name`` is what messages call the text. Raises a ``CompileError`` that holds
    every finding, and OSError for a path that cannot be read.
    """
    if not isinstance(source, str | bytes | os.PathLike | Source):
        raise LaunchError(not_a_text(source))
    if not isinstance(defines, Mapping | None):
        raise LaunchError(f"defines must be a dict, not {defines!r} [TC515]\nhelp: give defines={{'TM': 64}}")
    folders = tuple(os.fspath(folder) for folder in include_dirs)
    report = Report()
    source = _source(source, name, report)
    report.check()
    given = {key: _first(value) for key, value in (defines or {}).items()}
    again = partial(translate_as, source, settings=Settings(kernel, folders, strict_literals))
    made = again(given)
    fixed, bounded = _specialised(made, source, given, again)
    while fixed:
        given |= fixed
        made = again(given)
        fixed, bounded = _specialised(made, source, given, again)
    for parameter in bounded:
        made = _asserting(made, parameter)
    for key in sorted(given.keys() - made.mentioned):
        near = misspelt(key, source.text, given)
        help_ = f"did you mean '{near}'?" if near else "leave it out"
        report.warning("TC528", f"the source does not mention the define '{key}'", source, help=help_)
    return replace(made, warnings=(*report.warnings, *made.warnings))


MAX_PARAMETRIC_LINES: Final = 600  # of a module: a longer one takes no defines as parameters
MAX_NUMBER: Final = 65_535  # of a parameter that is no size, where the module is another for larger ones
MAX_OTHERS: Final = 24  # other values of one parameter that are tried
MIN_SIZE: Final = 16  # of tiles that are usual
_PADDED: Final = "def widen_"
_SIZES: Final = frozenset(1 << power for power in range(17))
_INTEGER: Final = re.compile(r"([<>]|[=!]=)?\s*\b(0[xX][0-9a-fA-F]+|[0-9]+)(?=\s*([<>]|[=!]=))?")
_Again = Callable[[dict[str, object]], "Translation"]


def _specialised(
    made: Translation, source: Source, given: dict[str, object], again: _Again
) -> tuple[dict[str, Digits], list[str]]:
    """The parameters for whose values the module was simplified, as numbers to print instead of their names; and
    those that must be from 1 to ``MAX_NUMBER``.

    A define stays a parameter if no ``#if`` reads it and the module is the same for other values: of the size of a
    range, for other sizes of its kind (``tl.arange`` refuses all but powers of two); of any other number, for those
    that the source, or another define, may compare it with.
    """
    bound = {key: made.constexprs.get(key, made.constexprs.get(f"{key}_")) for key in given}
    values = {key: value for key, value in bound.items() if value is not None and math.isfinite(value)}
    others = {key: _others(key, value, made, _numbers(source.text, values)) for key, value in values.items()}
    long = made.text.count("\n") > MAX_PARAMETRIC_LINES
    fixed = {key: Digits(value) for key, value in values.items() if long or key in made.spelled}
    near = {
        key: [x for x in some if x != values[key]] for key, (some, _) in others.items() if key not in fixed
    }
    for change in _changes(near):
        together = _alike(made, {**given, **change}, again)
        if not together:
            alone = [key for key in change if _alike(made, {**given, key: change[key]}, again) is False]
            refused = together is None
            fixed |= {key: Digits(values[key]) for key in alone or (() if refused else change)}
    if fixed:
        return fixed | {key: Digits(values[key]) for key in _tied(made, given, near, fixed, again)}, []
    far = [(key, other) for key, (_, some) in others.items() for other in some]
    return {}, sorted({key for key, other in far if _alike(made, {**given, key: other}, again) is False})


def _tied(
    made: Translation,
    given: dict[str, object],
    near: Mapping[str, Sequence[int | float]],
    fixed: Mapping[str, object],
    again: _Again,
) -> set[str]:
    """The parameters that have to change with a fixed one for the module to be the same: ``TN`` in ``TM <= TN``."""
    tied: set[str] = set()
    if fixed.keys() < near.keys():
        for change in _changes(near):
            if not fixed.keys().isdisjoint(change) and _alike(made, {**given, **change}, again):
                rest = {key: {**given, **change, key: given[key]} for key in change if key not in fixed}
                tied |= {key for key, changed in rest.items() if not _alike(made, changed, again)}
    return tied


def _changes(near: Mapping[str, Sequence[int | float]]) -> Iterator[dict[str, int | float]]:
    """A change of each parameter alone, and changes of all of them in which each takes each of its values: once all
    of them equal, where they can be, then as different as they can be."""
    yield from ({key: some[0]} for key, some in near.items() if some)
    common = set.intersection(*map(set, near.values())) if near else set()
    if len(near) > 1 and common:
        yield dict.fromkeys(near, min(common))
    for row in range(max(map(len, near.values()), default=0)):
        yield {key: some[(row + at) % len(some)] for at, (key, some) in enumerate(near.items()) if some}


def _numbers(text: str, values: Mapping[str, int | float]) -> dict[int, bool]:
    """The integers of a source and its defines; whether they stand beside a comparison."""
    numbers = {value: False for value in values.values() if isinstance(value, int)}
    for before, digits, after in _INTEGER.findall(text):
        number = int(digits, 16 if digits[1:2] in ("x", "X") else 10)
        numbers[number] = numbers.get(number, False) or bool(before or after)
    return numbers


def _others(
    name: str, value: int | float, made: Translation, numbers: Mapping[int, bool]
) -> tuple[Sequence[int | float], Sequence[int]]:
    """Other values of a parameter: those of its kind, and numbers of another sign or size."""
    if isinstance(value, float):
        return (0.0, -value, 1.5 * value + 1, 1e-30, 1e30), ()
    if f"next_power_of_2({name})" in made.text:
        return (48, 96, 768), ()
    if f"tl.arange(0, {name})" in made.text:
        compared = [number for number, compared in numbers.items() if compared or number >= MIN_SIZE]
        near = {1 << number.bit_length() >> step for number in compared if number > 0 for step in range(3)}
        return sorted({16, 64, 256} | near & _SIZES), ()
    near = {number + step for number in numbers for step in (-1, 0, 1)} | {2 * value, 7 * value, MAX_NUMBER}
    if not 0 < value <= MAX_NUMBER:
        return [0, -value, *sorted(near)[:MAX_OTHERS]], ()
    if not numbers.get(1):  # a factor of 1 is left out, which is the same number
        near.discard(1)
    return [other for other in sorted(near) if 0 < other <= MAX_NUMBER][-MAX_OTHERS:], (
        0,
        -value,
        (1 << 31) - 1,
    )


def _asserting(made: Translation, name: str) -> Translation:
    """The module with assertions that a parameter is from 1 to ``MAX_NUMBER``."""
    parameter = Atom(name if name in made.constexprs else f"{name}_")
    bounds = BinOp(">", parameter, Atom("0")), BinOp("<=", parameter, Atom(str(MAX_NUMBER)))
    return begun_with(made, [("", Call("tl.static_assert", (bound,))) for bound in bounds])


def begun_with(made: Translation, statements: Iterable[tuple[str, Node]]) -> Translation:
    """The module with more statements at the top of its kernel: ``x = `` and a value."""
    lines = [Simple(before, node, made.tree.line) for before, node in statements]
    if not lines:
        return made
    tree = made.tree._replace(body=(*lines, *made.tree.body))
    text, origins = printed(tree)
    return replace(made, tree=tree, text=text, lines=MappingProxyType(dict(origins)))


def _alike(made: Translation, given: dict[str, object], again: _Again) -> bool | None:
    """Whether other values give the same module; None if the source refuses them, unless by an assertion, or if
    ``tl.dot`` does: a product of their sizes would have to be padded."""
    try:
        other = again(given).text
        return None if _PADDED in other and _PADDED not in made.text else other == made.text
    except CompileError as error:
        return None if all(found.code != "TC316" for found in error.diagnostics) else False


def translate_as(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None,
    settings: Settings,
    name: str | None = None,
) -> Translation:
    """The same, with all settings."""
    with not_collecting():  # its trees are gone again when the collector goes on
        return _translated(source, defines, settings, name)


def _translated(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None,
    settings: Settings,
    name: str | None,
) -> Translation:
    report = Report()
    text = _source(source, name, report)
    single = {key: _first(value) for key, value in (defines or {}).items()}
    front = read(text, single, report, settings.include_dirs)
    checked = check(front.tree, report, settings, front.numbers, front.macros)
    context = Context(settings, report)
    provenance = Provenance(checked)
    traced, steps = watched(checked) if settings.traced else (checked, Steps())
    lowered = run(traced, context)
    sites: tuple[Site, ...] = ()
    inspected: Inspection | None = None
    if settings.checked:
        lowered, sites = numbered(lowered)
    if settings.part:
        inspecting, inspected = inspector(lowered, sites, provenance.writes)
        is_inspector = settings.part == "inspector"
        lowered = inspecting if is_inspector else executor(lowered, inspected.inspected)
        sites = sites if is_inspector or len(inspected.inspected) < len(sites) else ()
    module = emit(lowered, Provenance(lowered), settings, sites)
    return Translation(
        text=module.text,
        tree=module.tree,
        kernel=checked.name,
        function=module.tree.function,
        kernels=kernel_names(front.tree),
        parameters=tuple(_parameter(symbol, module, provenance.writes) for symbol in checked.parameters),
        constexprs=MappingProxyType(dict(module.constexprs)),
        reads=provenance.reads,
        writes=provenance.writes,
        warnings=tuple(report.warnings),
        mentioned=front.mentioned,
        spelled=front.spelled,
        lines=MappingProxyType(dict(module.lines)),
        buffers=MappingProxyType({symbol.name: symbol.buffer for symbol in checked.buffers}),
        traits=replace(context.traits, writes_elsewhere=provenance.writes_elsewhere),
        sites=sites,
        inspected=inspected,
        table=_table(module),
        prints=module.prints,
        steps=steps,
        apart=frozenset(symbol.name for symbol in checked.parameters if symbol.noalias),
    )


def checked_kernel(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None,
    settings: Settings,
    name: str | None,
    report: Report,
) -> KernelDef:
    """One kernel as checked, before all passes."""
    text = _source(source, name, report)
    single = {key: _first(value) for key, value in (defines or {}).items()}
    front = read(text, single, report, settings.include_dirs)
    return check(front.tree, report, settings, front.numbers, front.macros)


def _source(source: str | bytes | os.PathLike[str] | Source, name: str | None, report: Report) -> Source:
    if isinstance(source, Source):
        return source
    if isinstance(source, os.PathLike):
        return decode(Path(source).read_bytes(), name or str(source), report)
    if isinstance(source, bytes):
        return decode(source, name or "<kernel>", report)
    return Source(source, name or "<kernel>")


def _first(value: object) -> object:
    """The value of a define; of a sweep, its first."""
    if isinstance(value, list | tuple):
        return value[0] if value else ""
    return value


def _table(module: Module) -> Parameter | None:
    """The parameter of checked code beside the user's."""
    if module.table is None:
        return None
    return Parameter(module.table, module.table, PointerType(LONG), f"long *{module.table}")


def _parameter(symbol: Symbol, module: Module, writes: Sequence[str]) -> Parameter:
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
        written=symbol.name in writes,
    )
