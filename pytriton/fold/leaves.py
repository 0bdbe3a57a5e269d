"""Which define sets a folded kernel accepts: those of its leaves.

Each translation is a *leaf*, a cube of literals (formula.py) that its define sets satisfy:

* facts: whether flags and optional numbers are given; the values of texts and types. Only those are asked for that
  the translation read (``Conditions.asked``), or the folded body on its way through the same arms: a flag of an
  ``#if`` in an arm that is not taken may have any value;
* what the translation recorded of numbers (lang/recording.py), less optional outcomes: what its own text needs;
* the comparisons of numbers that the folded body makes, with their outcomes in this translation; and whether a size
  is a power of two, if blocks of this size are padded in some translations and not in others.

``refusal`` asks for all of it. ``accepted`` is the same, less what Triton enforces: a set that violates only that
does not compile. The kernel asserts it, so it needs no launcher to refuse a set. A define that is the element type
of a pointer is asked of the pointer; a launcher sees to it that numbers are integers.

A define set that satisfies a leaf takes the same arms of the body as the set that the leaf was made with, and its
own translation computes the same. So the kernel accepts each define set that satisfies a leaf, and no other. A name
in the text that no leaf has must not be defined (``closed``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cached_property, reduce
from itertools import groupby
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Call, Conditional, Node, Statement, UnaryOp, show
from pytriton.fold.formula import (
    BOTH,
    Cube,
    Fact,
    Factored,
    Interval,
    Literal,
    comparisons_of,
    factored,
    is_floating,
    is_satisfied,
    is_total,
    names_of,
    negation,
    normal,
    ranged,
)
from pytriton.fold.partial import RecordedValues, specialised, value_of
from pytriton.fold.separations import COMPARISONS
from pytriton.fold.variants import Defines, Variants, Word, as_number, number
from pytriton.fold.walk import expressions, names_read, statements
from pytriton.frozen import replace
from pytriton.lang.conditions import Condition, holds, printed, simplified
from pytriton.lang.recording import Comparison, Log, Term, polynomial, term_of
from pytriton.pipeline import Translation

_GIVEN: Final = " is not None"
Numbers = Mapping[str, int | float]


class Spelled(NamedTuple):
    """A value other than a text, as Python prints it: 1 and 1.0 are equal, but not the same value."""

    text: str


class Leaf(NamedTuple):
    """A translation: ``cube`` are its define sets; ``asked`` the same, less what Triton enforces on its text, and
    the types of numbers; Triton sees to those of ``blocks``, which are sizes.
    """

    cube: Cube
    asked: Cube
    blocks: frozenset[str]


class Leaves:
    """The leaves of one folded kernel.

    ``flags`` are given or not; ``numbers`` may have any value that a leaf allows, ``integers`` are those that are
    ints; ``texts`` are the others. ``types``: those of them that are the element type of a pointer, with its name,
    and ``words`` what Triton calls their values. ``truths``: the values of each flag that is more than given or
    not. ``absent``: what those of the ``names`` are that need not be given, where they are not. ``floats``: the
    parameters that are. ``missing``: the parameters that the text lacks, by the conditions under which it does.
    """

    def __init__(
        self,
        variants: Variants,
        words: Iterable[str],
        padded: Mapping[str, str],
        body: Sequence[Statement],
        missing: Mapping[Node, Sequence[str]],
    ) -> None:
        translations = [variant.translation for variant in variants.variants]
        mentioned = frozenset[str]().union(*(translation.mentioned for translation in translations))
        self.names = [n for n in variants.values if n in mentioned]
        self.missing = missing
        self.closed = tuple(sorted({*words, *variants.inner} - {*self.names, *variants.promised}))
        self._sort(variants)
        self._decided = tuple(dict.fromkeys(_decided(body, {name: size for size, name in padded.items()})))
        leaves = dict[Leaf, None]()
        for translation, row in zip(translations, map(variants.of, range(variants.count)), strict=True):
            given = RecordedValues(row)
            left = specialised(body, given)
            for condition in missing:
                value_of(condition, given)
            asked = translation.conditions.asked | given.asked | names_read(left)
            leaves[self._leaf(translation, row, asked)] = None
        self._leaves = tuple(leaves)

    def _sort(self, variants: Variants) -> None:
        """What kind each define is."""
        kernels = {name for name in self.names if variants.names_kernel(name)}
        self.flags = [name for name in self.names if variants.is_flag(name) and name not in kernels]
        given = {name: [v for v in variants.values[name] if v is not None] for name in self.names}
        free = [name for name in self.names if name not in {*self.flags, *kernels, *variants.spelled}]
        self.integers = [name for name in free if {type(value) for value in given[name]} == {int}]
        self._longs = [
            n for n in self.integers if any(abs(v) > INT_MAX for v in given[n] if isinstance(v, int))
        ]
        self._floats = [name for name in free if {type(value) for value in given[name]} == {float}]
        self.numbers = [*self.integers, *self._floats]
        self._optional = frozenset(n for n in self.numbers if len(given[n]) < variants.count)
        self.absent: dict[str, bool | None] = {n: None for n in self.names if None in variants.values[n]}
        self.absent |= dict.fromkeys(self.flags, False)
        others = {*self.numbers, *self.flags, *kernels}
        self.texts = [name for name in self.names if name not in others]
        pointers = variants.type_defines
        self.words = {name: words for name, (_, words) in pointers.items() if name in self.texts}
        self.types = {name: pointers[name][0] for name in self.words}
        self._spelled = {name: {*map(repr, variants.values[name])} for name in self.texts}
        self.floats = variants.floats
        self.truths = {n: variants.truths(n) for n in self.flags if n not in variants.switches}

    # ---------------------------------------------------------------- leaves

    def _leaf(self, translation: Translation, values: Mapping[str, object], asked_for: Set[str]) -> Leaf:
        """The literals that the define sets of a translation satisfy, which was made with these values.

        ``asked_for``: the names that it and the body depend on.
        """
        facts = frozenset(fact for fact in self._facts(values) if names_of(fact) <= asked_for)
        numbers = _numbers(values)
        exact = {name: value for name, value in numbers.items() if name not in self.numbers}
        log = Log()
        for comparison, entry in translation.conditions.entries.items():
            if entry.role != "optional":
                for required in self._required(_substituted(comparison, exact), numbers):
                    log.add(required, entry.span, entry.role)
        for comparison in (_substituted(comparison, exact) for comparison in self._decided):
            asked = normal(comparison)
            names = names_of(asked)
            if names and names <= numbers.keys() & asked_for and not _is_constant(asked):
                log.add(asked if holds(asked, numbers) else negation(asked), None)
        conditions = simplified(log.entries, frozenset(self._floats))
        needed = [normal(condition.comparison) for condition in conditions if condition.role == "required"]
        of_names = [comparison for comparison in needed if comparison.left in self.integers]
        longs = {c for c in of_names if _bounds(c, ~LONG_MAX, LONG_MAX)}
        ints = {c for c in of_names if c.left not in self._longs and _bounds(c, -INT_MAX, INT_MAX)}
        others = ranged(comparison for comparison in needed if comparison not in ints | longs)
        enforced = (str(one.comparison.left) for one in conditions if one.role == "enforced")
        return Leaf(facts | ranged(log.entries), facts | others, frozenset(enforced))

    def _required(self, comparison: Comparison, values: Numbers) -> set[Comparison]:
        """What a condition requires of the numbers that are free; where Python cannot state it, their values."""
        names = names_of(comparison)
        free = names & {*self.numbers}
        if not free or _is_constant(comparison):
            return set()
        if names & {*self._floats}:
            comparison = replace(
                comparison, left=_as_float(comparison.left), right=_as_float(comparison.right)
            )
        if free == names and _is_stated(comparison):
            return {normal(comparison)}
        return {_equal(name, values[name]) for name in free}

    def _facts(self, values: Mapping[str, object]) -> Iterator[Fact]:
        for name in self.flags:
            yield Fact(name, frozenset((values.get(name) not in (None, False),)), True)
        for name in self._optional:
            yield Fact(f"{name}{_GIVEN}", frozenset((values.get(name) is not None,)), True)
        for name in self.texts:
            value = values.get(name)
            value = self.words.get(name, {}).get(str(value), value)
            yield Fact(name, frozenset((value if isinstance(value, str) else Spelled(repr(value)),)), False)

    def _values(self, defines: Defines) -> dict[str, object]:
        values = {name: number(defines.get(name)) for name in self.names}
        return {name: v if name in self.flags else as_number(v) for name, v in values.items()}

    def place(self, defines: Defines) -> object:
        """What is equal for define sets that satisfy the same literals of all leaves."""
        values = self._values(defines)
        return frozenset(self._facts(values)), tuple(self.outcomes(defines).values())

    def outcomes(self, defines: Defines) -> dict[Comparison, bool]:
        """Whether each comparison of the leaves holds for a define set."""
        numbers = _numbers(self._values(defines))
        return {asked: is_satisfied(asked, numbers) for asked in self._asked}

    @cached_property
    def _asked(self) -> list[Comparison]:
        return list(dict.fromkeys(_comparisons_in(literal for leaf in self._leaves for literal in leaf.cube)))

    def without(self, sets: Iterable[Defines]) -> Leaves:
        """The same, but for the leaves that these define sets satisfy."""
        narrowed = copy(self)
        narrowed.__dict__.pop("accepted", None)
        narrowed.__dict__.pop("_asked", None)
        for defines in sets:
            known = self._known(self._values(defines))
            narrowed._leaves = tuple(leaf for leaf in narrowed._leaves if _violated(leaf.cube, *known))
        return narrowed

    # ---------------------------------------------------------------- what is accepted

    def refusal(self, defines: Defines) -> str | None:
        """Why a define set is refused; None if it is accepted."""
        values = self._values(defines)
        strange = [name for name in self.closed if defines.get(name) is not None]
        strange += [
            n for n, truths in self.truths.items() if values[n] not in truths or type(values[n]) is float
        ]
        strange += [name for name, known in self._spelled.items() if repr(values[name]) not in known]
        if strange:
            return f"the kernel was not folded with {strange[0]}={defines.get(strange[0])}"
        for name in self.numbers:
            wanted = int if name in self.integers else float
            value = values[name]
            absent = value is None and name in self._optional
            if not absent and type(value) is not wanted:
                return f"{name} is {value!r}, not of type {wanted.__name__}"
            if isinstance(value, int) and name in self._ints and abs(value) > INT_MAX:
                return f"{name} is {value!r}, not an int of C"
        if not self._leaves:
            return "no define set of it was proved"
        violated: list[list[Literal]] = []
        known = self._known(values)
        for leaf in self._leaves:
            violated.append(_violated(leaf.cube, *known))
            if not violated[-1]:
                return None
        return self._reason(min(violated, key=len), values)

    def _known(self, values: Mapping[str, object]) -> tuple[set[Fact], Numbers]:
        return {*self._facts(values)}, _numbers(values)

    def _reason(self, violated: Sequence[Literal], values: Mapping[str, object]) -> str:
        names = sorted(
            name for literal in violated if isinstance(literal, Fact) for name in names_of(literal)
        )
        if names:
            given = (f"{name}={values[name]}" if values[name] is not None else f"no {name}" for name in names)
            return f"the kernel was not proved with {' and '.join(given)}"
        return f"it requires {' and '.join(map(show, self._terms(violated)))}"

    @cached_property
    def accepted(self) -> tuple[Node, ...]:
        """What ``refusal`` accepts, and what Triton refuses, in words of Triton. No name of ``closed`` is given."""
        if not self._leaves:
            return (Atom("False"),)
        common, groups = factored(leaf.asked for leaf in self._leaves)
        ranges = {x.term: x for x in common if isinstance(x, Interval) and x.term in self._ints}
        rest = self._terms(common - {*ranges.values()})
        return (*self._typed(ranges), *rest, *self._all_of_groups(groups))

    @property
    def _ints(self) -> list[str]:
        """The defines that must be ints of C; Triton does not see to it."""
        names = (name for name in self.integers if name not in self._longs)
        return [name for name in names if not all(name in leaf.blocks for leaf in self._leaves)]

    def _typed(self, ranges: Mapping[str, Interval]) -> Iterator[Node]:
        """That numbers have their types, and are in these ranges."""
        for name in (*self._ints, *self._longs, *self._floats):
            type_ = Call("isinstance", (Atom(name), Atom("float" if name in self._floats else "int")))
            own = ranges.get(name, Interval(name, None, None))
            limits = ((own.high, f"{name} < 2**31"), (own.low, f"{name} > -(2**31)"))
            bounds = (Atom(text) for given, text in limits if given is None and name in self._ints)
            condition = _joined("and", [type_, *map(_python, comparisons_of(own)), *bounds])
            yield BinOp("or", _is_none(name), condition) if name in self._optional else condition

    def _all_of_groups(self, groups: Iterable[Collection[Factored]]) -> list[Node]:
        return sorted(map(self._either, groups), key=lambda node: (len(show(node)), show(node)))

    def _either(self, group: Collection[Factored]) -> Node:
        """A group of alternatives as a condition, those of one term first: ``X is None or X > 0``."""
        alone = [way.common for way in group if len(way.common) == 1 and not way.groups]
        facts = [fact for (fact,) in alone if isinstance(fact, Fact)]
        denied = {fact._replace(answers=BOTH - fact.answers) for fact in facts}
        rests = (way._replace(common=way.common - denied) for way in group)
        ways = zip((way.common not in alone for way in group), map(self._all_of, rests), strict=True)
        return _joined("or", [way for _, way in sorted(ways, key=lambda pair: (pair[0], show(pair[1])))])

    def _all_of(self, way: Factored) -> Node:
        return _joined("and", [*self._terms(way.common), *self._all_of_groups(way.groups)])

    def _terms(self, cube: Collection[Literal]) -> Iterator[Node]:
        """Literals as conditions of Triton: facts, then one for each term."""
        facts = map(self._fact, sorted(literal for literal in cube if isinstance(literal, Fact)))
        yield from sorted(facts, key=show)
        asked = sorted(_comparisons_in(cube), key=_by_size)
        for _, bounds in groupby(asked, lambda comparison: comparison.left):
            yield _joined("and", map(_python, bounds))

    def _fact(self, fact: Fact) -> Node:
        """``FLAG``, ``NAME is None``, ``X.dtype.element_ty == tl.float16``."""
        if not fact.binary:
            pointer = self.types.get(fact.question)
            asked = f"{pointer}.dtype.element_ty" if pointer else fact.question
            texts = all(isinstance(answer, str) for answer in fact.answers)
            asked = asked if texts else f"{SPELLED}({asked})"
            answers = [
                literal(x.text if isinstance(x, Spelled) else x) for x in sorted(fact.answers, key=repr)
            ]
            several = Call(ONE_OF, (Atom(asked), *map(Atom, answers)))
            return several if len(answers) > 1 else BinOp("==", Atom(asked), Atom(answers[0]))
        bare = fact.question.removesuffix(_GIVEN)
        if True in fact.answers:
            return Atom(bare) if bare == fact.question else BinOp("is not", Atom(bare), Atom("None"))
        return UnaryOp("not", Atom(bare)) if bare == fact.question else _is_none(bare)


ONE_OF, SPELLED = HELPERS = ("one_of", "spelled")  # of templates/helpers.py.j2
INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1  # Triton has no larger numbers either


def _bounds(comparison: Comparison, low: int, high: int) -> bool:
    """Whether it is a bound of a type: larger numbers are of another one."""
    return (comparison.operator, comparison.right) in (("<=", high), (">=", low))


def _violated(cube: Cube, facts: Collection[Fact], numbers: Numbers) -> list[Literal]:
    """The literals of a cube that these facts and numbers do not satisfy."""
    return [
        literal
        for literal in cube
        if (literal not in facts if isinstance(literal, Fact) else not is_satisfied(literal, numbers))
    ]


def _comparisons_in(literals: Iterable[Literal]) -> list[Comparison]:
    return [comparison for literal in literals for comparison in comparisons_of(literal)]


def _numbers(values: Mapping[str, object]) -> dict[str, int | float]:
    return {name: value for name, value in values.items() if isinstance(value, int | float)}


def _equal(name: str, value: int | float) -> Comparison:
    return Comparison("is" if isinstance(value, float) else "==", name, term_of(value))


def _substituted(comparison: Comparison, values: Numbers) -> Comparison:
    """The comparison with numbers for the defines whose values are facts."""

    def of(term: Term) -> Term:
        match term:
            case str():
                return term_of(values[term]) if term in values else term
            case (function, *operands) if function != "float":
                return (function, *map(of, operands))
        return term

    return replace(comparison, left=of(comparison.left), right=of(comparison.right))


def _is_constant(comparison: Comparison) -> bool:
    """Whether it compares two equal sums of products, or numbers: then it holds for all defines."""
    difference = ("-", comparison.left, comparison.right)
    return not is_floating(comparison) and polynomial(difference).keys() <= {()}


def _as_float(term: Term) -> Term:
    return term_of(float(term)) if isinstance(term, int) else term


def _is_stated(comparison: Comparison) -> bool:
    """Whether launchers can ask it: they have ``triton.next_power_of_2``."""
    bare = replace(comparison, left=_not_rounded(comparison.left), right=_not_rounded(comparison.right))
    return not Condition(bare, "required", None).unstated


def _not_rounded(term: Term) -> Term:
    match term:
        case ("next_power_of_2", operand):
            return _not_rounded(operand)
        case (function, *operands) if function != "float":
            return (function, *map(_not_rounded, operands))
    return term


# ---------------------------------------------------------------- what a folded body asks


def _decided(body: Iterable[Statement], sizes: Mapping[str, str]) -> Iterator[Comparison]:
    """The comparisons of numbers in the conditions of a body; ``sizes``: TN_PADDED -> TN."""
    conditions = [
        statement.node
        for statement in statements(body)
        if statement.node is not None and statement.before == "if "
    ]
    conditions += [part.condition for part in expressions(body) if isinstance(part, Conditional)]
    for condition in conditions:
        yield from _comparisons(condition, sizes)


def _comparisons(node: Node, sizes: Mapping[str, str]) -> Iterator[Comparison]:
    match node:
        case BinOp(operator="and" | "or", left=left, right=right):
            yield from (*_comparisons(left, sizes), *_comparisons(right, sizes))
        case UnaryOp(operator="not", operand=operand):
            yield from _comparisons(operand, sizes)
        case BinOp(operator="==" | "!=", left=Atom(text=name), right=Atom(text=padded)) if padded in sizes:
            assert sizes[padded] == name
            yield Comparison("is_power_of_2", name)
        case BinOp(operator=operator, left=left, right=right) if operator in COMPARISONS:
            first, second = _term(left, sizes), _term(right, sizes)
            if first is not None and second is not None:
                yield Comparison(operator, first, second)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            yield from (asked for part in (condition, then, otherwise) for asked in _comparisons(part, sizes))
        case _ if (term := _term(node, sizes)) is not None:
            yield Comparison("!=", term)


def _term(node: Node, sizes: Mapping[str, str]) -> Term | None:
    """An expression over integer defines; None for words and elements."""
    match node:
        case Atom(text=text) if text in sizes:
            return ("next_power_of_2", sizes[text])
        case Atom(text=text) if re.fullmatch(r"-?\d+", text):
            return int(text)
        case Atom(text=text) if text.isidentifier() and text not in ("True", "False", "None"):
            return text
        case UnaryOp(operator="-", operand=operand):
            inner = _term(operand, sizes)
            return None if inner is None else ("-", 0, inner)
        case BinOp(operator=operator, left=left, right=right) if operator in ("+", "-", "*", "%", "&", "|"):
            first, second = _term(left, sizes), _term(right, sizes)
            return None if first is None or second is None else (operator, first, second)
    return None


# ---------------------------------------------------------------- as Python


def literal(value: object) -> str:
    """The text or number in Python."""
    if isinstance(value, Word):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _joined(operator: str, terms: Iterable[Node]) -> Node:
    return reduce(lambda first, second: BinOp(operator, first, second), terms)


def _is_none(name: str) -> Node:
    return BinOp("is", Atom(name), Atom("None"))


def _python(comparison: Comparison) -> Node:
    """A comparison in the words of Triton; ``TN > 0 and TN & (TN - 1) == 0`` for a power of two."""
    text = re.sub(r"\bnext_power", "triton.next_power", printed(comparison))
    if _is_zero(comparison):
        return Atom(re.sub(r"(.*) == (.*)", SPELLED + r'(\1) == "\2"', text))
    if comparison.operator not in ("is_power_of_2", "is_not_power_of_2"):
        return Atom(text)
    size = text[text.index("(") + 1 : -1]
    bits = size if isinstance(comparison.left, str) else f"({size})"
    is_power = BinOp("and", Atom(f"{size} > 0"), Atom(f"{bits} & ({size} - 1) == 0"))
    return is_power if comparison.operator == "is_power_of_2" else UnaryOp("not", is_power)


def _is_zero(comparison: Comparison) -> bool:
    """Whether it asks for a zero with its sign, which is seen in its text."""
    return comparison.operator == "is" and comparison.right in (term_of(0.0), term_of(-0.0))


def _by_size(comparison: Comparison) -> tuple[bool, bool, str]:
    """Bounds of single numbers come first: no shift by a number out of its range is computed."""
    text = f"{printed(comparison)} {comparison!r}"
    return not is_total(comparison), not isinstance(comparison.left, str), text
