"""The map: a text and its variants -> one kernel.

read each variant -> name padded sizes -> merge the bodies -> say each comment once -> parameters -> a module
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pytriton.fold.conditions import Conditions
from pytriton.fold.join import Joiner
from pytriton.fold.merge import Merger
from pytriton.fold.padding import Padding
from pytriton.fold.polish import names_read, polished
from pytriton.fold.read import Kernel, Parameter, Statement, Unfoldable, read
from pytriton.fold.variants import Defines, Set, Variant, Variants, number
from pytriton.fold.write import module

__all__ = ["Folded", "fold"]


class Folded(NamedTuple):
    """One kernel for all its define sets. ``constexprs`` are its parameters beside those of the text, in order;
    those in ``flags`` are bools."""

    text: str
    function: str
    constexprs: tuple[str, ...]
    flags: frozenset[str]

    def bind(self, defines: Defines) -> dict[str, object]:
        """The values of the constexprs for a define set."""
        values: dict[str, object] = {}
        for name in self.constexprs:
            value = number(defines.get(name))
            values[name] = value is not None and value is not False if name in self.flags else value
        return values


def fold(text: str, variants: Sequence[Variant], function: str | None = None) -> Folded:
    """One kernel, called ``function``, that is each variant with that variant's constexprs.

    Raises Unfoldable where the variants cannot be one function.
    """
    known = Variants(variants)
    kernels = _kernels(known)
    padding = Padding([kernel for kernel, _ in kernels])
    conditions = Conditions(text, known, padding.sizes)
    bodies = [(padding.named(kernel.body), of) for kernel, of in kernels]
    merger = Merger(Joiner(known, padding.sizes, padding.masks), conditions, _reads(bodies))
    merged = polished(merger.merged(bodies, known.all), text, known)
    body = (*padding.definitions(known), *merged)
    name = function or _common_name([kernel.function for kernel, _ in kernels])
    constexprs = _constexprs(known, body, text)
    flags = frozenset(name for name in constexprs if known.is_flag(name))
    parameters = _parameters([kernel for kernel, _ in kernels], known, constexprs)
    folded = Kernel(
        name,
        _union(kernel.above for kernel, _ in kernels),
        parameters,
        body,
        _union(kernel.helpers for kernel, _ in kernels),
        _union(kernel.imports for kernel, _ in kernels),
    )
    return Folded(module(folded), name, constexprs, flags)


def _kernels(variants: Variants) -> list[tuple[Kernel, Set]]:
    """The kernels that differ, with the variants of each."""
    of: dict[tuple[str, str], Set] = {}
    lines: dict[tuple[str, str], Mapping[int, int]] = {}
    for place, variant in enumerate(variants.variants):
        key = variant.translation.text, variant.translation.function
        of[key] = of.get(key, 0) | 1 << place
        lines.setdefault(key, variant.translation.lines)
    return [(read(*key, lines[key]), members) for key, members in of.items()]


def _union(rows: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for row in rows for text in row))


def _common_name(names: Sequence[str]) -> str:
    """The name of all; of ``sdd_kernel`` and ``dsd_kernel``, what they share."""
    if len(set(names)) == 1:
        return names[0]
    parts = [name.split("_") for name in names]
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    return "_".join(shared) or "kernel"


def _reads(bodies: Iterable[tuple[Sequence[Statement], Set]]) -> dict[str, Set]:
    """For each name, the variants that read it."""
    reads: dict[str, Set] = {}
    for body, of in bodies:
        for name in names_read(body):
            reads[name] = reads.get(name, 0) | of
    return reads


# ---------------------------------------------------------------- parameters


def _constexprs(variants: Variants, body: Sequence[Statement], text: str) -> tuple[str, ...]:
    """The constexprs of the variants and the defines that conditions ask for, in the order of the text."""
    names = dict.fromkeys(name for variant in variants.variants for name in variant.translation.constexprs)
    mentioned = names_read(body)
    declared = {
        parameter.identifier for variant in variants.variants for parameter in variant.translation.parameters
    }
    names |= dict.fromkeys(n for n in variants.values if n in mentioned and n not in declared)
    places = {name: re.search(rf"\b{re.escape(name)}\b", text) for name in names if name in mentioned}
    return tuple(sorted(places, key=lambda name: match.start() if (match := places[name]) else len(text)))


def _parameters(
    kernels: Sequence[Kernel], variants: Variants, constexprs: Sequence[str]
) -> tuple[Parameter, ...]:
    """The parameters that all variants share, then the constexprs."""
    rows: dict[str, list[Parameter]] = {}
    orders: set[tuple[str, ...]] = set()
    for kernel in kernels:
        plain = [parameter for parameter in kernel.parameters if parameter.annotation != "tl.constexpr"]
        orders.add(tuple(parameter.name for parameter in plain))
        for parameter in plain:
            rows.setdefault(parameter.name, []).append(parameter)
    if len(orders) > 1:
        raise Unfoldable("the parameters of the variants differ")
    made = []
    for name, row in rows.items():
        annotations = {parameter.annotation for parameter in row}
        if len(annotations) > 1:
            raise Unfoldable(f"the type of {name} is {' or '.join(sorted(annotations))}")
        notes = list(dict.fromkeys(parameter.note for parameter in row))
        if len(notes) > 1:  # a promise that only some variants make is the launcher's affair
            notes = [note for note in notes if note and not note.startswith("multiple of")]
        made.append(Parameter(name, annotations.pop(), _union(p.above for p in row), " or ".join(notes)))
    return (*made, *(Parameter(name, "tl.constexpr", (), "") for name in constexprs))
