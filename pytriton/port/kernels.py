"""One Triton-C kernel and the define sets that are known of it -> one function of modern Triton.

Input: a text, the name of one of its kernels, and define sets, each read from the code or observed in a run. A
list in a define set is a sweep: its product is known. Output: a ``PortedKernel``, which is all that a package
around it has to know: the module, how each parameter was declared, how old defines become constexprs, and which
define sets it serves. Several come only where the translations cannot be one function (``apart`` says why).

Invariants: define sets whose text is the same are translated once; a ported kernel accepts each of its ``sets``;
``served`` and ``refusal`` say the same. Needs neither torch nor triton: the proof is a step of its own
(prove.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

from pytriton.errors import CompileError
from pytriton.fold.fold import Folded
from pytriton.fold.join import RULES
from pytriton.fold.known import Served
from pytriton.fold.variants import Variant, number
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.legacy.extract import kernels_of, of_kernels
from pytriton.pipeline import Parameter
from pytriton.port.jobs.folds import Failure, Folds, Unportable
from pytriton.port.jobs.translations import Translations, normal, products
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = [
    "ORIGINS",
    "Constexpr",
    "DefineSet",
    "Failure",
    "KernelParameter",
    "Known",
    "PortedKernel",
    "Unportable",
    "element",
    "port_kernel",
]


Origin = Literal["read", "observed", "combined"]
ORIGINS: Final[tuple[Origin, ...]] = ("read", "observed", "combined")
Kind = Literal["switch", "flag", "number", "text"]


@dataclass(frozen=True)
class DefineSet:
    """Defines as a launch gives them (a list is a sweep), and how they were found.

    ``combined`` are flags that are known each by itself. ``swept``: it is one point of a sweep.
    """

    defines: Mapping[str, Any]
    origin: Origin = "read"
    swept: bool = False


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

    switch  True if the define is given, even as False (of ``#ifdef``)
    flag    True if the define is given and not False
    number  the define as a number; a text that is a number is that number
    text    the define as it is
    A define that is not given is None, a switch or a flag False.
    """

    name: str
    kind: Kind


@dataclass(frozen=True)
class PortedKernel:
    """One function for many define sets; see the head of this file.

    ``kernel`` is its name in the text; None where a define names it. ``sweeps``: the values of the defines of which
    a launch gives a list. ``switches``: all defines of that kind. ``variants`` are the distinct translations, for
    the proof.
    """

    text: str
    function: str
    kernel: str | None
    parameters: tuple[KernelParameter, ...]
    constexprs: tuple[Constexpr, ...]
    sets: tuple[Known, ...]
    served: Served
    sweeps: Mapping[str, tuple[Any, ...]]
    failures: tuple[Failure, ...]
    source: Source
    switches: frozenset[str]
    folded: Folded = field(repr=False)
    variants: tuple[Variant, ...] = field(repr=False)
    apart: str | None = None  # why the text became several functions

    @cached_property
    def own_text(self) -> str:
        """The text without the other kernels in it: their lines are empty."""
        names = {variant.translation.kernel for variant in self.variants}
        try:
            known = names <= set(kernels_of(self.source.text))
            return of_kernels(self.source, sorted(names)) if known else self.source.text
        except CompileError:
            return self.source.text

    @property
    def stages(self) -> tuple[int, ...]:
        """How many stages tuning tries of the best points, if a launch leaves that open."""
        return next(filter(None, (variant.translation.traits.stages for variant in self.variants)), ())

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
        return self.folded.bind(self._plain(defines))

    def refusal(self, defines: Mapping[str, Any]) -> str | None:
        """Why a define set is not served; None if it is."""
        return self.folded.known.refusal(self._plain(defines))

    def without(self, sets: Sequence[Mapping[str, Any]]) -> PortedKernel:
        """The kernel that refuses these define sets, and all others of their rows (fold/known.py)."""
        known = self.folded.known.without(map(self._plain, sets))
        folded = self.folded._replace(known=known)
        left = tuple(one for one in self.sets if known.refusal(self._plain(one.defines)) is None)
        return replace(self, folded=folded, sets=left, served=known.served())

    def _plain(self, defines: Mapping[str, Any]) -> dict[str, Any]:
        plain = normal(defines)
        return plain | {name: True for name in self.switches if name in plain}


def port_kernel(
    source: Source,
    kernel: str | None,
    sets: Sequence[DefineSet],
    *,
    function: str | None = None,
    strict_literals: bool = False,
    translations: Translations | None = None,
    rules: Collection[str] = RULES,
) -> tuple[PortedKernel, ...]:
    """The kernel of this name (None: the first) as one function, as several where it cannot be one.

    ``function`` is its name where the names in the define sets share nothing. ``translations``: those made before.
    Beyond the define sets it serves other combinations of their flags and other element types wherever it is the
    same kernel for them. ``rules``: what Triton is trusted to drop (fold/join.py). Raises Unportable.
    """
    if translations is None:
        translations = Translations(source, Settings(kernel, strict_literals=strict_literals))
    known = list(_known(sets, translations))
    swept = any(one.swept for one in sets) or bool(_sweeps(sets))
    folds = Folds(source.text, translations, function, rules, swept)
    folds.add_all([one.defines for one in known])
    widened = [Known(defines, frozenset[Origin](["combined"])) for defines in folds.widen()]
    ported = []
    for folded, variants in folds.members:
        served = [one for one in (*known, *widened) if folded.known.refusal(one.defines) is None]
        ported.append(_ported(folded, variants, served, source, sets, folds))
    return tuple(ported)


# ---------------------------------------------------------------- define sets


def _known(sets: Sequence[DefineSet], translations: Translations) -> Iterator[Known]:
    """Every define set with single values, less the defines that the text does not mention; each once."""
    origins: dict[tuple[tuple[str, str], ...], set[Origin]] = {}
    defines: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
    for given in sets:
        for row in products(normal(given.defines)):
            mentioned = translations.mentioned(row)
            key = tuple(sorted((name, repr(value)) for name, value in mentioned.items()))
            defines.setdefault(key, mentioned)
            origins.setdefault(key, set()).add(given.origin)
    for key, mentioned in defines.items():
        yield Known(mentioned, frozenset(origins[key]))


def _sweeps(sets: Iterable[DefineSet]) -> dict[str, tuple[Any, ...]]:
    """For each define of which a launch gives a list, all values of all lists."""
    values: dict[str, dict[Any, None]] = {}
    for given in sets:
        for name, value in normal(given.defines).items():
            if isinstance(value, tuple) and len(value) > 1:
                values.setdefault(name, {}).update(dict.fromkeys(value))
    return {name: tuple(listed) for name, listed in values.items()}


def _ported(
    folded: Folded,
    variants: Sequence[Variant],
    served: Sequence[Known],
    source: Source,
    sets: Sequence[DefineSet],
    folds: Folds,
) -> PortedKernel:
    names = {variant.translation.kernel for variant in variants}
    named_by_define = any(variant.translation.kernel in variant.defines.values() for variant in variants)
    switches = folds.translations.switches
    return PortedKernel(
        folded.text,
        folded.function,
        None if named_by_define or len(names) > 1 else names.pop(),
        tuple(_parameters(folded, variants)),
        tuple(Constexpr(name, _kind(name, folded, variants, switches)) for name in folded.constexprs),
        tuple(served),
        folded.known.served(),
        _sweeps(sets),
        tuple(folds.failures),
        source,
        switches,
        folded,
        tuple(variants),
        folds.apart,
    )


def _kind(name: str, folded: Folded, variants: Sequence[Variant], switches: frozenset[str]) -> Kind:
    if name in switches:
        return "switch"
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
        elements = {element(parameter) for _, parameter in rows}
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


def element(parameter: Parameter) -> str:
    """The type of a number, or what a pointer points to; a pointer to pointers holds addresses."""
    pointed = parameter.type.element if isinstance(parameter.type, PointerType) else parameter.type
    return pointed.triton if isinstance(pointed, ScalarType) else "int64"


def _element_define(rows: Sequence[tuple[Variant, Parameter]]) -> str | None:
    """The define that the declaration names in place of a type."""
    word = re.match(r"(?:const\s+)?([A-Za-z_]\w*)", rows[0][1].declaration)
    return word[1] if word is not None and word[1] in rows[0][0].defines else None
