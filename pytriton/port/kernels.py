"""One Triton-C kernel and its known define sets -> one function of modern Triton.

Input: a source, the name of one of its kernels, and define sets, each read from the code or observed in a run. A
list in a define set is a sweep: its product is known. Output: a ``PortedKernel``, which is all that a package
needs: the folded kernel, its parameters, the define sets that it accepts, and later their proof (prove.py).

Invariants: define sets with equal translations are folded once; a ported kernel accepts each of its ``sets``;
``accepted`` and ``refusal`` agree. Needs neither torch nor triton.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any, Final, Literal, NamedTuple

from pytriton.errors import counted
from pytriton.fold.fold import Folded, asserting
from pytriton.fold.variants import Variant, Variants, number
from pytriton.port.jobs.folds import Failure, Folds
from pytriton.port.jobs.integer_arguments import Arguments
from pytriton.port.jobs.translations import Translations, key_of, normal, products, text_of_kernels
from pytriton.source import Source

Origin = Literal["read", "observed", "explored"]
ORIGINS: Final[tuple[Origin, ...]] = ("read", "observed", "explored")


@dataclass(frozen=True)
class DefineSet:
    """Defines as a launch gives them (a list is a sweep), and how they were found.

    ``explored`` ones are near those: see jobs/explore.py. ``swept``: it is one point of a sweep.
    """

    defines: Mapping[str, Any]
    origin: Origin = "read"
    swept: bool = False


@dataclass(frozen=True)
class KnownDefines:
    """One known define set: each define has one value. ``origins``: how it was found."""

    defines: Mapping[str, Any]
    origins: frozenset[Origin]


class Difference(NamedTuple):
    """A define set for which the folded kernel is another program, or cannot be compiled."""

    defines: Mapping[str, Any]
    lines: tuple[str, ...]


class Compared(NamedTuple):
    """How many define sets were compared with their translations, and those that differ."""

    tried: int
    different: tuple[Difference, ...]

    @property
    def equal(self) -> int:
        """How many have equal TTIR."""
        return self.tried - len(self.different)


class Proof(NamedTuple):
    """Comparisons of a kernel: its define sets one by one, and its programs in groups."""

    single: Compared
    grouped: Compared

    @property
    def wrong(self) -> tuple[Difference, ...]:
        """All differences: their define sets are refused."""
        return tuple(difference for compared in self for difference in compared.different)


class KernelParameter(NamedTuple):
    """A parameter of the ported function. ``buffer``: bytes of constant memory that the launcher passes."""

    identifier: str
    written: bool
    retune: bool
    buffer: int


@dataclass(frozen=True, eq=False)
class PortedKernel:
    """One function for many define sets; see the head of this file.

    ``kernel`` is its name in the source; None where a define names it. ``sweeps``: the values of the defines of
    which a launch gives a list. ``switches``: the defines that are only given or not; ``given``: all that some set
    has. ``variants`` are the distinct translations. ``arguments``: the defines that are parameters of ``general``,
    and variables of ``folded``. ``proof``: None where Triton is not installed. ``constants``: the
    defines that have one value in all sets, and are not parameters.
    """

    kernel: str | None
    parameters: tuple[KernelParameter, ...]
    sets: tuple[KnownDefines, ...]
    sweeps: Mapping[str, tuple[Any, ...]]
    failures: tuple[Failure, ...]
    source: Source
    switches: frozenset[str]
    given: frozenset[str]
    folded: Folded = field(repr=False)
    general: Folded = field(repr=False)
    variants: tuple[Variant, ...] = field(repr=False)
    constants: Mapping[str, int | float]
    arguments: Arguments | None = None
    proof: Proof | None = None

    @property
    def text(self) -> str:
        """The module with the function."""
        return self.folded.text

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.folded.function

    @property
    def folded_text(self) -> str:
        """The text that was folded: that of the kernel, perhaps with parameters for defines."""
        return self.arguments.translations.text if self.arguments else self.own_text

    @cached_property
    def own_text(self) -> str:
        """The source without its other kernels: their lines are empty."""
        return text_of_kernels(self.source, sorted({variant.translation.kernel for variant in self.variants}))

    @property
    def stages(self) -> tuple[int, ...]:
        """The numbers of stages that tuning tries for the best configs, if a launch leaves that open."""
        return next(filter(None, (variant.translation.traits.stages for variant in self.variants)), ())

    def bind(self, defines: Mapping[str, Any]) -> dict[str, object]:
        """The constexprs for a define set."""
        return self.folded.bind(self._plain(defines))

    def refusal(self, defines: Mapping[str, Any]) -> str | None:
        """Why a define set is refused; None if it is accepted."""
        if self.arguments and not self.arguments.accepts(normal(defines)):
            return (
                f"{', '.join(self.arguments.names.values())} must be integers, or name parameters of type int"
            )
        other = [name for name, value in self.constants.items() if number(defines.get(name)) != value]
        if other:
            return f"{other[0]} is {self.constants[other[0]]!r} in the kernel"
        return self.folded.leaves.refusal(self._plain(defines))

    def without(self, sets: Sequence[Mapping[str, Any]]) -> PortedKernel:
        """The kernel that refuses these define sets, and all others of their leaves (fold/leaves.py)."""
        leaves = self.folded.leaves.without(map(self._plain, sets))
        folded = asserting(self.folded.tree, leaves, self.folded.grouped)
        return replace(self, folded=folded).of_sets(self.sets)

    def of_sets(self, sets: Sequence[KnownDefines]) -> PortedKernel:
        """The kernel with those of the define sets that it accepts."""
        return replace(self, sets=tuple(member for member in sets if self.refusal(member.defines) is None))

    def summary(self) -> str:
        """``84 define sets (80 observed, 4 explored), 84 proved by TTIR; 17 of 17 in groups``."""
        if self.proof is None:
            return "not proved"
        single, grouped = self.proof
        counts = Counter(origin for member in self.sets for origin in member.origins)
        origins = ", ".join(f"{counts[origin]} {origin}" for origin in ORIGINS if counts[origin])
        tried = "" if single.tried == len(self.sets) else f"{single.tried} tried, "
        summary = f"{counted(len(self.sets), 'define set')} ({origins}), {tried}{single.equal} proved by TTIR"
        if single.different:
            summary += f", {len(single.different)} differ"
        if grouped.tried:
            summary += f"; {grouped.equal} of {grouped.tried} in groups"
        return summary

    def specialised(self, defines: Mapping[str, Any]) -> str:
        """The body for a define set, and the values that it has."""
        return self.folded.specialised(self._plain(defines))

    def _plain(self, defines: Mapping[str, Any]) -> dict[str, Any]:
        plain = {n: value for n, value in normal(defines).items() if n not in self.constants}
        return plain | {name: True for name in self.switches if name in plain}


def port_kernel(
    translations: Translations,
    sets: Sequence[DefineSet],
    function: str | None = None,
    arguments: Arguments | None = None,
) -> PortedKernel:
    """The kernel that these are translations of, as one function.

    ``function`` is its name where the names in the define sets share nothing. Beyond the define sets it accepts
    those near them that jobs/explore.py finds. ``arguments``: the defines that become parameters; that needs a
    proof (prove.py). Raises Unportable.
    """
    singles = list(known_defines(sets, translations))
    sweeps = _sweeps(sets)
    swept = any(member.swept for member in sets) or bool(sweeps)
    own = arguments.translations if arguments else translations
    folds = Folds(own.text, own, function, swept)
    free = [translations.free(member.defines) for member in singles]
    rows = [arguments.without(row) if arguments else row for row in free]
    folds.add_all(list({key_of(row): row for row in rows}.values()))
    numbers = {**translations.constants, **(arguments.numbers if arguments else {})}
    explored = [KnownDefines({**s, **numbers}, frozenset(["explored"])) for s in folds.explore(rows)]
    folded = arguments.in_body(folds.folded) if arguments else folds.folded
    kernel = PortedKernel(
        _name(folds.variants),
        tuple(_parameters(folded, folds.variants)),
        (),
        sweeps,
        tuple(folds.failures),
        translations.source,
        translations.switches,
        frozenset(name for entry in sets for name in entry.defines),
        folded,
        folds.folded,
        tuple(folds.variants),
        translations.constants,
        arguments,
    )
    return kernel.of_sets((*singles, *explored))


def _name(variants: Sequence[Variant]) -> str | None:
    """The name of a kernel in its source; None where a define names it."""
    names = {variant.translation.kernel for variant in variants}
    by_define = any(variant.translation.kernel in variant.defines.values() for variant in variants)
    return None if by_define or len(names) > 1 else names.pop()


# ---------------------------------------------------------------- define sets


def known_defines(sets: Sequence[DefineSet], translations: Translations) -> Iterator[KnownDefines]:
    """Every define set with single values, without the defines that the source does not mention; each once."""
    rows: dict[object, tuple[dict[str, Any], set[Origin]]] = {}
    for entry in sets:
        for row in products(normal(entry.defines)):
            mentioned = translations.mentioned(row)
            rows.setdefault(key_of(mentioned), (mentioned, set()))[1].add(entry.origin)
    for mentioned, origins in rows.values():
        yield KnownDefines(mentioned, frozenset(origins))


def constants(
    sets: Sequence[Mapping[str, Any]], translations: Translations, names: Collection[str]
) -> dict[str, int | float]:
    """Those of the defines that are flags or numbers, and that all of these sets give alike."""
    variants = Variants(translations.variants(sets), translations.text)
    alike = {name: values[0] for name, values in variants.values.items() if len({*map(repr, values)}) == 1}
    free = {n: v for n, v in alike.items() if n in {*names} - {*variants.spelled, *variants.inner}}
    numbers = {n: v + 0 for n, v in free.items() if isinstance(v, int | float) and isfinite(v)}
    return numbers | {name: True for name in free if name in translations.switches}


def _sweeps(sets: Iterable[DefineSet]) -> dict[str, tuple[Any, ...]]:
    """All values of each define for which a launch gives a list."""
    values: dict[str, dict[Any, None]] = {}
    for entry in sets:
        for name, value in normal(entry.defines).items():
            if isinstance(value, tuple) and len(value) > 1:
                values.setdefault(name, {}).update(dict.fromkeys(value))
    return {name: tuple(listed) for name, listed in values.items()}


def _parameters(folded: Folded, variants: Sequence[Variant]) -> Iterator[KernelParameter]:
    for identifier in folded.parameters:
        rows = [
            (parameter, parameter.name in variant.translation.writes)
            for variant in variants
            for parameter in variant.translation.parameters
            if parameter.identifier == identifier
        ]
        yield KernelParameter(
            identifier,
            any(written for _, written in rows),
            any(parameter.retune for parameter, _ in rows),
            max(parameter.buffer for parameter, _ in rows),
        )
