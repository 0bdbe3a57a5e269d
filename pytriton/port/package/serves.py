"""Which defines a ported kernel is for, and with which parameters: what its ``Source`` says of them.

Input: a ported kernel. Output: a ``Serves``: what texts and types may be, alone or together; a condition on the
others; and the declared parameters, with those that differ under a condition.

Invariant: it accepts the define sets that the kernel does; promises aside, since none is relied upon, and what only
promises mention decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytriton.emit.python import show
from pytriton.fold.conditions import Conditions
from pytriton.fold.tables import Table
from pytriton.fold.variants import Set, Variants
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.port.kernels import PortedKernel

__all__ = ["Change", "Condition", "Serves", "flags_of", "serves"]


@dataclass(frozen=True)
class Condition:
    """``lambda numbers, others=None: terms``: all of the terms hold, and the numbers are numbers."""

    numbers: tuple[str, ...]
    others: tuple[str, ...]
    terms: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """Parameters that have other types where a condition holds; None for one that is not there."""

    condition: Condition
    types: Mapping[str, str | None]


@dataclass(frozen=True)
class Serves:
    """All of it; ``types`` are those of the parameters where no change holds."""

    condition: Condition
    tables: tuple[Table, ...]
    types: Mapping[str, str]
    changes: tuple[Change, ...]


def serves(ported: PortedKernel) -> Serves:
    """What a kernel is for."""
    mentioned = set(_words([_UNUSED.sub("", ported.own_text)]))
    for known in ported.sets:
        mentioned |= set(_words(value for value in known.defines.values() if isinstance(value, str)))
    served = ported.served
    terms = [c for c in served.conditions if {w for w in _words([c]) if w in _defines(ported)} <= mentioned]
    numbers = tuple(name for name in served.numbers if name in mentioned and name not in served.optional)
    asked = dict.fromkeys(word for word in _words(terms) if word in _defines(ported) and word not in numbers)
    tables = tuple(table for table in served.tables if set(table.names) <= mentioned)
    types, changes = _types(ported)
    return Serves(Condition(numbers, tuple(asked), tuple(_grouped(terms))), tables, types, tuple(changes))


_UNUSED: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\b__(?:multipleof|aligned)\s*\([^()]*\)", re.DOTALL)
_POWER: Final = re.compile(r"(\w+) == triton\.next_power_of_2\(\1\)")


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", text))


def _defines(ported: PortedKernel) -> set[str]:
    return {name for variant in ported.variants for name in variant.defines}


def _grouped(terms: Sequence[str]) -> Iterator[str]:
    """The terms, those that ask for powers of two as one."""
    powers = [match[1] for match in map(_POWER.fullmatch, terms) if match]
    if powers:
        yield f"power_of_2({', '.join(powers)})"
    for term in terms:
        if not _POWER.fullmatch(term):
            yield f"({term})" if re.search(r" or | if ", term) and not term.startswith("not (") else term


def flags_of(ported: PortedKernel) -> list[str]:
    """The defines that are given or not: constexprs, and those that only choose between define sets."""
    flags = {constexpr.name: None for constexpr in ported.constexprs if constexpr.kind == "flag"}
    variants = Variants(ported.variants, ported.source.text)
    flags |= dict.fromkeys(name for name in variants.values if variants.is_flag(name))
    return list(flags)


# ---------------------------------------------------------------- parameters


def _types(ported: PortedKernel) -> tuple[dict[str, str], list[Change]]:
    """The type of each parameter where most sets have it, and what is otherwise."""
    variants = Variants(ported.variants, ported.source.text)
    conditions = Conditions(ported.source.text, variants, {}, elements=False)
    types: dict[str, str] = {}
    others: dict[tuple[Set, Set], dict[str, str | None]] = {}
    for parameter in ported.parameters:
        declared = _declared(ported, parameter.identifier)
        usual = max((type_ for type_ in declared if type_), key=lambda type_: (declared[type_]).bit_count())
        types[parameter.identifier] = usual
        for type_, of in declared.items():
            least = of & ~declared[usual]
            if least:
                others.setdefault((least, of), {})[parameter.identifier] = type_
    changes = []
    for (least, most), changed in others.items():
        text = show(conditions.between(least, most).node)
        asked = tuple(dict.fromkeys(word for word in _words([text]) if word in variants.values))
        changes.append(Change(Condition((), asked, (text,)), changed))
    return types, changes


def _declared(ported: PortedKernel, name: str) -> dict[str | None, Set]:
    """The types that a parameter can be declared with, each with the variants of which it is true."""
    declared: dict[str | None, Set] = {}
    for place, (defines, translation) in enumerate(ported.variants):
        parameter = next((p for p in translation.parameters if p.identifier == name), None)
        for type_ in _spellings(parameter, defines):
            declared[type_] = declared.get(type_, 0) | 1 << place
    return declared


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


def _spellings(parameter: Parameter | None, defines: Mapping[str, object]) -> Iterator[str | None]:
    """``float*``, and ``TYPE*`` if a define is the same type; ``long``. None if there is no such parameter."""
    if parameter is None:
        yield None
        return
    pointer = isinstance(parameter.type, PointerType)
    pointed = parameter.type.element if isinstance(parameter.type, PointerType) else parameter.type
    element = "long" if isinstance(pointed, PointerType) else _WORDS.get(pointed.triton, pointed.triton)
    mark = "*" * pointer
    names = [name for name, value in defines.items() if value == element and not isinstance(value, bool)]
    word = re.match(r"(?:const\s+)?([A-Za-z_]\w*)", parameter.declaration)
    if word is not None and word[1] in defines:
        names = [word[1]]
    else:
        yield f"{element}{mark}"
    yield from (f"{name}{mark}" for name in names)
