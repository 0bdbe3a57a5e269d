"""What a launcher must know to pick a kernel: a plan made from the variants, before any text is written.

A variant is picked by the element types of the tensors, then by *selectors*: defines or conditions of the
old code that become keywords (``at=True``). Values of a sweep pick nothing: if they lead to several
variants, the first is tuned and the others are reached by ``config=``. A number that the old code computed is
a keyword too; its default is the old expression where that is made of parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytriton.emit.names import identifier
from pytriton.emit.python import Node
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.port.jobs.points import Point
from pytriton.port.jobs.rewrite import Passed, constant_or_entry, grid_node, in_parameters
from pytriton.port.jobs.variants import Numbers, Ported, Variant, is_power
from pytriton.port.read.values import Unknown

__all__ = [
    "POWER",
    "Detail",
    "Entry",
    "Keyword",
    "Plan",
    "Setting",
    "ShapesDifferError",
    "plan",
    "pointers",
    "setting_of",
]


@dataclass(frozen=True)
class Setting:
    """One config: the numbers that the kernel takes, ``num_warps`` and ``num_stages``."""

    numbers: tuple[tuple[str, int | float], ...]
    warps: int | None
    stages: int | None


@dataclass(frozen=True, eq=False)
class Entry:
    """What is picked for one combination of element types and selectors.

    ``words`` are the element types, one for each group of pointers; ``selected`` the selectors' values.
    """

    words: tuple[str, ...]
    selected: tuple[Any, ...]
    variants: list[Variant] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)


@dataclass(frozen=True)
class Keyword:
    """A number that the caller gives: by its define, with its default expression and what it may be."""

    define: str
    name: str
    default: Node | None
    rule: Numbers
    odd: bool  # besides, every number that is no power of two
    was: str


@dataclass(frozen=True)
class Detail:
    """The type of a floating-point number, where it differs from kernel to kernel."""

    parameter: str
    name: str

    def of(self, entry: Entry) -> ScalarType | PointerType:
        """The type for one entry."""
        parameters = entry.variants[0].translation.parameters
        return next(parameter.type for parameter in parameters if parameter.name == self.parameter)


class ShapesDifferError(Exception):
    """The kernels of a text do not take the same parameters, so they cannot share a launcher."""


@dataclass(eq=False)
class Plan:
    """The launcher of one kernel. ``groups``: pointers that always have the same element type.

    ``settings`` are the configs of each variant. ``grid`` None: the caller gives it. ``filtered``: the
    condition that picked configs, which the caller must apply now.
    """

    ported: Ported
    parameters: tuple[Parameter, ...]
    groups: list[tuple[str, ...]]
    selectors: list[tuple[str, str]]  # the define or condition, and the keyword's name
    keywords: list[Keyword]
    entries: list[Entry]
    settings: dict[Variant, list[Setting]]
    grid: Node | None
    filtered: str | None
    key: tuple[str, ...]
    details: list[Detail]

    def selected(self, point: Point, decisions: Mapping[str, bool]) -> tuple[Any, ...]:
        """The selectors' values at a point."""
        return tuple(_selected(point, decisions, name) for name, _ in self.selectors)


def plan(ported: Ported) -> Plan:
    """The plan for a kernel with at least one variant."""
    parameters = ported.variants[0].translation.parameters
    groups = _groups(ported.variants)
    rows = [
        (tuple(_word(row[group[0]]) for group in groups), point, variant)
        for variant in ported.variants
        for row in variant.rows
        for point in variant.points
    ]
    selectors = _selectors(rows)
    taken = {parameter.identifier for parameter in parameters} | {"grid", "config"}
    named = [
        (selector, selector if selector.startswith(POWER) else _free(selector, taken))
        for selector in selectors
    ]
    entries: dict[tuple[Any, ...], Entry] = {}
    for words, point, variant in rows:
        for decisions in point.use.decisions or [{}]:
            selected = tuple(_selected(point, decisions, selector) for selector in selectors)
            entry = entries.setdefault((words, repr(selected)), Entry(words, selected))
            if variant not in entry.variants:
                entry.variants.append(variant)
            entry.points.append(point)
    given = _given(ported, frozenset(selectors))
    keywords = _keywords(ported, parameters, given, taken, dict(named))
    settings = {one: _settings(one, frozenset(given)) for one in ported.variants}
    for entry in entries.values():
        entry.variants.sort(key=lambda one: -len(settings[one]))
    return Plan(
        ported,
        parameters,
        groups,
        named,
        keywords,
        list(entries.values()),
        settings,
        _grid(ported, parameters, given),
        next((one.use.filtered for one in _points(ported) if one.use.filtered), None),
        _key(ported, parameters),
        _details(ported),
    )


def _details(ported: Ported) -> list[Detail]:
    """The types of parameters that differ between the variants; raises ShapesDifferError."""
    columns = [variant.translation.parameters for variant in ported.variants]
    if len({tuple(entry.name for entry in row) for row in columns}) > 1:
        raise ShapesDifferError("its parameters depend on its defines")
    details: list[Detail] = []
    for column in zip(*columns, strict=True):
        first = column[0]
        types = {str(entry.type) for entry in column}
        if isinstance(first.type, ScalarType) and len(types) > 1:
            if not types <= {"half", "float", "double", "bfloat16"}:
                raise ShapesDifferError(f"the type of '{first.name}' depends on its defines")
            details.append(Detail(first.name, f"dtype_{first.identifier}"))
    return details


def _points(ported: Ported) -> Iterable[Point]:
    return itertools.chain.from_iterable(variant.points for variant in ported.variants)


def _word(pointer: str) -> str:
    return pointer.rstrip("*")


def _groups(variants: Sequence[Variant]) -> list[tuple[str, ...]]:
    """The pointers whose element type varies, those that vary together in one group."""
    rows = [row for variant in variants for row in variant.rows]
    columns: dict[tuple[str, ...], list[str]] = {}
    for name in rows[0] if rows else ():
        column = tuple(row.get(name, "") for row in rows)
        if len(set(column)) > 1:
            columns.setdefault(column, []).append(name)
    return [tuple(names) for names in columns.values()]


# Selectors


POWER: Final = "power of two: "  # before the name of a number: a selector that the launcher computes


def _selected(point: Point, decisions: Mapping[str, bool], name: str) -> Any:
    if name.startswith(POWER):
        return is_power(point.values.get(name.removeprefix(POWER), 0))
    return decisions[name] if name in decisions else point.values.get(name)


def _selectors(rows: Sequence[tuple[tuple[str, ...], Point, Variant]]) -> list[str]:
    """The fewest defines and conditions, simple ones first, that tell the variants apart."""
    chosen: list[str] = []
    left = _conflicts(rows, chosen)
    candidates = _candidates(rows)
    while left and candidates:
        scores = {name: _conflicts(rows, [*chosen, name]) for name in candidates}
        best = min(candidates, key=lambda name: (scores[name], candidates.index(name)))
        if scores[best] >= left:
            break
        chosen.append(best)
        left = scores[best]
    for name in list(chosen):
        others = [point for point in chosen if point != name]
        if _conflicts(rows, others) == left:
            chosen = others
    return chosen


def _candidates(rows: Sequence[tuple[tuple[str, ...], Point, Variant]]) -> list[str]:
    points = list(dict.fromkeys(point for _, point, _ in rows))
    every = [decisions for point in points for decisions in point.use.decisions]
    flags: list[str] = []
    numbers: list[str] = []
    texts: list[str] = []
    for name in dict.fromkeys(name for point in points for name in point.values):
        if any(name in point.tuned for point in points):
            continue
        values = [point.values.get(name) for point in points]
        if len({repr(value) for value in values}) < 2:
            continue
        kinds = {type(value) for value in values if value is not None}
        (flags if kinds <= {bool} else texts if str in kinds else numbers).append(name)
    conditions = [
        name
        for name in dict.fromkeys(itertools.chain.from_iterable(every))
        if name.isidentifier() and all(name in element for element in every)
    ]
    powers = [
        f"{POWER}{name}"
        for name in numbers
        if all(name in point.opened and isinstance(point.values.get(name), int) for point in points)
    ]
    return [*flags, *conditions, *powers, *numbers, *texts]


def _conflicts(rows: Sequence[tuple[tuple[str, ...], Point, Variant]], chosen: Sequence[str]) -> int:
    """How many variants too many there are for one choice of types, selectors and swept values."""
    conflicts: dict[Any, set[int]] = {}
    for words, point, variant in rows:
        swept = tuple(sorted((name, repr(point.values.get(name))) for name in point.tuned))
        for decisions in point.use.decisions or [{}]:
            key = (words, tuple(repr(_selected(point, decisions, name)) for name in chosen), swept)
            conflicts.setdefault(key, set()).add(id(variant))
    return sum(len(variants) - 1 for variants in conflicts.values())


def _free(name: str, taken: set[str]) -> str:
    free = identifier(name, frozenset(taken))
    taken.add(free)
    return free


# Numbers


def _given(ported: Ported, selectors: frozenset[str]) -> dict[str, str]:
    """The constexprs that the caller gives: the define of each, and how the old code spelled it.

    They are the open numbers, and those that launches fix to different values without sweeping them: only
    the caller knows which is meant.
    """
    names = dict.fromkeys(name for variant in ported.variants for name in _defines(variant).values())
    given: dict[str, str] = {}
    for name in names:
        points = list(_taking(ported, name))
        opened = [point for point in points if name in point.opened]
        tuned = any(name in point.tuned for point in points)
        values = {repr(point.values[name]) for point in points}
        if opened:
            given[name] = min((point.use.open[name].text for point in opened), key=len)
        elif not tuned and len(values) > 1:
            given[name] = name
    return given


def _taking(ported: Ported, define: str) -> Iterable[Point]:
    """The points of those kernels that take a define as a number."""
    for variant in ported.variants:
        if define in _defines(variant).values():
            yield from (point for point in variant.points if define in point.values)


def _defines(variant: Variant) -> dict[str, str]:
    """The constexprs of a kernel: identifier -> define."""
    known = {identifier(name): name for point in variant.points[:1] for name in point.values}
    return {
        constexpr: known.get(constexpr, known.get(constexpr.rstrip("_"), constexpr))
        for constexpr in variant.translation.constexprs
    }


def _keywords(
    ported: Ported,
    parameters: Sequence[Parameter],
    given: Mapping[str, str],
    taken: set[str],
    selectors: Mapping[str, str],
) -> list[Keyword]:
    keywords: list[Keyword] = []
    names = [parameter.identifier for parameter in parameters]
    for define, was in given.items():
        rules = [variant.numbers[define] for variant in ported.variants if define in variant.numbers]
        fixed = {point.values[define] for point in _taking(ported, define)}
        odd = "odd" in rules
        rules = [rule for rule in rules if rule != "odd"]
        rule: Numbers = _narrowest(rules) if rules else tuple(sorted(int(_number(rule)) for rule in fixed))
        defaults: dict[str, Node | None] = {}
        for point in _points(ported):
            value = point.use.open.get(define)
            if isinstance(value, Unknown):
                node = in_parameters(value, Passed(point.use.arguments, names), lambda name: None)
                defaults[repr(node)] = node
        default = next(iter(defaults.values())) if len(defaults) == 1 else None
        name = selectors.get(define) or _free(define, taken)
        keywords.append(Keyword(define, name, default, rule, odd, was))
    return keywords


def _narrowest(rules: Sequence[Numbers]) -> Numbers:
    """The values that every variant allows; powers of two and other numbers have variants of their own."""
    lists = [set(rule) for rule in rules if isinstance(rule, tuple)]
    if lists:
        powers = [{number for number in some if is_power(number)} for some in lists]
        others = [{number for number in some if not is_power(number)} for some in lists]
        common = [
            set.intersection(*filled) for some in (powers, others) if (filled := [s for s in some if s])
        ]
        return tuple(sorted(set().union(*common)))
    return "positive" if "positive" in rules else "any"


def _settings(variant: Variant, given: frozenset[str]) -> list[Setting]:
    """The configs of a variant, in the order of the sweep."""
    return list(dict.fromkeys(setting_of(variant, point, given) for point in variant.points))


def setting_of(variant: Variant, point: Point, given: frozenset[str]) -> Setting:
    """The config of a point, less the numbers that the caller gives."""
    numbers = tuple(
        (constexpr, _number(point.values.get(define, variant.translation.constexprs[constexpr])))
        for constexpr, define in _defines(variant).items()
        if define not in given
    )
    return Setting(numbers, point.warps, point.stages)


def _number(value: Any) -> int | float:
    """The number that a define stands for; text is a number in C's spelling."""
    if isinstance(value, str):
        text = value.strip()
        if len(text.lstrip("+-")) > 1 and text.lstrip("+-").isdigit() and text.lstrip("+-")[0] == "0":
            return int(text, 8)
        try:
            return int(text, 0)
        except ValueError:
            return float(text)
    return int(value) if isinstance(value, bool) else value


# Grid and key


def _grid(ported: Ported, parameters: Sequence[Parameter], given: Mapping[str, str]) -> Node | None:
    """The grid that all launches agree on."""
    names = [parameter.identifier for parameter in parameters]
    taken = frozenset.intersection(
        *(
            frozenset(name for constexpr, name in _defines(v).items() if constexpr == name)
            for v in ported.variants
        )
    )
    values: dict[str, set[Any]] = {}
    for point in _points(ported):
        for name, value in point.values.items():
            values.setdefault(name, set()).add(value)
    meta = constant_or_entry(values, taken)
    grids: dict[str, Node | None] = {}
    for use in dict.fromkeys(point.use for point in _points(ported)):
        if use.line:
            node = grid_node(use.grid, Passed(use.arguments, names), meta)
            grids[repr(node)] = node
    return next(iter(grids.values())) if len(grids) == 1 else None


def _key(ported: Ported, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """The parameters whose values call for new tuning, as the runtime has it."""
    asked = {name for point in _points(ported) for name in point.use.key}
    names = [parameter.identifier for parameter in parameters if parameter.retune or parameter.name in asked]
    if not names:
        names = [parameter.identifier for parameter in parameters if _is_integer(parameter)]
    return tuple(names)


def _is_integer(parameter: Parameter) -> bool:
    return isinstance(parameter.type, ScalarType) and parameter.type.kind in ("int", "uint")


def pointers(parameters: Iterable[Parameter]) -> list[Parameter]:
    """The parameters that are tensors."""
    return [parameter for parameter in parameters if isinstance(parameter.type, PointerType)]
