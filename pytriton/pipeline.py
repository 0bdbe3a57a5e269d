"""The map: one call per stage, from a text to a module.

text -> read (preprocess, parse) -> check -> passes -> emit -> Translation
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytriton import passes
from pytriton.boundary import entry
from pytriton.collecting import not_collecting
from pytriton.emit.module import Module, emit
from pytriton.emit.printer import printed
from pytriton.emit.python import Atom, Call, KernelFunction, Node, Simple
from pytriton.errors import Diagnostic, Report, not_a_text, refusal
from pytriton.lang.check.checker import check, kernel_names
from pytriton.lang.conditions import Conditions, conditions_of, instantiated
from pytriton.lang.conditions import printed as printed_condition
from pytriton.lang.preprocess.structure import misspelt
from pytriton.lang.read import read
from pytriton.lang.recording import Log
from pytriton.lang.tokens import decode
from pytriton.lang.tree.builtins import Printed
from pytriton.lang.tree.typed import KernelDef, Symbol, value_of
from pytriton.lang.tree.types import LONG, PointerType, ScalarType
from pytriton.passes import PassContext, run
from pytriton.passes.analysis.context import Traits
from pytriton.passes.check.inspector import Inspection, executor, inspector
from pytriton.passes.check.sites import Site, numbered
from pytriton.passes.check.steps import Steps, watched
from pytriton.passes.memory.provenance import Provenance
from pytriton.reuse import Templates
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
    ``mentioned`` are the names in the text, and in the defines that it mentions.
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
    noalias: frozenset[str] = frozenset()  # the parameters declared __noalias
    prints: tuple[Printed, ...] = ()  # its calls of printf, in the order of the module
    steps: Steps = field(default_factory=Steps)  # of traced code
    conditions: Conditions = field(default_factory=Conditions)  # the defines for which it is right
    defines: Mapping[str, str] = field(
        default_factory=dict
    )  # those that are constexprs -> their names in the module

    def __str__(self) -> str:
        return self.text

    def source(self) -> str:
        """``text``, under the name that it has in ``kernel.source()``."""
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
        raise not_a_text(source)
    if not isinstance(defines, Mapping | None):
        raise refusal(f"defines must be a dict, not {defines!r}", "TC515", "give defines={'TM': 64}")
    folders = tuple(os.fspath(folder) for folder in include_dirs)
    report = Report()
    source = _source(source, name, report)
    report.check()
    given = {key: _first(value) for key, value in (defines or {}).items()}
    settings = Settings(kernel, folders, strict_literals)
    translation = translate_as(source, given, settings, is_parametric=True)
    for key in sorted(given.keys() - translation.mentioned):
        near = misspelt(key, source.text, given)
        help_ = f"did you mean '{near}'?" if near else "leave it out"
        report.warning("TC528", f"the source does not mention the define '{key}'", source, help=help_)
    return (
        replace(translation, warnings=(*report.warnings, *translation.warnings))
        if report.warnings
        else translation
    )


MAX_PARAMETRIC_LINES: Final = 600  # of a module: a longer one takes no defines as parameters


def _emitted(
    emit_with: Callable[[frozenset[str]], Module], conditions: Callable[[], Conditions], is_parametric: bool
) -> tuple[Module, Conditions, str, dict[int, int]]:
    """The module, its conditions, and both as printed with the lines of the source. ``is_parametric``: the defines
    that cannot be parameters are numbers in it, and it asserts its conditions.
    """
    digits: frozenset[str] = frozenset()
    while True:
        module = emit_with(digits)
        recorded = conditions()
        if not is_parametric or not module.defines:
            return module, recorded, *printed(module.tree)
        fixed = _fixed(module, recorded)
        if not fixed:
            tree = _begun(module.tree, _assertions(module, recorded))
            text, lines = printed(tree)
            if text.count("\n") <= MAX_PARAMETRIC_LINES:
                return module._replace(tree=tree), recorded, text, lines
            fixed = frozenset(module.defines)
        digits |= fixed


def _fixed(module: Module, conditions: Conditions) -> frozenset[str]:
    """The parameters that are printed as their numbers: those with one possible value, or with a condition that
    no Python expression states."""
    fixed: set[str] = set()
    for condition in conditions:
        if condition.role == "required":
            names = condition.names
            if condition.determines or not names <= module.defines.keys():
                fixed |= names & module.defines.keys()
    return frozenset(fixed)


def _assertions(module: Module, conditions: Conditions) -> Iterator[tuple[str, Node]]:
    """The conditions that Triton does not check by itself, as statements of the module."""
    required = [
        condition
        for condition in conditions
        if condition.role == "required" and condition.names <= module.defines.keys()
    ]
    for _, bounds in groupby(required, lambda condition: condition.comparison.left):
        text = " and ".join(printed_condition(bound.comparison, module.defines) for bound in bounds)
        yield "", Call("tl.static_assert", (Atom(text), Atom(f'"translated for {text}"')))


def begun_with(translation: Translation, statements: Iterable[tuple[str, Node]]) -> Translation:
    """The module with more statements at the top of its kernel: ``x = `` and a value."""
    tree = _begun(translation.tree, statements)
    if tree is translation.tree:
        return translation
    text, lines = printed(tree)
    return replace(translation, tree=tree, text=text, lines=MappingProxyType(lines))


def _begun(tree: KernelFunction, statements: Iterable[tuple[str, Node]]) -> KernelFunction:
    added = [Simple(before, node, tree.line) for before, node in statements]
    return tree._replace(body=(*added, *tree.body)) if added else tree


def translate_as(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None,
    settings: Settings,
    name: str | None = None,
    *,
    is_parametric: bool = False,
) -> Translation:
    """The same, with all settings. ``is_parametric``: for other defines, those with one value are numbers."""
    with not_collecting():  # all trees and logs are gone when the collector goes on
        return _recorded(source, defines, settings, name, is_parametric)


def _recorded(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None,
    settings: Settings,
    name: str | None,
    is_parametric: bool,
) -> Translation:
    """A kept translation, or a new one, whose log ends with it."""
    report = Report()
    text = _source(source, name, report)
    single = {key: _first(value) for key, value in (defines or {}).items()}
    key = text, settings, passes.PASSES, is_parametric
    cached = _templates.find(key, single)
    if cached is not None:
        return cached
    log = Log()
    try:
        translation, values = _translated(text, single, settings, report, log, is_parametric)
    finally:
        log.end()
    if not settings.include_dirs:  # the files may change
        _templates.keep(key, translation, translation.conditions)
    return _plain(translation, values)


def _plain(template: Translation, values: Mapping[str, int | float]) -> Translation:
    """A translation with the numbers that its terms have for these defines."""
    if not values:
        return template
    memo: dict[int, tuple[object, object]] = {}
    return replace(
        template, **{name: instantiated(getattr(template, name), values, memo) for name in _NUMBERED}
    )


_NUMBERED: Final = ("parameters", "constexprs", "buffers", "traits", "sites", "table", "prints")
_templates: Final = Templates(_plain)


def _translated(
    text: Source,
    single: Mapping[str, object],
    settings: Settings,
    report: Report,
    log: Log,
    is_parametric: bool,
) -> tuple[Translation, dict[str, int | float]]:
    """A translation with terms for numbers, and the numbers of the defines."""
    front = read(text, single, report, settings.include_dirs, log)
    checked = check(front.tree, report, settings, front.numbers, front.macros)
    context = PassContext(settings, report)
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
    emit_with = partial(emit, lowered, Provenance(lowered), settings, sites)
    stated = partial(conditions_of, log.entries, front.given, front.asked, front.spelled)
    module, conditions, printed_text, lines = _emitted(emit_with, stated, is_parametric)
    translation = Translation(
        text=printed_text,
        tree=module.tree,
        kernel=checked.name,
        function=module.tree.function,
        kernels=kernel_names(front.tree),
        parameters=tuple(_parameter(symbol, module, provenance.writes) for symbol in checked.parameters),
        constexprs=MappingProxyType(dict(module.constexprs)),
        defines=MappingProxyType(dict(module.defines)),
        reads=provenance.reads,
        writes=provenance.writes,
        warnings=tuple(report.warnings),
        mentioned=front.mentioned,
        spelled=front.spelled,
        lines=MappingProxyType(lines),
        buffers=MappingProxyType({symbol.name: symbol.buffer for symbol in checked.buffers}),
        traits=replace(context.traits, writes_elsewhere=provenance.writes_elsewhere),
        sites=sites,
        inspected=inspected,
        table=_table(module),
        prints=module.prints,
        steps=steps,
        noalias=frozenset(symbol.name for symbol in checked.parameters if symbol.noalias),
        conditions=conditions,
    )
    return translation, front.given_numbers()


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
    return check(front.tree, report, settings, front.given_numbers(), front.macros)


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
        multiple_of=value_of(symbol.multiple_of),
        aligned=value_of(symbol.aligned),
        retune=symbol.retune,
        buffer=symbol.buffer,
        written=symbol.name in writes,
    )
