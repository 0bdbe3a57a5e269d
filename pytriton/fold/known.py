"""Which define sets a folded kernel serves.

It is proved for the define sets that it was folded from. A number that only sizes blocks, or is used as a value,
may be any other number: the folded text has a name for it. That holds as long as all that was decided by numbers
is decided as for one of the known sets: each condition in the text, which sizes are padded, which blocks are so
small that their stores and loads need a barrier. Who can translate finds out which of these questions matter
(``doubtful``), and drops the others (``forget``). Flags, texts and types must be those of one known set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Call, Conditional, Node, show
from pytriton.fold.conditions import MIN_INNER, Conditions, negated
from pytriton.fold.evaluate import next_power_of_2, value_of
from pytriton.fold.read import Statement
from pytriton.fold.variants import Defines, Variants, number
from pytriton.fold.walk import children, rebuilt, statements, walk

__all__ = ["Family", "Known"]


class Family(NamedTuple):
    """Define sets that are served alike, in a form that needs nothing of ours to be checked.

    ``values``: what each flag (a bool), text and type may be, each with each (None: not given). ``numbers`` are the
    defines that may be any number for which the ``conditions`` hold, which are Python expressions.
    """

    values: Mapping[str, tuple[object, ...]]
    numbers: tuple[str, ...]
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
        self._decided = list(dict.fromkeys(_decisions(body)))
        asked = {part for condition in conditions.asked for part in _parts(condition.node)}
        asked |= {part for condition in conditions.sizes for part in _parts(condition.node)}
        accidental = {name for node in self._decided for name in _pinned(node, asked)}
        self._decided += [condition.node for condition in conditions.asked]
        self._sizes: list[Node] = []
        if self._in_place:  # a barrier may be needed where a small block is stored and loaded
            sizes = [condition.node for condition in conditions.sizes]
            self._sizes = [node for node in sizes if node not in self._decided]
        self._numbers = {
            name
            for name in self._names
            if name not in accidental and all(_is_number(value) for value in variants.values[name])
        }
        self._integers = {
            name for name in self._numbers if all(isinstance(value, int) for value in variants.values[name])
        }
        kernels = {name for name in self._names if _names_kernel(name, variants)}
        self._numbers -= conditions.opaque
        self._numbers -= set(_deciding_parameters(variants, self._numbers))
        self._elsewhere = conditions.words - set(self._names)
        self._fixed = [name for name in self._names if name not in self._numbers | kernels]
        self._flags = {name for name in self._fixed if variants.is_flag(name)}
        self._forgotten: set[Node] = set()
        self._sets: dict[tuple[object, ...], dict[Node, set[object]]] = {}
        for variant in range(variants.count):
            decided = self._sets.setdefault(self._key(variants.of(variant)), {})
            for question, answer in self._answers(variants.of(variant)):
                decided.setdefault(question, set()).add(answer)

    def refusal(self, defines: Defines) -> str | None:
        """Why a define set is not served; None if it is."""
        values = {name: number(defines.get(name)) for name in self._names}
        missing = [name for name in self._names if name in self._numbers and not _is_number(values[name])]
        if missing:
            return f"{missing[0]} is {values[missing[0]]!r}, and should be a number"
        strange = sorted(name for name in self._elsewhere if defines.get(name) is not None)
        if strange:
            return f"the kernel was not folded with {strange[0]}={defines[strange[0]]}"
        key = self._key(values)
        if key not in self._sets:
            pairs = zip(self._fixed, key, strict=True)
            given = ", ".join(f"{name}={value}" for name, value in pairs if value not in (None, False))
            return f"the kernel was not folded with {given}"
        for question, answer in self._answers(values):
            if answer not in self._sets[key].get(question, ()):
                sizes = ", ".join(f"{name}={values[name]}" for name in sorted(self._numbers))
                word = "holds" if answer else "does not hold"
                return f"with {sizes}, {_asked(question)} {word}, as for no known define set"
        return None

    def families(self) -> tuple[Family, ...]:
        """What ``refusal`` accepts, as products of values, as few as that takes."""
        numbers = tuple(name for name in self._names if name in self._numbers)
        keys: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
        for key, decided in self._sets.items():
            keys.setdefault(tuple(self._conditions(decided)), []).append(key)
        return tuple(
            Family(dict(zip(self._fixed, row, strict=True)), numbers, conditions)
            for conditions, members in keys.items()
            for row in _products(members)
        )

    def doubtful(self) -> set[Node]:
        """What was answered in one way only for some known sets, though nothing in the text asks it."""
        return {
            question
            for decided in self._sets.values()
            for question, answers in decided.items()
            if len(answers) == 1 and not self.asked_by_text(question)
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
            for decided in self._sets.values():
                decided.pop(question, None)

    def _conditions(self, decided: Mapping[Node, set[object]]) -> Iterator[str]:
        """What must hold of the numbers where some answers are known only."""
        conditions: dict[str, None] = {}
        for question, answers in decided.items():
            if (
                len(answers) == 1
                and (answer := next(iter(answers))) is not None
                and self.numbers_of(question)
            ):
                node = question if answer else negated(question)
                conditions[show(_without_names(node, self._padded))] = None
        yield from conditions

    def _key(self, values: Mapping[str, object]) -> tuple[object, ...]:
        """The values that must be those of a known set."""
        return tuple(
            values.get(name) not in (None, False) if name in self._flags else values.get(name)
            for name in self._fixed
        )

    def _answers(self, values: Mapping[str, object]) -> Iterator[tuple[Node, object]]:
        """What is decided by numbers."""
        whole = {
            name: value
            for name in self._names
            if name in self._integers and isinstance(value := values[name], int) and value > 0
        }
        padded = {
            other: next_power_of_2(whole[name]) for name, other in self._padded.items() if name in whole
        }
        questions: list[Node] = [*self._decided, *self._sizes]
        answers = [(node, _decided(node, {**values, **padded})) for node in questions]
        for name, value in whole.items():
            answers.append((_is_power(name), value & (value - 1) == 0))
            if self._products:
                answers.append((BinOp("<", Atom(name), Atom(str(MIN_INNER))), value < MIN_INNER))
        yield from (answer for answer in answers if answer[0] not in self._forgotten)


_POWER: Final = "triton.next_power_of_2"


def _is_power(name: str) -> Node:
    return BinOp("==", Atom(name), Call(_POWER, (Atom(name),)))


def _names(question: Node, padded: Mapping[str, str]) -> set[str]:
    """The defines that an expression mentions, those that others are computed from included."""
    names = {part.text for part in walk(question) if isinstance(part, Atom)}
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


Product = tuple[tuple[object, ...], ...]  # for each axis its values


def _products(keys: Sequence[tuple[object, ...]]) -> list[Product]:
    """The keys as products of their values, as few as joining them axis by axis comes to."""
    rows: list[Product] = [tuple((value,) for value in key) for key in keys]
    for axis in [*range(len(keys[0]))] * 2:
        joined: dict[Product, tuple[object, ...]] = {}
        for row in rows:
            others = row[:axis] + row[axis + 1 :]
            joined[others] = joined.get(others, ()) + row[axis]
        rows = [(*others[:axis], values, *others[axis:]) for others, values in joined.items()]
    return rows


def _decided(node: Node, values: Mapping[str, object]) -> object:
    try:
        return bool(value_of(node, values))
    except (ValueError, TypeError):  # it asks for the type of elements, which is among the fixed values
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _names_kernel(name: str, variants: Variants) -> bool:
    return all(variant.defines.get(name) == variant.translation.kernel for variant in variants.variants)


def _deciding_parameters(variants: Variants, numbers: set[str]) -> Iterator[str]:
    """The numbers without which it cannot be told which parameters a variant has: their values are listed."""
    parameters = [
        tuple(parameter.identifier for parameter in variant.translation.parameters)
        for variant in variants.variants
    ]
    for name in numbers:
        others = [value for other, value in variants.values.items() if other != name]
        rows = [repr(row) for row in zip(*others, strict=True)] or [""] * variants.count
        if len(set(zip(rows, parameters, strict=True))) > len(set(rows)):
            yield name


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
        if numeric and isinstance(left, Atom) and (left, right) not in asked:
            yield left.text
