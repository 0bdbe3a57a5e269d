"""What a ported kernel does not say itself: what its ``Source`` declares.

Input: a ported kernel. Output: a ``Serves``: which of its defines are no integers, and which it is not for; the
types of the parameters, with those that differ under a condition; and for one of the several functions of a text
the condition that chooses it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pytriton.emit.python import PRECEDENCE, show
from pytriton.fold.polish import names_assigned
from pytriton.fold.separations import Separations
from pytriton.fold.variants import Set, Variants
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.port.kernels import PortedKernel


@dataclass(frozen=True)
class ConditionLambda:
    """``lambda A=None, B=None: terms`` for the ``names``: all of the terms hold."""

    names: tuple[str, ...]
    terms: tuple[str, ...]

    @property
    def pieces(self) -> list[str]:
        """The terms, cut where a line may end: before an operator, a bracket, or the next entry of a list."""
        return re.findall(r'(?:"[^"]*"|[^" ]|(?<!,) (?!and |or |\())+', " and ".join(self.terms))


@dataclass(frozen=True)
class Change:
    """Parameters that have other types where a condition holds; None for one that is not there."""

    condition: ConditionLambda
    types: Mapping[str, str | None]


@dataclass(frozen=True)
class Serves:
    """All of it; ``types`` are those of the parameters where no change holds.

    ``texts``: the constexprs that are neither integers nor flags. ``closed``: defines in capitals that it is not
    for, whatever their values. Others that are not in capitals are all refused, but for the ``unused``.
    """

    texts: tuple[str, ...]
    condition: ConditionLambda
    types: Mapping[str, str]
    changes: tuple[Change, ...]
    closed: tuple[str, ...]
    unused: tuple[str, ...]


def serves(ported: PortedKernel) -> Serves:
    """What a kernel is for."""
    leaves, constexprs = ported.folded.leaves, ported.folded.constexprs
    terms = tuple(show(term, PRECEDENCE["and"]) for term in leaves.served) if ported.unfoldable else ()
    for name, words in leaves.words.items():  # the launcher chooses by the define, not by its pointer
        terms = tuple(term.replace(f"{leaves.types[name]}.dtype.element_ty", name) for term in terms)
        for value, word in words.items():
            terms = tuple(re.sub(rf"{word}\b", f'"{value}"', term) for term in terms)
    defines = {name for variant in ported.variants for name in variant.defines}
    types, changes = _types(ported)
    own = {*names_assigned(ported.folded.tree.body), *types}  # which the launcher refuses
    used = {*constexprs, *leaves.closed}
    used.update(ported.arguments.names.values() if ported.arguments else ())
    return Serves(
        tuple(name for name in constexprs if name not in (*leaves.integers, *leaves.flags)),
        _condition(terms, defines),
        types,
        tuple(changes),
        tuple(name for name in leaves.closed if name.isupper() and name not in own),
        tuple(sorted(name for name in ported.given - used if not name.isupper())),
    )


def _condition(terms: tuple[str, ...], defines: Collection[str]) -> ConditionLambda:
    """The terms and the defines that they name."""
    return ConditionLambda(tuple(dict.fromkeys(word for word in _words(terms) if word in defines)), terms)


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", text))


# ---------------------------------------------------------------- parameters


def _types(ported: PortedKernel) -> tuple[dict[str, str], list[Change]]:
    """The type of each parameter where most sets have it, and what is otherwise."""
    variants = Variants(ported.variants, ported.folded_text)
    conditions = Separations(ported.folded_text, variants, {}, elements=False)
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
        changes.append(Change(_condition((text,), variants.values), changed))
    return types, changes


def _declared(ported: PortedKernel, name: str) -> dict[str | None, Set]:
    """The types that a parameter can be declared with, each with the variants for which it is true."""
    declared: dict[str | None, Set] = {}
    for place, (defines, translation) in enumerate(ported.variants):
        parameter = next((p for p in translation.parameters if p.identifier == name), None)
        for type_ in _spellings(parameter, defines):
            declared[type_] = declared.get(type_, 0) | 1 << place
    return declared


def _spellings(parameter: Parameter | None, defines: Mapping[str, object]) -> Iterator[str | None]:
    """``float*``, and ``TYPE*`` if a define is the same type; ``long``. None if there is no such parameter."""
    if parameter is None:
        yield None
        return
    pointed, mark = parameter.type, ""
    if isinstance(pointed, PointerType):
        pointed, mark = pointed.element, "*"
    element = "long" if isinstance(pointed, PointerType) else pointed.name
    names = [name for name, value in defines.items() if value == element and not isinstance(value, bool)]
    word = re.match(r"(?:const\s+)?([A-Za-z_]\w*)", parameter.declaration)
    if word is not None and word[1] in defines:
        names = [word[1]]
    else:
        yield f"{element}{mark}"
    yield from (f"{name}{mark}" for name in names)
