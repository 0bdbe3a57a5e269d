"""One Triton-C kernel and the define sets that are known of it -> one function of modern Triton.

Input: a text, the name of one of its kernels, and define sets, each read from the code or observed in a run. A
list in a define set is a sweep: its product is known. Output: a ``PortedKernel``, which is all that a package around
it has to know: the module, how each parameter was declared, how old defines become constexprs, and which define
sets it serves. Several come only where the translations cannot be one function (``apart`` says why).

Invariants: define sets whose text is the same are translated once; a ported kernel accepts each of its ``sets``;
``families`` and ``refusal`` say the same. Needs neither torch nor triton: the proof is a step of its own (prove.py).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pytriton.errors import CompileError, Diagnostic
from pytriton.fold.fold import Folded, fold
from pytriton.fold.known import Family
from pytriton.fold.read import Unfoldable
from pytriton.fold.variants import Variant, number
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation, translate_as
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = [
    "Constexpr",
    "DefineSet",
    "Failure",
    "KernelParameter",
    "Known",
    "PortedKernel",
    "Unportable",
    "port_kernel",
]

MAX_SETS: Final = 600  # that are translated
MAX_POINTS: Final = 100_000  # that are looked at

Origin = Literal["read", "observed"]
Kind = Literal["flag", "number", "text"]


@dataclass(frozen=True)
class DefineSet:
    """Defines as a launch gives them (a list is a sweep), and how they were found."""

    defines: Mapping[str, Any]
    origin: Origin = "read"


@dataclass(frozen=True)
class Known:
    """One known define set: each define has one value. ``origins``: how it was found."""

    defines: Mapping[str, Any]
    origins: frozenset[Origin]


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of the ported function.

    ``name`` is that of the text, ``identifier`` that of the function. ``element``: the type that a pointer points
    to, or a number has, as Triton calls it (``float16``); None where it differs between define sets: then
    ``element_define`` is the define that says it (``TYPE``), if one does. ``everywhere`` is False for a parameter
    that some define sets lack: None is passed for it then. ``buffer``: bytes of constant memory that the launcher
    passes.
    """

    name: str
    identifier: str
    pointer: bool
    element: str | None
    element_define: str | None
    declaration: str
    read: bool
    written: bool
    everywhere: bool
    retune: bool
    buffer: int


@dataclass(frozen=True)
class Constexpr:
    """A constexpr of the ported function and the define of this name.

    flag    True if the define is given and not False
    number  the define as a number; a text that is a number is that number
    text    the define as it is
    A define that is not given is None, a flag False.
    """

    name: str
    kind: Kind


@dataclass(frozen=True)
class Failure:
    """A define set that cannot be translated."""

    defines: Mapping[str, Any]
    error: CompileError


@dataclass(frozen=True)
class PortedKernel:
    """One function for many define sets; see the head of this file.

    ``kernel`` is its name in the text; None where a define names it. ``sweeps``: the values of the defines of which
    a launch gives a list. ``variants`` are the distinct translations, for the proof.
    """

    text: str
    function: str
    kernel: str | None
    parameters: tuple[KernelParameter, ...]
    constexprs: tuple[Constexpr, ...]
    sets: tuple[Known, ...]
    families: tuple[Family, ...]
    sweeps: Mapping[str, tuple[Any, ...]]
    failures: tuple[Failure, ...]
    source: Source
    folded: Folded = field(repr=False)
    variants: tuple[Variant, ...] = field(repr=False)
    apart: str | None = None  # why the text became several functions

    @property
    def reads(self) -> tuple[str, ...]:
        """The identifiers of the parameters through which memory is read."""
        return tuple(parameter.identifier for parameter in self.parameters if parameter.read)

    @property
    def writes(self) -> tuple[str, ...]:
        """The identifiers of the parameters through which memory is written: what a sweep restores."""
        return tuple(parameter.identifier for parameter in self.parameters if parameter.written)

    def bind(self, defines: Mapping[str, Any]) -> dict[str, object]:
        """The constexprs for a define set."""
        return self.folded.bind(normal(defines))

    def refusal(self, defines: Mapping[str, Any]) -> str | None:
        """Why a define set is not served; None if it is."""
        return self.folded.known.refusal(normal(defines))


class Unportable(Exception):
    """No define set of a kernel can be translated. ``failures`` say why."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error) if failures else "there is no define set")
        self.failures = tuple(failures)


def port_kernel(
    source: Source,
    kernel: str | None,
    sets: Sequence[DefineSet],
    *,
    function: str | None = None,
    strict_literals: bool = False,
) -> tuple[PortedKernel, ...]:
    """The kernel of this name (None: the first) as one function, as several where it cannot be one.

    ``function`` is the name where define sets name the kernel differently. Raises Unportable.
    """
    settings = Settings(kernel, strict_literals=strict_literals)
    translations = _Translations(source, settings)
    known = list(_known(sets, translations.words))
    chosen: list[tuple[Known, Variant]] = []
    failures: list[Failure] = []
    for one in known[:MAX_SETS]:
        translation = translations(one.defines)
        if isinstance(translation, CompileError):
            failures.append(Failure(one.defines, translation))
        else:
            chosen.append((one, Variant(one.defines, translation)))
    if not chosen:
        raise Unportable(failures)
    sweeps = _sweeps(sets)
    groups, apart = _foldable(source.text, chosen, function)
    return tuple(_ported(source, folded, members, sweeps, failures, apart) for folded, members in groups)


# ---------------------------------------------------------------- define sets


def normal(defines: Mapping[str, Any]) -> dict[str, Any]:
    """Defines as the translator has them: a ``torch.dtype`` is its word, None is not given."""
    return {name: _plain(value) for name, value in defines.items() if value is not None}


_WORDS: Final = {
    "torch.float16": "half",
    "torch.bfloat16": "bfloat16",
    "torch.float32": "float",
    "torch.float64": "double",
    "torch.int8": "char",
    "torch.int16": "short",
    "torch.int32": "int",
    "torch.int64": "long",
    "torch.uint8": "uint8",
    "torch.bool": "bool",
}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return _WORDS.get(str(value), value) if str(value).startswith("torch.") else value


def _known(sets: Sequence[DefineSet], words: frozenset[str]) -> Iterator[Known]:
    """Every define set with single values, less the defines that the text does not mention; each once."""
    origins: dict[tuple[tuple[str, str], ...], set[Origin]] = {}
    defines: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
    for given in sets:
        for row in itertools.islice(_products(normal(given.defines)), MAX_POINTS):
            mentioned = _mentioned(row, words)
            key = tuple(sorted((name, repr(value)) for name, value in mentioned.items()))
            defines.setdefault(key, mentioned)
            origins.setdefault(key, set()).add(given.origin)
    for key, mentioned in defines.items():
        yield Known(mentioned, frozenset(origins[key]))


def _products(defines: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    axes = [value if isinstance(value, tuple) and value else (value,) for value in defines.values()]
    for row in itertools.product(*axes):
        yield dict(zip(defines, row, strict=True))


def _mentioned(defines: Mapping[str, Any], words: frozenset[str]) -> dict[str, Any]:
    """The defines that the text mentions, or the text of a define that it mentions."""
    reached: set[str] = set()
    fresh = [name for name in defines if name in words]
    while fresh:
        name = fresh.pop()
        reached.add(name)
        if isinstance(defines[name], str):
            inner = re.findall(r"[A-Za-z_]\w*", defines[name])
            fresh += [other for other in inner if other in defines and other not in reached]
    return {name: value for name, value in defines.items() if name in reached}


def _sweeps(sets: Iterable[DefineSet]) -> dict[str, tuple[Any, ...]]:
    """For each define of which a launch gives a list, all values of all lists."""
    values: dict[str, dict[Any, None]] = {}
    for given in sets:
        for name, value in normal(given.defines).items():
            if isinstance(value, tuple) and len(value) > 1:
                values.setdefault(name, {}).update(dict.fromkeys(value))
    return {name: tuple(listed) for name, listed in values.items()}


class _Translations:
    """Translates each set of the defines that a text mentions once. No promise is relied upon: ``@triton.jit``
    looks by itself which sizes divide by 16."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._settings = settings
        self._made: dict[tuple[tuple[str, str], ...], Translation | CompileError] = {}
        self.words = frozenset(re.findall(r"[A-Za-z_]\w*", source.text))

    def __call__(self, defines: Mapping[str, Any]) -> Translation | CompileError:
        key = tuple(sorted((name, repr(value)) for name, value in defines.items()))
        if key not in self._made:
            try:
                self._made[key] = self._translated(defines)
            except CompileError as error:
                self._made[key] = error
            except RecursionError:
                deep = Diagnostic("error", "TC318", "the text is nested too deeply", self._source)
                self._made[key] = CompileError((deep,))
        return self._made[key]

    def _translated(self, defines: Mapping[str, Any]) -> Translation:
        translation = translate_as(self._source, defines, self._settings)
        promised = tuple(
            parameter.name
            for parameter in translation.parameters
            if parameter.multiple_of > 1 or parameter.aligned > 1
        )
        if not promised:
            return translation
        settings = Settings(
            self._settings.kernel,
            strict_literals=self._settings.strict_literals,
            without_promises=promised,
        )
        return translate_as(self._source, defines, settings)


# ---------------------------------------------------------------- folding


Group = tuple[Folded, list[tuple[Known, Variant]]]


def _foldable(
    text: str, chosen: list[tuple[Known, Variant]], function: str | None
) -> tuple[list[Group], str | None]:
    """The folded kernels with the define sets of each: one, or why there are several."""
    try:
        return [(_folded(text, chosen, function), chosen)], None
    except Unfoldable as error:
        reason = str(error)
    groups: list[Group] = []
    for members in _by_signature(chosen):
        try:
            groups.append((_folded(text, members, None), members))
        except Unfoldable:
            groups += [(_folded(text, [member], None), [member]) for member in members]
    return groups, reason


def _folded(text: str, members: Sequence[tuple[Known, Variant]], function: str | None) -> Folded:
    variants = [variant for _, variant in members]
    names = {variant.translation.function for variant in variants}
    return fold(text, variants, function if len(names) > 1 else None)


def _by_signature(chosen: Sequence[tuple[Known, Variant]]) -> Iterator[list[tuple[Known, Variant]]]:
    """Define sets whose functions have the same name and parameters of the same kind."""
    groups: dict[object, list[tuple[Known, Variant]]] = {}
    for known, variant in chosen:
        translation = variant.translation
        kinds = tuple(
            (p.identifier, "*" if isinstance(p.type, PointerType) else p.type.triton)
            for p in translation.parameters
        )
        groups.setdefault((translation.function, kinds), []).append((known, variant))
    yield from groups.values()


def _ported(
    source: Source,
    folded: Folded,
    members: Sequence[tuple[Known, Variant]],
    sweeps: Mapping[str, tuple[Any, ...]],
    failures: Sequence[Failure],
    apart: str | None,
) -> PortedKernel:
    variants = tuple(variant for _, variant in members)
    names = {variant.translation.kernel for variant in variants}
    named_by_define = any(variant.translation.kernel in variant.defines.values() for variant in variants)
    return PortedKernel(
        folded.text,
        folded.function,
        None if named_by_define or len(names) > 1 else names.pop(),
        tuple(_parameters(folded, variants)),
        tuple(Constexpr(name, _kind(name, folded, variants)) for name in folded.constexprs),
        tuple(known for known, _ in members),
        folded.known.families(),
        sweeps,
        tuple(failures),
        source,
        folded,
        variants,
        apart,
    )


def _kind(name: str, folded: Folded, variants: Sequence[Variant]) -> Kind:
    if name in folded.flags:
        return "flag"
    given = [number(variant.defines[name]) for variant in variants if name in variant.defines]
    return "number" if all(isinstance(value, (int, float)) for value in given) else "text"


def _parameters(folded: Folded, variants: Sequence[Variant]) -> Iterator[KernelParameter]:
    for identifier in folded.parameters:
        rows = [
            (variant, parameter)
            for variant in variants
            for parameter in variant.translation.parameters
            if parameter.identifier == identifier
        ]
        first = rows[0][1]
        elements = {_element(parameter) for _, parameter in rows}
        yield KernelParameter(
            first.name,
            identifier,
            isinstance(first.type, PointerType),
            elements.copy().pop() if len(elements) == 1 else None,
            _element_define(rows),
            first.declaration,
            any(parameter.name in variant.translation.reads for variant, parameter in rows),
            any(parameter.name in variant.translation.writes for variant, parameter in rows),
            len(rows) == len(variants),
            any(parameter.retune for _, parameter in rows),
            max(parameter.buffer for _, parameter in rows),
        )


def _element(parameter: Parameter) -> str:
    """The type of a number, or what a pointer points to; a pointer to pointers holds addresses."""
    pointed = parameter.type.element if isinstance(parameter.type, PointerType) else parameter.type
    return pointed.triton if isinstance(pointed, ScalarType) else "int64"


def _element_define(rows: Sequence[tuple[Variant, Parameter]]) -> str | None:
    """The define that the declaration names in place of a type."""
    word = re.match(r"(?:const\s+)?([A-Za-z_]\w*)", rows[0][1].declaration)
    return word[1] if word is not None and word[1] in rows[0][0].defines else None
