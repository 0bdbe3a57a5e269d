"""Which define sets a folded kernel accepts: those whose *row* is one of the rows that were folded.

The row of a define set holds what decides the folded text and its translation:

* flags: given or not;
* texts, types, and numbers that the text is specialised on: their exact values;
* which of the optional numbers are given;
* questions about all other numbers: each condition in the text or in the folded body that compares one.

Such a number stays a constexpr. A define set with the row of a translation takes the same arms of the folded body
as the set that it was made with; and it is accepted only if the recorded conditions of that translation hold
(lang/conditions.py), so its own translation computes the same. Rows are never combined: a row that was not folded,
or that the proof did not confirm (``without``), is refused. The tables (tables.py) are exactly the rows, and each
row comes with its conditions.

Each name in the text is in the row or must not be defined (``closed``).
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Call, Conditional, Node, Statement, UnaryOp, show
from pytriton.fold.join import ELEMENT
from pytriton.fold.partial import next_power_of_2, value_of
from pytriton.fold.separations import MIN_INNER, Separations, negated
from pytriton.fold.tables import Row, Table, cubes, tables
from pytriton.fold.variants import Defines, Variants, number
from pytriton.fold.walk import expressions, rewritten, statements, walk
from pytriton.frozen import replace
from pytriton.lang.conditions import Condition, Conditions, holds, printed
from pytriton.lang.recording import Comparison, Term, term_of

Required = frozenset[Comparison]  # of numbers, by one translation
Column = str | Node  # a define, "NAME is not None", or a question about numbers

_POWER: Final = "power_of_2"  # of the launcher: positive, and a power of two
_COMPARISONS: Final = ("==", "!=", "<", ">", "<=", ">=")
_GIVEN: Final = " is not None"
MAX_COLUMNS: Final = 8  # of a table that is written as the combinations that it lacks
MAX_NAMES: Final = 2  # whose answers together are tried


class Served(NamedTuple):
    """The accepted define sets, in a form that needs nothing of ours to be checked.

    Each of the ``tables`` has their row; the ``conditions`` hold, which are Python expressions over defines; the
    ``numbers`` are integers, the ``optional`` ones if they are given; none of the ``closed`` names is given.
    """

    tables: tuple[Table, ...]
    numbers: tuple[str, ...]
    optional: tuple[str, ...]
    conditions: tuple[str, ...]
    closed: tuple[str, ...]


class Known:
    """The define sets of one folded kernel."""

    def __init__(
        self,
        variants: Variants,
        conditions: Separations,
        padded: Mapping[str, str],
        body: Sequence[Statement],
    ) -> None:
        self._padded = dict(padded)
        self._about: dict[Node, set[str]] = {}  # the numbers of each question
        translations = [variant.translation for variant in variants.variants]
        mentioned = frozenset[str]().union(*(translation.mentioned for translation in translations))
        self._names = [n for n in variants.values if n in mentioned and n not in variants.promised]
        self.closed = tuple(sorted(conditions.words - {*self._names, *variants.promised}))
        defines = {*self._names, *padded.values()}
        decided = [node for node in _decisions(body) if _names(node, padded) <= defines]
        asked = {part for one in conditions.asked for part in _parts(one.node)}
        accidental = {name for node in decided for name in _pinned(node, asked)}
        self._sort(variants, {*accidental, *conditions.opaque})
        self._asked = dict.fromkeys(leaf for one in conditions.asked for leaf in _leaves(one.node))
        decided += self._asked
        leaves = dict.fromkeys(leaf for node in decided for leaf in _leaves(node))
        questions = dict.fromkeys(leaf for leaf in leaves if self.numbers_of(leaf))
        questions |= {_is_power(name): None for name in padded if name in self.integers}
        self._questions = [*questions]
        rows = [variants.of(variant) for variant in range(variants.count)]
        self._sets = tuple(
            (values, self._required(one.conditions, values))
            for values, one in zip(rows, translations, strict=True)
        )
        self._accepted = self._rows()

    def _sort(self, variants: Variants, exact: set[str]) -> None:
        """What kind each define is. ``exact``: numbers that must be those of a known set."""
        kernels = {name for name in self._names if variants.names_kernel(name)}
        self.flags = [name for name in self._names if variants.is_flag(name) and name not in kernels]
        given = {name: [v for v in variants.values[name] if v is not None] for name in self._names}
        free = [name for name in self._names if name not in {*exact, *self.flags, *kernels}]
        self.integers = [name for name in free if {type(value) for value in given[name]} == {int}]
        self._floats = [name for name in free if {type(value) for value in given[name]} == {float}]
        self.numbers = [*self.integers, *self._floats]  # of any value, as far as the questions allow it
        self._optional = [n for n in self._names if n in self.numbers and len(given[n]) < variants.count]
        others = {*self.numbers, *self.flags, *kernels}
        self.texts = [name for name in self._names if name not in others]
        self.truths = {n: variants.truths(n) for n in self.flags if n not in variants.switches}

    # ---------------------------------------------------------------- rows

    @property
    def columns(self) -> list[Column]:
        """What a row holds, in its order."""
        given = [f"{name}{_GIVEN}" for name in self._optional]
        return [*self.flags, *self.texts, *given, *self._questions]

    def row_of(self, defines: Defines) -> Row:
        """The row of a define set."""
        return self._row({name: number(defines.get(name)) for name in self._names})

    def _row(self, values: Mapping[str, object]) -> Row:
        given = (values.get(name) is not None for name in self._optional)
        named = (self._value(name, values) for name in (*self.flags, *self.texts))
        return (*named, *given, *self._answers(values, self._questions))

    def _rows(self) -> dict[Row, frozenset[Required]]:
        """The rows of the known sets, each with what their translations require of numbers."""
        rows: dict[Row, set[Required]] = {}
        shown = [None if isinstance(c, str) else show(_without_names(c, self._padded)) for c in self.columns]
        for values, required in self._sets:
            row = self._row(values)
            answered = {text for text, answer in zip(shown, row, strict=True) if text and answer}
            rows.setdefault(row, set()).add(frozenset(r for r in required if _python(r) not in answered))
        return {row: frozenset(alternatives) for row, alternatives in rows.items()}

    def _required(self, conditions: Conditions, values: Mapping[str, object]) -> Required:
        """What a translation requires of numbers that are free, what Triton enforces included; those in a condition
        that Python cannot state are what they were."""
        required: set[Comparison] = set()
        for condition in conditions:
            free = condition.names & {*self.numbers}
            comparison = condition.comparison
            if free and free == condition.names and _is_stated(condition):
                required.add(comparison)
            else:
                required |= {_equal(name, values[name]) for name in free}
        return frozenset(required)

    def _allowed(self, alternatives: Iterable[Required], values: Mapping[str, object]) -> bool:
        """Whether numbers satisfy what one of the translations of a row requires."""
        known = {name: value for name, value in values.items() if isinstance(value, int | float)}
        return any(all(holds(one, known) for one in required) for required in alternatives)

    def _value(self, name: str, values: Mapping[str, object]) -> object:
        value = values.get(name)
        return value not in (None, False) if name in self.flags else value

    def _answers(self, values: Mapping[str, object], questions: Iterable[Node]) -> Row:
        """The answers to these questions; False where a number that one needs is not given."""
        padded = {
            other: next_power_of_2(value)
            for name, other in self._padded.items()
            if isinstance(value := values.get(name), int) and value > 0
        }
        known = {**values, **padded}
        return tuple(self._answer(question, known) for question in questions)

    def _answer(self, question: Node, values: Mapping[str, object]) -> bool:
        if any(values.get(name) is None for name in self.numbers_of(question)):
            return False
        match question:
            case Call(arguments=(Atom(text=name),)):
                value = values[name]
                return isinstance(value, int) and value > 0 and value & (value - 1) == 0
        try:
            return bool(value_of(question, values))
        except (ValueError, TypeError):
            return False

    def answers(self, defines: Defines) -> dict[Node, object]:
        """The answer to each question for these defines."""
        values = {name: number(defines.get(name)) for name in self._names}
        return dict(zip(self._questions, self._answers(values, self._questions), strict=True))

    def numbers_of(self, question: Node) -> set[str]:
        """The numbers that a question is about."""
        if question not in self._about:
            self._about[question] = _names(question, self._padded) & {*self.numbers}
        return self._about[question]

    def of_blocks(self, question: Node) -> bool:
        """Whether it is about padded blocks, and no ``#if`` asks it."""
        return question not in self._asked and bool(_names(question, self._padded) & {*self._padded})

    # ---------------------------------------------------------------- changes

    def without(self, sets: Iterable[Defines]) -> Known:
        """The same, but for the rows of these define sets."""
        gone = {self.row_of(defines) for defines in sets}
        narrowed = copy.copy(self)
        narrowed._accepted = {row: known for row, known in self._accepted.items() if row not in gone}
        return narrowed

    # ---------------------------------------------------------------- what is accepted

    def refusal(self, defines: Defines) -> str | None:
        """Why a define set is refused; None if it is accepted."""
        strange = [name for name in self.closed if defines.get(name) is not None]
        if strange:
            return f"the kernel was not folded with {strange[0]}={defines[strange[0]]}"
        values = {name: number(defines.get(name)) for name in self._names}
        for name in self.numbers:
            wanted = int if name in self.integers else float
            value = values[name]
            absent = value is None and name in self._optional
            if not absent and type(value) not in (wanted, *((bool,) if wanted is int else ())):
                return f"{name} is {value!r}, and should be {'an integer' if wanted is int else 'a float'}"
        for name, truths in self.truths.items():
            if values[name] not in truths:
                return f"the kernel was not folded with {name}={defines.get(name)}"
        row = self._row(values)
        if row in self._accepted:
            alternatives = self._accepted[row]
            return None if self._allowed(alternatives, values) else f"it requires {_stated(alternatives)}"
        if not self._accepted:
            return "no define set of it was proved"
        nearest = min(self._accepted, key=lambda other: sum(a != b for a, b in zip(row, other, strict=True)))
        differing = [
            _shown(column, value, self._padded)
            for column, value, other in zip(self.columns, row, nearest, strict=True)
            if value != other
        ]
        return f"the kernel was not proved with {' and '.join(differing)}"

    def served(self) -> Served:
        """What ``refusal`` accepts."""
        if not self._accepted:
            return Served((), (), (), ("False",), self.closed)
        columns = self.columns
        names = [c if isinstance(c, str) else show(_without_names(c, self._padded)) for c in columns]
        answers = [n for n, c in zip(names, columns, strict=True) if c not in self.texts]
        exact: list[Table] = []
        conditions = [self._is(name, int) for name in self._optional if name in self.integers]
        conditions += [self._is(name, float) for name in self._floats]
        by_name = dict(zip(names, columns, strict=True))
        constant: dict[Node, object] = {}
        for table in sorted(
            tables(names, list(self._accepted), answers), key=_is_constant_power, reverse=True
        ):
            asked = [by_name[name] for name in table.names]
            if len(asked) == len(table.rows) == 1 and not isinstance(question := asked[0], str):
                if self._follows(question, table.rows[0][0], constant):
                    continue
                constant[question] = table.rows[0][0]
            if any(column in self.texts for column in asked) and all(
                column in (*self.texts, *self.flags) for column in asked
            ):
                exact.append(table)
            else:
                conditions += self._conditions(table, asked)
        conditions += self._of_rows()
        required = tuple(n for n in self._names if n in self.integers and n not in self._optional)
        return Served(tuple(exact), required, tuple(self._optional), tuple(conditions), self.closed)

    def _of_rows(self) -> Iterator[str]:
        """What the translations of each row require of numbers, as Python."""
        every = [required for alternatives in self._accepted.values() for required in alternatives]
        always = {one for one in frozenset[Comparison].intersection(*every) if _is_total(one)}
        yield from map(_python, sorted(always, key=_by_size))
        groups: dict[frozenset[Required], list[Row]] = {}
        for row, alternatives in self._accepted.items():
            groups.setdefault(frozenset(one - always for one in alternatives), []).append(row)
        columns = _telling(range(len(self.columns)), groups.values())
        for alternatives, rows in groups.items():
            if frozenset() in alternatives:
                continue
            if len(groups) == 1:
                yield _stated(alternatives)
                continue
            shown = ", ".join(self._guarded(self.columns[n]) for n in columns)
            listed = ", ".join(map(repr, dict.fromkeys(tuple(row[n] for n in columns) for row in rows)))
            comma = "," if len(columns) == 1 else ""
            yield f"({shown}{comma}) not in [{listed}] or {_stated(alternatives)}"

    def _follows(self, question: Node, answer: object, known: Mapping[Node, object]) -> bool:
        """Whether every number with the known answers has this one; False if that cannot be tried."""
        names = self.numbers_of(question)
        near = {one: value for one, value in known.items() if self.numbers_of(one) == names}
        rows = self._possible((question, *near)) if near and len(names) == 1 else None
        return rows is not None and all(row[0] == answer for row in rows if row[1:] == (*near.values(),))

    def _is(self, name: str, kind: type) -> str:
        known = f"isinstance({name}, {kind.__name__})"
        return f"{name} is None or {known}" if name in self._optional else known

    def _conditions(self, table: Table, columns: Sequence[Column]) -> Iterator[str]:
        """A table as Python expressions: the combinations that it lacks, or where texts are in it, its rows."""
        guarded = [self._guarded(column) for column in columns]
        if any(column in self.texts for column in columns):
            shown = ", ".join(guarded)
            yield f"({shown}) in [{', '.join(map(repr, table.rows))}]"
            return
        if len(columns) > MAX_COLUMNS:
            yield f"({', '.join(guarded)}) in [{', '.join(map(repr, table.rows))}]"
            return
        lacking = set[Row](itertools.product((False, True), repeat=len(columns))) - set(table.rows)
        asked = [n for n, column in enumerate(columns) if not isinstance(column, str)]
        possible = self._possible([column for column in columns if not isinstance(column, str)])
        impossible = {
            row for row in lacking if possible is not None and tuple(row[n] for n in asked) not in possible
        }
        for cube in cubes(lacking, impossible):
            terms = [(text, value) for text, value in zip(guarded, cube, strict=True) if value is not None]
            if len(terms) == 1:
                text, value = terms[0]
                column = columns[next(n for n, v in enumerate(cube) if v is not None)]
                yield self._guarded(column, negated=True) if value else text
            else:
                yield f"not ({' and '.join(_tight(text, bool(value)) for text, value in terms)})"

    def _guarded(self, column: Column, negated: bool = False) -> str:
        """A column as a Python expression that is True or False; a question may lack its numbers."""
        if isinstance(column, str):
            return column if not negated else f"not {column}" if column in self.flags else _without(column)
        lacking = [name for name in self._optional if name in self.numbers_of(column)]
        if negated:
            parts = [*(f"{name} is None" for name in lacking), show(_opposite(column, self._padded))]
            return " or ".join(parts)
        parts = [*(f"{name}{_GIVEN}" for name in lacking), show(_without_names(column, self._padded))]
        return " and ".join(parts)

    def _possible(self, questions: Sequence[Node]) -> set[Row] | None:
        """The answers that one or two integers can give together; None where there are more, or other questions.

        Near each number that a question compares, and between these, there are witnesses of every kind: two powers
        of two, and two other numbers.
        """
        names = sorted(set[str]().union(*map(self.numbers_of, questions)))
        bounds = [self._bounds(question) for question in questions]
        if len(names) > MAX_NAMES or None in bounds:
            return None
        tried: set[int | None] = {*range(-4, 10)}
        for bound in {bound for found in bounds if found is not None for bound in found}:
            power = next_power_of_2(max(bound, 0) + 1)
            tried |= {*range(bound - 4, bound + 5), power, 2 * power}
        values = ({*tried, None} if name in self._optional else tried for name in names)
        return {
            self._answers(dict(zip(names, row, strict=True)), questions) for row in itertools.product(*values)
        }

    def _bounds(self, question: Node) -> list[int] | None:
        """The numbers that a question compares integers with; None if it does anything else."""
        match question:
            case Call():
                return []
            case BinOp(left=Atom(text=name), right=Atom(text=other)) if name in self.integers:
                if other in self.integers or other == self._padded.get(name):
                    return []
                return [int(other)] if re.fullmatch(r"-?\d+", other) else None
        return None


# ---------------------------------------------------------------- questions


def _is_power(name: str) -> Node:
    return Call(_POWER, (Atom(name),))


def _names(question: Node, padded: Mapping[str, str]) -> set[str]:
    """The defines that an expression mentions, those that others are computed from included."""
    atoms = {part.text for part in walk(question) if isinstance(part, Atom)}
    names = {text for text in atoms if text.isidentifier() and text not in ("True", "False", "None")}
    return names | {name for name, other in padded.items() if other in names}


def _leaves(node: Node) -> Iterator[Node]:
    """The conditions that a condition is made of."""
    match node:
        case BinOp(operator="and" | "or", left=left, right=right):
            yield from (*_leaves(left), *_leaves(right))
        case UnaryOp(operator="not", operand=operand):
            yield from _leaves(operand)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            yield from (*_leaves(condition), *_leaves(then), *_leaves(otherwise))
        case BinOp(operator="is" | "is not"):
            return  # a column of its own
        case _ if ELEMENT not in show(node):
            compared = isinstance(node, BinOp) and node.operator in _COMPARISONS
            yield node if compared else BinOp("!=", node, Atom("0"))


def _decisions(body: Iterable[Statement]) -> Iterator[Node]:
    """The conditions of all ``if``s and choices."""
    yield from (one.node for one in statements(body) if one.node is not None and one.before == "if ")
    yield from (part.condition for part in expressions(body) if isinstance(part, Conditional))


def _parts(node: Node) -> Iterator[tuple[Node, Node]]:
    """What a condition compares."""
    for part in walk(node):
        if isinstance(part, BinOp) and part.operator in _COMPARISONS:
            yield part.left, part.right


def _pinned(node: Node, asked: set[tuple[Node, Node]]) -> Iterator[str]:
    """The names that a condition compares with a number, where the text does not."""
    for left, right in _parts(node):
        numeric = isinstance(right, Atom) and right.text.lstrip("-").isdigit()
        small = isinstance(right, Atom) and right.text == str(MIN_INNER)
        if numeric and not small and isinstance(left, Atom) and (left, right) not in asked:
            yield left.text


# ---------------------------------------------------------------- as Python


def _equal(name: str, value: object) -> Comparison:
    assert isinstance(value, int | float)
    return Comparison("is" if isinstance(value, float) else "==", name, term_of(value))


def _telling(columns: Iterable[int], groups: Iterable[Iterable[Row]]) -> list[int]:
    """Columns by which rows of different groups differ, as few as are found."""
    kept = [*columns]
    rows = [(number, row) for number, group in enumerate(groups) for row in group]
    for column in [*kept]:
        fewer = [other for other in kept if other != column]
        pairs = {(tuple(row[other] for other in fewer), number) for number, row in rows}
        if len(pairs) == len({seen for seen, _ in pairs}):
            kept = fewer
    return kept


def _by_size(comparison: Comparison) -> tuple[bool, str]:
    return not isinstance(comparison.left, str), printed(comparison)


def _is_total(comparison: Comparison) -> bool:
    """Whether any integers can be compared: nothing shifts or divides."""
    return re.search("<<|>>|/|%", printed(comparison)) is None


def _is_stated(condition: Condition) -> bool:
    """Whether launchers can ask it: they have ``triton.next_power_of_2``."""
    one = condition.comparison
    bare = Comparison(one.operator, _not_rounded(one.left), _not_rounded(one.right), one.holds)
    return not replace(condition, comparison=bare).unstated


def _not_rounded(term: Term) -> Term:
    match term:
        case ("next_power_of_2", operand):
            return _not_rounded(operand)
        case (function, *operands) if function != "float":
            return (function, *map(_not_rounded, operands))
    return term


def _python(comparison: Comparison) -> str:
    return re.sub(r"\bis_power", "power", re.sub(r"\bnext_power", "triton.next_power", printed(comparison)))


def _stated(alternatives: Iterable[Required]) -> str:
    """What one of several translations requires."""
    # Bounds of single numbers come first: no shift by a number out of its range is computed.
    ways = sorted(
        " and ".join(map(_python, sorted(required, key=_by_size))) or "True" for required in alternatives
    )
    return ways[0] if len(ways) == 1 else " or ".join(f"({way})" for way in ways)


def _without_names(node: Node, padded: Mapping[str, str]) -> Node:
    """The expression over defines only: TN_PADDED is computed from TN."""
    sizes: dict[Node, Node] = {
        Atom(other): Call("triton.next_power_of_2", (Atom(name),)) for name, other in padded.items()
    }
    return rewritten(node, lambda part: sizes.get(part, part))


def _is_constant_power(table: Table) -> bool:
    return len(table.names) == 1 and table.names[0].startswith(_POWER) and table.rows == ((True,),)


def _opposite(node: Node, padded: Mapping[str, str]) -> Node:
    return negated(_without_names(node, padded))


def _tight(text: str, value: bool) -> str:
    """A text, or its opposite, as an operand of ``and``."""
    simple = re.fullmatch(r"\w+", text)
    if value:
        return f"({text})" if re.search(r" and | or | if ", text) else text
    if text.endswith(_GIVEN) and " and " not in text:
        return _without(text)
    return f"not {text}" if simple else f"not ({text})"


def _without(given: str) -> str:
    return f"{given.removesuffix(_GIVEN)} is None"


def _shown(column: Column, value: object, padded: Mapping[str, str]) -> str:
    """A value of a row, for a message."""
    if isinstance(column, str) and column.endswith(_GIVEN):
        return column.removesuffix(_GIVEN) if value else f"no {column.removesuffix(_GIVEN)}"
    if isinstance(column, str):
        return f"{column}={value}"
    match column:
        case Call(arguments=(Atom(text=name),)):
            return f"{name} {'a' if value else 'not a'} power of two"
    return show(_without_names(column, padded) if value else _opposite(column, padded))
