"""Which define sets a folded kernel serves.

It is proved for the define sets that it was folded from. What is said of others (``served``) has three parts:

* Texts and types, and the flags that go with them, are those of known sets: tables (tables.py).
* A number that only sizes blocks, or is used as a value, may be any number: the folded text has a name for it. That
  holds as long as each question about it has an answer that it had for a known set: each condition in the text,
  which sizes are padded, which blocks are so small that their stores and loads need a barrier. Who can translate
  finds out which of these questions matter (``doubtful``), and drops the others (``forget``).
* Flags may be combined if each arm of an ``#if`` that is read was folded, and any two facts (a flag, the answer to
  a question) are those of one known set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Call, Conditional, Node, show
from pytriton.fold.conditions import MIN_INNER, Conditions, negated
from pytriton.fold.evaluate import next_power_of_2, value_of
from pytriton.fold.join import ELEMENT
from pytriton.fold.read import Statement
from pytriton.fold.tables import Table, completed, tables
from pytriton.fold.variants import Defines, Variants, number
from pytriton.fold.walk import children, rebuilt, statements, walk

__all__ = ["Fact", "Known", "Served"]

Fact = str | Node  # a flag or a text, by its name; a question about numbers


class Served(NamedTuple):
    """Define sets that are served, in a form that needs nothing of ours to be checked.

    Each of the ``tables`` has their row; the ``conditions`` hold, which are Python expressions over defines; and
    the ``numbers`` are numbers, the ``optional`` ones if they are given.
    """

    tables: tuple[Table, ...]
    numbers: tuple[str, ...]
    optional: tuple[str, ...]
    conditions: tuple[str, ...]


class Known:
    """The define sets of one folded kernel."""

    def __init__(
        self, variants: Variants, conditions: Conditions, padded: Mapping[str, str], body: Sequence[Statement]
    ) -> None:
        self._padded = dict(padded)
        translations = [variant.translation for variant in variants.variants]
        mentioned = frozenset[str]().union(*(translation.mentioned for translation in translations))
        self._names = [name for name in variants.values if name in mentioned]
        self._in_place = any(set(t.reads) & set(t.writes) for t in translations)
        self._products = any("tl.dot(" in translation.text for translation in translations)
        self._elsewhere = conditions.words - set(self._names)
        defines = {*self._names, *padded.values()}
        decisions = dict.fromkeys(_decisions(body))  # those over values of the run decide nothing here
        self._decided = [node for node in decisions if _names(node, padded) <= defines]
        asked = {part for condition in conditions.asked for part in _parts(condition.node)}
        asked |= {part for condition in conditions.sizes for part in _parts(condition.node)}
        accidental = {name for node in self._decided for name in _pinned(node, asked)}
        self._decided += [condition.node for condition in conditions.asked]
        given = [node for node in self._decided if _asks_if_given(node)]  # the define itself says it
        self._decided = [node for node in self._decided if node not in given]
        self._asked_if_given = {name for node in given for name in _names(node, padded)}
        self._sizes: list[Node] = []
        if self._in_place:  # a barrier may be needed where a small block is stored and loaded
            sizes = [condition.node for condition in conditions.sizes]
            self._sizes = [node for node in sizes if node not in self._decided]
        self._sort(variants, accidental | conditions.opaque)
        self._matter = frozenset(self._asked_of_numbers())
        self._forgotten: set[Node] = set()
        self._single: dict[Fact, set[object]] = {}
        self._pairs: dict[tuple[Fact, Fact], set[tuple[object, object]]] = {}
        rows = [variants.of(variant) for variant in range(variants.count)]
        for values in rows:
            self._learn(values)
        self.modes = frozenset(self._modes(rows))
        names = [*(name for name in self._flags if name in self.modes), *self._texts]
        self._tables = tables(
            names, [tuple(self._value(name, v) for name in names) for v in rows], self.modes
        )

    def _sort(self, variants: Variants, exact: set[str]) -> None:
        """What kind each define is. ``exact``: numbers that must be those of a known set."""
        kernels = {name for name in self._names if _names_kernel(name, variants)}
        self._flags = [name for name in self._names if variants.is_flag(name) and name not in kernels]
        given = {name: [v for v in variants.values[name] if v is not None] for name in self._names}
        self._numbers = {
            name for name in self._names if name not in exact and all(map(_is_number, given[name]))
        } - {*self._flags, *kernels}
        self._integers = {n for n in self._numbers if all(isinstance(value, int) for value in given[n])}
        self._optional = {n for n in self._numbers if len(given[n]) < variants.count}
        others = {*self._numbers, *self._flags, *kernels}
        self._texts = [name for name in self._names if name not in others]
        self._types = [name for name in self._texts if variants.is_type(name)]

    def _learn(self, values: Mapping[str, object]) -> None:
        """A known set: its facts, and which of them go together."""
        facts = [
            (fact, answer)
            for fact, answer in self.facts(values).items()
            if answer is not None
            or fact in self._texts  # a text may be absent; a question may have no answer
        ]
        for fact, answer in facts:
            self._single.setdefault(fact, set()).add(answer)
        for (one, first), (other, second) in combinations(facts, 2):
            if self._paired(one, other):
                self._pairs.setdefault((one, other), set()).add((first, second))

    def _paired(self, one: Fact, other: Fact) -> bool:
        """Whether two facts must be known together: not two questions about numbers, nor two texts."""
        if not isinstance(one, str):
            return False
        if isinstance(other, str):
            return not (one in self._texts and other in self._texts)
        return one not in _names(other, self._padded) and other in self._matter

    def _asked_of_numbers(self) -> Iterator[Node]:
        """The questions that the folded kernel asks of numbers alone; of one about more, the parts are asked."""
        yield from map(_is_power, self._padded)
        for node in self._decided:
            for part in (node, *_atoms(node)):
                if _names(part, self._padded) <= {*self._numbers, *self._padded.values()}:
                    yield part

    def _modes(self, rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
        """The flags that are not free of the texts."""
        for flag in self._flags:
            seen = {(self._value(flag, v), tuple(v.get(name) for name in self._texts)) for v in rows}
            if len(seen) < len({flag for flag, _ in seen}) * len({texts for _, texts in seen}):
                yield flag

    def _value(self, name: str, values: Mapping[str, object]) -> object:
        """A define as it is compared: a flag is a bool, and so is whether an optional number is given."""
        value = values.get(name)
        return value not in (None, False) if name in self._flags else value

    def facts(self, values: Mapping[str, object]) -> dict[Fact, object]:
        """The flags, the texts, which optional numbers are given, and the answers to all questions."""
        facts: dict[Fact, object] = {name: self._value(name, values) for name in (*self._flags, *self._texts)}
        facts |= {name: values.get(name) is not None for name in sorted(self._optional)}
        return facts | dict(self._answers(values))

    def facts_of(self, defines: Defines) -> dict[Fact, object]:
        """The facts of a define set."""
        return self.facts({name: number(defines.get(name)) for name in self._names})

    @property
    def free_flags(self) -> list[str]:
        """The flags that no text goes with."""
        return [flag for flag in self._flags if flag not in self.modes]

    @property
    def optional(self) -> list[str]:
        """The numbers that some sets lack."""
        return sorted(self._optional)

    @property
    def harmless(self) -> set[str]:
        """The numbers that some sets lack, and that change nothing where nothing needs them."""
        return self._optional - self._asked_if_given

    @property
    def texts(self) -> list[str]:
        """Texts and types."""
        return list(self._texts)

    def one_sided(self) -> list[Fact]:
        """Flags that every known set has, and questions about padded sizes that all answer alike."""
        padded = set(self._padded)
        asked = [*map(_is_power, sorted(padded)), *self._sizes]
        asked = [node for node in asked if _names(node, self._padded) & padded]
        flags = [flag for flag in self.free_flags if self._single[flag] == {True}]
        return [*flags, *(node for node in asked if len(self._single.get(node, ())) == 1)]

    @cached_property
    def missing(self) -> tuple[tuple[tuple[Fact, object], tuple[Fact, object]], ...]:
        """Two facts, each of which is known, that no known set has together."""
        return tuple(self._missing())

    def _missing(self) -> Iterator[tuple[tuple[Fact, object], tuple[Fact, object]]]:
        harmless = self.harmless
        for (one, other), seen in self._pairs.items():
            if {one, other} <= {*self.modes, *self._texts}:
                continue  # the tables say that
            for first in sorted(self._single[one], key=str):
                for second in sorted(self._single[other], key=str):
                    needless = (one in harmless and first) or (other in harmless and second)
                    if (first, second) not in seen and not needless:
                        yield (one, first), (other, second)

    def completed(
        self, rows: Sequence[Defines], operands: Mapping[str, frozenset[str]]
    ) -> list[dict[str, object]]:
        """Texts, and flags that go with them, that none of the sets has, though each of them is known.

        ``operands``: the pointers in whose addresses a text stands.
        """
        names = [*(name for name in self._flags if name in self.modes), *self._texts]
        known = [tuple(self._value(name, _numbered(defines)) for name in names) for defines in rows]
        missing = completed(names, known, self.modes, self._types, operands)
        return [dict(zip(names, row, strict=True)) for row in missing]

    def refusal(self, defines: Defines) -> str | None:
        """Why a define set is not served; None if it is."""
        values = {name: number(defines.get(name)) for name in self._names}
        missing = [n for n in self._names if n in self._numbers and not _is_number(values[n])]
        missing = [n for n in missing if n not in self._optional or values[n] is not None]
        if missing:
            return f"{missing[0]} is {values[missing[0]]!r}, and should be a number"
        strange = sorted(name for name in self._elsewhere if defines.get(name) is not None)
        if strange:
            return f"the kernel was not folded with {strange[0]}={defines[strange[0]]}"
        for table in self._tables:
            if not table.has(lambda name: self._value(name, values)):
                given = ", ".join(f"{name}={self._value(name, values)}" for name in table.names)
                return f"the kernel was not folded with {given}"
        unknown = self.refusal_of_answers(defines)
        if unknown is not None:
            return unknown
        facts = self.facts(values)
        for (one, first), (other, second) in self.missing:
            if facts.get(one) == first and facts.get(other) == second:
                return (
                    f"the kernel was not folded with {self._said(one, first)} and {self._said(other, second)}"
                )
        return None

    def refusal_of_answers(self, defines: Defines, but: Fact | None = None) -> str | None:
        """Which fact of these, whatever the others are, no known set has; ``but`` for one."""
        values = {name: number(defines.get(name)) for name in self._names}
        for fact, answer in self.facts(values).items():
            if answer is None or fact in self._texts or fact == but:
                continue
            if answer not in self._single.get(fact, ()):
                return self._unknown(fact, answer, values)
        return None

    def _unknown(self, fact: Fact, answer: object, values: Mapping[str, object]) -> str:
        if isinstance(fact, str):
            return f"the kernel was not folded with {fact}={answer if fact in self._flags else values[fact]}"
        word = "holds" if answer else "does not hold"
        sizes = ", ".join(f"{name}={values[name]}" for name in sorted(self._numbers))
        return f"with {sizes}, {_asked(fact)} {word}, as for no known define set"

    def served(self) -> Served:
        """What ``refusal`` accepts."""
        conditions: dict[str, None] = {}
        for fact, answers in self._single.items():
            named = isinstance(fact, str) or _names(fact, self._padded) <= {
                *self._names,
                *self._padded.values(),
            }
            implied = any(self._single.get(larger) == {False} for larger in _larger(fact))
            alone = len(answers) == 1 and named and not implied
            if alone and fact not in self._texts and fact not in self.modes:
                lacking = [
                    f"{name} is None or "
                    for name in self.optional
                    if not isinstance(fact, str) and name in _names(fact, self._padded)
                ]
                conditions["".join(lacking) + self._said(fact, next(iter(answers)))] = None
        numbers = tuple(n for n in self._names if n in self._numbers)
        for (one, first), (other, second) in self.missing:
            if len(self._single[one]) > 1 and len(self._single[other]) > 1:
                conditions[f"not ({self._said(one, first, 3)} and {self._said(other, second, 3)})"] = None
        return Served(self._tables, numbers, tuple(self.optional), tuple(conditions))

    def _said(self, fact: Fact, answer: object, tight: int = 0) -> str:
        """A fact as a Python expression."""
        if not isinstance(fact, str):
            return show(_without_names(fact if answer else negated(fact), self._padded), tight)
        if fact in self._flags:
            return fact if answer else f"not {fact}"
        if fact in self._optional:
            return f"{fact} is not None" if answer else f"{fact} is None"
        if answer is None:
            return f"{fact} is None"
        return f"{fact} == " + (f'"{answer}"' if isinstance(answer, str) else repr(answer))

    def doubtful(self) -> set[Node]:
        """What was answered in one way only, though nothing in the text asks it."""
        return {
            fact
            for fact, answers in self._single.items()
            if not isinstance(fact, str) and len(answers) == 1 and not self.asked_by_text(fact)
        }

    def numbers_of(self, question: Node) -> set[str]:
        """The numbers that a question is about."""
        return _names(question, self._padded) & self._numbers

    def answers(self, defines: Defines) -> dict[Node, object]:
        """The answer to each question for these defines."""
        return dict(self._answers({name: number(defines.get(name)) for name in self._names}))

    def asked_by_text(self, question: Node) -> bool:
        """Whether an ``#if`` of the text or a condition of the folded kernel asks it."""
        return question in self._decided

    def forget(self, questions: Iterable[Node]) -> None:
        """Ask these no longer: their answers were seen to change nothing."""
        for question in questions:
            self._forgotten.add(question)
            self._single.pop(question, None)
            self._pairs = {pair: seen for pair, seen in self._pairs.items() if question not in pair}
        self.__dict__.pop("missing", None)

    def _answers(self, values: Mapping[str, object]) -> Iterator[tuple[Node, object]]:
        """What is decided by numbers, or by an ``#if``."""
        whole = {
            name: value
            for name in self._names
            if name in self._integers and isinstance(value := values.get(name), int) and value > 0
        }
        padded = {
            other: next_power_of_2(whole[name]) for name, other in self._padded.items() if name in whole
        }
        questions: list[Node] = [*self._decided, *self._sizes]
        questions += [part for node in self._decided for part in _atoms(node) if part not in self._decided]
        answers = [(node, _decided(node, {**values, **padded})) for node in dict.fromkeys(questions)]
        for name, value in whole.items():
            answers.append((_is_power(name), value & (value - 1) == 0))
            if self._products:
                answers.append((_is_small(name, MIN_INNER), value < MIN_INNER))
            if _is_small(name, MIN_INNER) in self._decided:  # it is widened once, or twice
                smaller = (MIN_INNER >> shift for shift in range(1, 4))
                answers += [(_is_small(name, size), value < size) for size in smaller]
        yield from (answer for answer in answers if answer[0] not in self._forgotten)


_POWER: Final = "triton.next_power_of_2"


def _asks_if_given(node: Node) -> bool:
    return isinstance(node, BinOp) and node.operator in ("is", "is not")


def _is_small(name: str, size: int) -> Node:
    return BinOp("<", Atom(name), Atom(str(size)))


def _larger(fact: Fact) -> Iterator[Node]:
    """``TK < 16`` of ``TK < 8``."""
    match fact:
        case BinOp(operator="<", left=Atom(text=name), right=Atom(text=text)) if text.isdigit():
            yield from (_is_small(name, int(text) << shift) for shift in range(1, 4))


def _is_power(name: str) -> Node:
    return BinOp("==", Atom(name), Call(_POWER, (Atom(name),)))


def _names(question: Node, padded: Mapping[str, str]) -> set[str]:
    """The defines that an expression mentions, those that others are computed from included."""
    atoms = {part.text for part in walk(question) if isinstance(part, Atom)}
    names = {text for text in atoms if text.isidentifier() and text not in ("True", "False", "None")}
    return names | {name for name, other in padded.items() if other in names}


def _asked(question: Node) -> str:
    """A question as a person says it."""
    match question:
        case BinOp(operator="==", left=Atom(text=name), right=Call(function=function)) if function == _POWER:
            return f"{name} is a power of two"
    return show(question)


def _without_names(node: Node, padded: Mapping[str, str]) -> Node:
    """The expression over defines only: TN_PADDED is computed from TN."""
    names = {other: name for name, other in padded.items()}
    if isinstance(node, Atom) and node.text in names:
        return Call(_POWER, (Atom(names[node.text]),))
    return rebuilt(node, [_without_names(child, padded) for child in children(node)])


def _decided(node: Node, values: Mapping[str, object]) -> object:
    """None of what asks for the type of elements: that is among the fixed values."""
    if ELEMENT in show(node):
        return None
    try:
        return bool(value_of(node, values))
    except (ValueError, TypeError):
        return None


def _numbered(defines: Defines) -> dict[str, object]:
    return {name: number(value) for name, value in defines.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _names_kernel(name: str, variants: Variants) -> bool:
    return all(variant.defines.get(name) == variant.translation.kernel for variant in variants.variants)


def _decisions(body: Iterable[Statement]) -> Iterator[Node]:
    """The conditions of all ``if``s and choices; those on values of the run decide nothing here."""
    for statement in statements(body):
        if statement.node is not None:
            if statement.before == "if ":
                yield statement.node
            yield from (part.condition for part in walk(statement.node) if isinstance(part, Conditional))


def _parts(node: Node) -> Iterator[tuple[Node, Node]]:
    """What a condition compares."""
    for part in walk(node):
        if isinstance(part, BinOp) and part.operator in ("==", "!=", "<", ">", "<=", ">="):
            yield part.left, part.right


def _pinned(node: Node, asked: set[tuple[Node, Node]]) -> Iterator[str]:
    """The names that a condition compares with a number, where the text does not."""
    for left, right in _parts(node):
        numeric = isinstance(right, Atom) and right.text.lstrip("-").isdigit()
        small = isinstance(right, Atom) and right.text == str(MIN_INNER)
        if numeric and not small and isinstance(left, Atom) and (left, right) not in asked:
            yield left.text


def _atoms(node: Node) -> Iterator[Node]:
    """The comparisons in a condition of several."""
    for part in walk(node):
        if (
            isinstance(part, BinOp)
            and part.operator in ("==", "!=", "<", ">", "<=", ">=")
            and part is not node
        ):
            yield part
