"""The bodies of variants -> the statements of the folded kernel.

First rows: a row holds at most one statement of each variant, and the rows that a variant has, in order, are its
statements. Bodies are added one by one (progressive alignment), by the longest common subsequence in which a pair
counts more the more its two statements are alike. Rows that only some variants have are in the order of the source.

Then one body in which each variant finds its own statements under constexpr ``if``s. A row whose versions are
joined (join.py) is one statement; versions that differ in one or two small parts have ``a if FLAG else b`` there;
any other is in an ``if``, together with neighbours that the same variants have.

Invariant: with the conditions of a variant decided, what is left is the body of that variant, up to joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, Block, Call, Conditional, Node, Simple, Statement, show
from pytriton.fold.join import Joiner, Version
from pytriton.fold.separations import Separations
from pytriton.fold.variants import Set
from pytriton.fold.walk import children, form, rebuilt, walk
from pytriton.frozen import replace

MAX_CHOICES: Final = 3  # in one statement
MAX_PART: Final = 24  # characters of such a part
MAX_CONDITION: Final = 3  # words of a condition within a statement


# ---------------------------------------------------------------- rows


class Versions(NamedTuple):
    """A statement, and the variants that have it."""

    statement: Statement
    of: Set


Row = list[Versions]
Likeness = Callable[[Versions, Versions], int]  # 0: they cannot be one statement


def align(bodies: Sequence[tuple[Sequence[Statement], Set]], likeness: Likeness) -> list[Row]:
    """The rows of all bodies; those with the most statements come first, so that they set the order."""
    rows: list[Row] = []
    for body, of in sorted(bodies, key=lambda pair: -len(pair[0])):
        rows = _added(rows, [Versions(statement, of) for statement in body], likeness)
    return rows


def _added(rows: list[Row], body: list[Versions], likeness: Likeness) -> list[Row]:
    """The rows with one more body in them."""
    height, width = len(rows), len(body)
    score = [[max(likeness(present, added) for present in row) for added in body] for row in rows]
    best = [[0] * (width + 1) for _ in range(height + 1)]
    for y in range(height - 1, -1, -1):
        for x in range(width - 1, -1, -1):
            paired = score[y][x] and score[y][x] + best[y + 1][x + 1]
            best[y][x] = max(paired, best[y + 1][x], best[y][x + 1])
    merged: list[Row] = []
    y = x = 0
    while y < height or x < width:
        if y < height and x < width and score[y][x] and best[y][x] == score[y][x] + best[y + 1][x + 1]:
            merged.append(_with(rows[y], body[x]))
            y, x = y + 1, x + 1
        elif x == width or (
            y < height and best[y][x] == best[y + 1][x] and not _sooner(body[x], rows[y], best, y, x)
        ):
            merged.append(rows[y])
            y += 1
        else:
            merged.append([body[x]])
            x += 1
    return merged


def _sooner(new: Versions, row: Row, best: list[list[int]], y: int, x: int) -> bool:
    """Whether a new statement comes before a row where both orders are possible: it does in the source."""
    return best[y][x] == best[y][x + 1] and new.statement.line < min(
        version.statement.line for version in row
    )


def _with(row: Row, new: Versions) -> Row:
    """The row with one more statement; the same statement is held once."""
    for place, version in enumerate(row):
        if version.statement == new.statement:
            return [*row[:place], version._replace(of=version.of | new.of), *row[place + 1 :]]
    return [*row, new]


# ---------------------------------------------------------------- merging


class _Item(NamedTuple):
    """A statement of the folded kernel, and the variants that have it."""

    statement: Statement
    of: Set


class Merger:
    """Merges bodies of one kernel."""

    def __init__(self, joiner: Joiner, conditions: Separations, reads: Mapping[str, Set]) -> None:
        """``reads``: for each name the variants that read it."""
        self._joiner = joiner
        self._conditions = conditions
        self._reads = reads

    def merged(self, bodies: Iterable[tuple[Sequence[Statement], Set]], among: Set) -> tuple[Statement, ...]:
        """One body for the variants ``among``, each of which has one of the bodies."""
        filled = [
            ([statement for statement in body if statement.before != "pass"], of) for body, of in bodies
        ]
        rows = align(filled, self._likeness)
        items = (item for row in rows for item in self._items(row))
        return tuple(self._placed([item for item in items if not self._is_dead(item, among)], among))

    def _is_dead(self, item: _Item, among: Set) -> bool:
        """Whether no variant reads a variable that only some of them have."""
        statement = item.statement
        if not isinstance(statement, Simple) or not statement.before.endswith(" = ") or item.of == among:
            return False
        name = statement.before.removesuffix(" = ")
        return name.isidentifier() and not self._reads.get(name, 0) & item.of and _is_pure(statement.node)

    def _likeness(self, left: Versions, right: Versions) -> int:
        """How much two statements are alike; 0 if they cannot be one."""
        first, second = left.statement, right.statement
        if type(first) is not type(second) or first.before != second.before:
            return 0
        if first.line != second.line and self._conditions.exclude(first.line, second.line):
            return 0  # the arms of an `#if` stay apart, as their author wrote them
        nearby = first.line == second.line
        if first.node is None or second.node is None:
            return 4 * (first.node == second.node and first.above == second.above)
        if self._joiner.join(Version(first.node, left.of), Version(second.node, right.of)) is not None:
            return 4 + nearby
        if not first.before and form(first.node) != form(second.node):
            return 0
        return 2 * nearby

    # ---------------------------------------------------------------- one row

    def _items(self, row: Row) -> Iterator[_Item]:
        """The row as one statement if its versions can be, else as several."""
        of = reduce(or_, (version.of for version in row))
        first = row[0].statement
        line = min(version.statement.line for version in row)
        if first.node is None:
            yield _Item(self._commented(first, row), of)
            return
        nodes = [Version(version.statement.node, version.of) for version in row if version.statement.node]
        node = self._blended(nodes, of, line)
        loop = first.before.startswith("for ") and isinstance(node, Conditional)  # Triton wants a range there
        if node is not None and _choices(node) <= MAX_CHOICES and not loop:
            yield _Item(self._commented(self._around(node, row, of), row), of)
            return
        for group in self._groups(nodes):
            versions = [version for version in row if version.of & group.of]
            statement = self._around(group.node, versions, group.of)
            yield _Item(self._commented(statement, versions), group.of)

    def _around(self, node: Node, row: Row, of: Set) -> Statement:
        """The statement of a row with this expression, the bodies in it merged."""
        first = row[0].statement
        if isinstance(first, Simple):
            return replace(first, node=node)
        blocks = [(version.statement, version.of) for version in row if isinstance(version.statement, Block)]
        body = self.merged([(block.body, within) for block, within in blocks], of)
        otherwise = self.merged([(block.otherwise, within) for block, within in blocks], of)
        return replace(first, node=node, body=body, otherwise=otherwise)

    def _commented(self, statement: Statement, row: Row) -> Statement:
        """The statement with the comments of all its versions."""
        above = dict.fromkeys(comment for version in row for comment in version.statement.above)
        beside = dict.fromkeys(version.statement.beside for version in row if version.statement.beside)
        line = min(version.statement.line for version in row)
        return replace(statement, above=tuple(above), beside="; ".join(beside), line=line)

    def _groups(self, versions: Iterable[Version]) -> list[Version]:
        """The versions, joined as far as they can be."""
        groups: list[Version] = []
        for version in versions:
            for place, group in enumerate(groups):
                node = self._joiner.join(group, version)
                if node is not None:
                    groups[place] = Version(node, group.of | version.of)
                    break
            else:
                groups.append(version)
        return groups

    # ---------------------------------------------------------------- conditional expressions

    def _blended(self, versions: Sequence[Version], among: Set, line: int) -> Node | None:
        """One expression for all versions, with a choice where they differ; None where that would be too much."""
        groups = self._groups(versions)
        if len(groups) == 1:
            return groups[0].node
        if len({form(group.node) for group in groups}) == 1 and not isinstance(groups[0].node, Atom):
            columns = zip(*(children(group.node) for group in groups), strict=True)
            of = [group.of for group in groups]
            operands = [
                self._blended([Version(*pair) for pair in zip(column, of, strict=True)], among, line)
                for column in columns
            ]
            if all(operand is not None for operand in operands):
                node = rebuilt(groups[0].node, [operand for operand in operands if operand is not None])
                if len(set(_conditions(node))) == _choices(node):  # else one choice decides several parts
                    return node
        return self._choice(groups, among, line)

    def _choice(self, groups: Sequence[Version], among: Set, line: int) -> Node | None:
        """The expression of one group where its variants are, else that of another."""
        if len(groups) > 2 or not all(_small(group.node) for group in groups):
            return None
        first, second = groups
        condition = self._conditions.condition(first.of, among, line)
        other = self._conditions.condition(second.of, among, line)
        if min(condition.cost, other.cost) > MAX_CONDITION:
            return None
        if other.cost < condition.cost:
            return Conditional(other.node, second.node, first.node)
        return Conditional(condition.node, first.node, second.node)

    # ---------------------------------------------------------------- where each `if` goes

    def _placed(self, items: Sequence[_Item], among: Set) -> Iterator[Statement]:
        """The items in order, those that only some variants have under an ``if``.

        Items that no variant shares may change places, so an ``if`` reaches up to the first item that variants in
        it and variants not in it have.
        """
        left = list(items)
        while left:
            chosen = left[0].of & among
            if chosen == among:
                yield left.pop(0).statement
                continue
            shared = (at for at, item in enumerate(left) if item.of & chosen and item.of & ~chosen)
            end = next(shared, len(left))
            inside = [item for item in left[:end] if item.of & chosen]
            outside = [item for item in left[:end] if not item.of & chosen]
            yield self._if(inside, outside, chosen, among, min(item.statement.line for item in left[:end]))
            del left[:end]

    def _if(self, inside: list[_Item], outside: list[_Item], chosen: Set, among: Set, line: int) -> Block:
        condition = self._conditions.condition(chosen, among, line)
        if outside:
            other = self._conditions.condition(among & ~chosen, among, outside[0].statement.line)
            if other.cost < condition.cost:
                inside, outside, condition, chosen = outside, inside, other, among & ~chosen
        first = inside[0].statement
        above = tuple(x for x in first.above if self._conditions.around(x) & among & ~chosen)
        rest = tuple(comment for comment in first.above if comment not in above)
        inside[0] = _Item(replace(first, above=rest), inside[0].of)
        body = tuple(self._placed(inside, chosen))
        otherwise = tuple(self._placed(outside, among & ~chosen))
        return Block("if ", condition.node, body, otherwise, line, above)


def _small(node: Node) -> bool:
    return len(show(node)) <= MAX_PART and not _choices(node)


def _choices(node: Node) -> int:
    return len(_conditions(node))


def _conditions(node: Node) -> list[Node]:
    return [part.condition for part in walk(node) if isinstance(part, Conditional)]


def _is_pure(node: Node | None) -> bool:
    """Whether nothing is lost if an expression is not computed."""
    effects = ("tl.atomic", "tl.store", "tl.debug", "tl.device_print", "tl.inline")
    return node is not None and not any(
        isinstance(part, Call) and part.function.startswith(effects) for part in walk(node)
    )
