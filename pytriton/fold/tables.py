"""Rows of values -> the shortest equivalent tables over some of the columns.

Input: the known assignments of values to columns. Output: tables; an assignment is known if and only if each table
has its row (the natural join of the tables is the input). Columns that are free of the others have a table of
their own; texts that always go together (``"^a"`` wherever the shape is ``"TK, TM"``) have one for that, so that
only one of them is in the tables with others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Final, NamedTuple

MIN_SAME: Final = 3  # columns that tell each other and have a table of their own
MAX_MODES: Final = 4  # of which all combinations are tried

Row = tuple[object, ...]


class Table(NamedTuple):
    """What the columns ``names`` may be together."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]

    def has(self, values: Callable[[str], object]) -> bool:
        """Whether it has the row of these values."""
        return tuple(map(values, self.names)) in self.rows


def tables(names: Sequence[str], rows: Collection[Row], flags: Collection[str]) -> tuple[Table, ...]:
    """The tables. Those of ``flags`` may be in several: the modes for which the others hold."""
    whole = _projected(Table(tuple(names), tuple(dict.fromkeys(rows))), names)
    made: list[Table] = []
    for component in _components(whole):
        made += _split(_projected(whole, component), flags)
    return tuple(table for table in made if not _says_nothing(table, flags))


def _says_nothing(table: Table, flags: Collection[str]) -> bool:
    return len(table.names) == 1 and table.names[0] in flags and len(table.rows) > 1


def _projected(table: Table, names: Iterable[str]) -> Table:
    """The table over some of its columns, in this order."""
    kept = tuple(names)
    places = [table.names.index(name) for name in kept]
    return Table(kept, tuple(dict.fromkeys(tuple(row[place] for place in places) for row in table.rows)))


def _components(table: Table) -> list[list[str]]:
    """The columns in groups that are free of each other."""
    groups = _linked(table.names, lambda one, other: not _free(_projected(table, (one, other))))
    sizes = [len(_projected(table, group).rows) for group in groups]
    return groups if prod(sizes) == len(table.rows) else [list(table.names)]


def _linked(names: Sequence[str], linked: Callable[[str, str], bool]) -> list[list[str]]:
    """The names in groups: two that are linked are in one."""
    groups = [[name] for name in names]
    for one, other in combinations(names, 2):
        first = next(group for group in groups if one in group)
        second = next(group for group in groups if other in group)
        if first is not second and linked(one, other):
            groups.remove(second)
            first += second
    return groups


def _free(pair: Table) -> bool:
    """Whether the two columns of a table have each value with each."""
    return len(pair.rows) == prod(len({row[place] for row in pair.rows}) for place in (0, 1))


def _split(table: Table, flags: Collection[str]) -> list[Table]:
    """A table as several smaller ones, if they are equivalent."""
    parts = _smallest(table, flags)
    return _without_needless(parts, flags, table) if _says(parts, table) else [table]


def _smallest(table: Table, flags: Collection[str]) -> list[Table]:
    """The smallest tables that may be equivalent: columns that are free of each other in each mode are separate."""
    if len(table.names) == 1 or len(table.rows) == 1:
        return [table]
    modes = [name for name in table.names if name in flags]
    others = [name for name in table.names if name not in modes]

    def determined(one: str, other: str) -> bool:
        return _same(_projected(table, (one, other)))

    def tied(one: str, other: str) -> bool:
        return not _free_within(_projected(table, (*modes, one, other)), 2)

    same = _linked(others, determined)
    parts = [_projected(table, group) for group in same if len(group) >= MIN_SAME]
    first = [name for group in same for name in (group[:1] if len(group) >= MIN_SAME else group)]
    within = _linked(first, tied)
    parts += [_projected(table, (*modes, *group)) for group in within]
    return parts + [_projected(table, modes)] * bool(modes)


def _same(pair: Table) -> bool:
    """Whether each of two columns determines the other."""
    sizes = {len({row[place] for row in pair.rows}) for place in (0, 1)}
    return sizes == {len(pair.rows)}


def _free_within(table: Table, count: int) -> bool:
    """Whether the last columns are free of each other wherever the others are the same."""
    groups: dict[Row, list[Row]] = {}
    for row in table.rows:
        groups.setdefault(row[:-count], []).append(row[-count:])
    return all(_free(Table(table.names[-count:], tuple(rows))) for rows in groups.values())


def _without_needless(parts: list[Table], flags: Collection[str], wanted: Table) -> list[Table]:
    """The tables with as few modes as possible, and without redundant tables."""
    for place, table in enumerate(parts):
        others = [*parts[:place], *parts[place + 1 :]]
        fewer = (_projected(table, kept) for kept in _fewer(table.names, flags))
        parts[place] = next(kept for kept in fewer if kept.names and _says([*others, kept], wanted))
    for table in list(parts):
        rest = [other for other in parts if other is not table]
        if rest and _says(rest, wanted):
            parts = rest
    return parts


def _fewer(names: Sequence[str], modes: Collection[str]) -> Iterator[list[str]]:
    """The names with none of the modes, with one of them, and so on."""
    own = [name for name in names if name in modes]
    for count in (*range(min(len(own), MAX_MODES)), len(own)):
        for kept in combinations(own, count):
            yield [name for name in names if name not in own or name in kept]


def _says(some: Sequence[Table], wanted: Table) -> bool:
    """Whether the natural join of some tables is the wanted one."""
    if {name for table in some for name in table.names} != set(wanted.names):
        return False
    found = itertools.islice(_join(some), len(wanted.rows) + 1)
    return {tuple(row[name] for name in wanted.names) for row in found} == set(wanted.rows)


def _join(some: Sequence[Table], given: Mapping[str, object] | None = None) -> Iterator[Mapping[str, object]]:
    """The rows of the natural join, each once."""
    if not some:
        yield given or {}
        return
    for row in some[0].rows:
        here = dict(zip(some[0].names, row, strict=True))
        if all((given or {}).get(name, value) == value for name, value in here.items()):
            yield from _join(some[1:], {**(given or {}), **here})


Cube = tuple[object, ...]


def cubes(rows: set[Row], impossible: set[Row]) -> Iterator[Cube]:
    """Few cubes (None: either value) that cover the rows, and of others only impossible ones."""
    merged: set[Cube] = set(rows)
    prime: set[Cube] = set()
    while merged:
        joined: set[Cube] = set()
        used: set[Cube] = set()
        for cube in merged:
            for at, value in enumerate(cube):
                if value is not None:
                    other = (*cube[:at], not value, *cube[at + 1 :])
                    if other in merged:
                        joined.add((*cube[:at], None, *cube[at + 1 :]))
                        used |= {cube, other}
        prime |= merged - used
        merged = joined
    left = rows - impossible
    order = sorted(prime, key=lambda cube: (-cube.count(None), [str(value) for value in cube]))
    while left:
        best = max(order, key=lambda cube: sum(_covers(cube, row) for row in left))
        yield best
        left = {row for row in left if not _covers(best, row)}


def _covers(cube: Cube, row: Row) -> bool:
    return all(value is None or value == other for value, other in zip(cube, row, strict=True))
