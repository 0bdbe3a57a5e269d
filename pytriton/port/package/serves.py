"""Which defines a ported kernel is for, and with which parameters: what its ``Source`` says of them.

Input: a ported kernel. Output: a ``Serves`` for each condition on the defines that are numbers and each list of
parameters: what the other defines may be, as rows of values, each with each.

Invariant: together they accept the define sets that the kernel's families accept; promises aside, since none is
relied upon, and what only promises mention decides nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytriton.fold.known import Family
from pytriton.fold.variants import number
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.port.kernels import PortedKernel

__all__ = ["Row", "Serves", "Types", "flags_of", "serves", "types_of"]

Row = Mapping[str, tuple[object, ...]]
Types = tuple[tuple[str, str | None], ...]  # of each parameter; None where the text lacks it


@dataclass(frozen=True)
class Serves:
    """``numbers`` are the parameters of the condition, ``terms`` its parts, all of which hold."""

    numbers: tuple[str, ...]
    terms: tuple[str, ...]
    types: Types
    rows: tuple[Row, ...]


def serves(ported: PortedKernel) -> list[Serves]:
    """All of them, in the order of the families."""
    mentioned = set(_words([_PROMISE.sub("", ported.source.text)]))
    for known in ported.sets:
        mentioned |= set(_words(value for value in known.defines.values() if isinstance(value, str)))
    types = _Types(ported)
    groups: dict[tuple[tuple[str, ...], tuple[str, ...], Types], dict[_Row, None]] = {}
    for family in ported.families:
        numbers, terms = _condition(family, mentioned)
        for row, of_row in _split(family.values, types):
            shown = _Row({name: values for name, values in row.items() if name in mentioned})
            groups.setdefault((numbers, terms, of_row), {})[shown] = None
    return [Serves(*key, tuple(rows)) for key, rows in groups.items()]


class _Row(dict[str, tuple[object, ...]]):
    """A row that can be a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


_PROMISE: Final = re.compile(r"\b__(?:multipleof|aligned)\s*\([^()]*\)")


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from re.findall(r"[A-Za-z_]\w*", text)


def _condition(family: Family, mentioned: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The numbers and the terms of the condition, less those that only promises mention."""
    numbers = [name for name in family.numbers if name in mentioned]
    terms: list[str] = []
    for condition in family.conditions:
        words = set(_words([condition]))
        if words & set(family.numbers) <= mentioned:
            terms.append(f"({condition})" if " or " in condition or " if " in condition else condition)
            numbers += [name for name in family.values if name in words and name not in numbers]
    return tuple(numbers), tuple(terms)


def flags_of(ported: PortedKernel) -> list[str]:
    """The defines that are given or not: constexprs, and those that only choose between define sets."""
    flags = {constexpr.name: None for constexpr in ported.constexprs if constexpr.kind == "flag"}
    for family in ported.families:
        booleans = (name for name, values in family.values.items() if isinstance(values[0], bool))
        flags |= dict.fromkeys(booleans)
    return list(flags)


# ---------------------------------------------------------------- parameters


class _Types:
    """The types of the parameters for each combination of the defines that are no numbers.

    A switch is True in a variant, or not there; in a row it is False where it is not given.
    """

    def __init__(self, ported: PortedKernel) -> None:
        self._names = list(ported.families[0].values)
        self._flags = set(flags_of(ported))
        self._of: dict[tuple[object, ...], Types] = {}
        for defines, translation in ported.variants:
            present = {p.identifier: _declared(p, defines) for p in translation.parameters}
            types = tuple((p.identifier, present.get(p.identifier)) for p in ported.parameters)
            self._of.setdefault(self._key(defines), types)

    def __call__(self, values: Mapping[str, object]) -> Types:
        return self._of[tuple(values[name] for name in self._names)]

    def _key(self, defines: Mapping[str, object]) -> tuple[object, ...]:
        return tuple(
            defines.get(name) not in (None, False) if name in self._flags else number(defines.get(name))
            for name in self._names
        )


def types_of(ported: PortedKernel, listed: Sequence[Serves]) -> dict[str, str]:
    """The type of each parameter where it has one: the first."""
    types: dict[str, str] = {}
    for parameter in ported.parameters:
        found = (dict(one.types)[parameter.identifier] for one in listed)
        types[parameter.identifier] = next(type_ for type_ in found if type_ is not None)
    return types


def _split(row: Row, types: _Types) -> Iterator[tuple[Row, Types]]:
    """Parts of a row whose define sets have the same parameters."""
    combinations = [dict(zip(row, values, strict=True)) for values in itertools.product(*row.values())]
    found = {types(values) for values in combinations}
    if len(found) == 1:
        yield row, found.pop()
        return
    for name, values in row.items():
        groups: dict[frozenset[Types], list[object]] = {}
        for value in values:
            of_value = frozenset(types(each) for each in combinations if each[name] == value)
            groups.setdefault(of_value, []).append(value)
        if len(groups) > 1:
            for members in groups.values():
                yield from _split({**row, name: tuple(members)}, types)
            return
    first = next(name for name, values in row.items() if len(values) > 1)
    for value in row[first]:
        yield from _split({**row, first: (value,)}, types)


_WORDS: Final = {
    "int1": "bool",
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "float16": "half",
    "float32": "float",
    "float64": "double",
}


def _declared(parameter: Parameter, defines: Mapping[str, object]) -> str:
    """``float*``, ``TYPE*`` where a define says it, ``long``."""
    pointer = isinstance(parameter.type, PointerType)
    pointed = parameter.type.element if isinstance(parameter.type, PointerType) else parameter.type
    element = "long" if isinstance(pointed, PointerType) else _WORDS.get(pointed.triton, pointed.triton)
    word = re.match(r"(?:const\s+)?([A-Za-z_]\w*)", parameter.declaration)
    name = word[1] if word is not None and word[1] in defines else element
    return f"{name}{'*' * pointer}"
