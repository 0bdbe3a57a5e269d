"""Which define sets a folded kernel serves.

It is proved for the define sets that it was folded from. A number that only sizes blocks, or is used as a value,
may be any other number: the folded text has a name for it. That holds as long as all that was decided by numbers
is decided as for one of the known sets: each condition in the text, which sizes are padded, which blocks are so
small that their stores and loads need a barrier. Flags, texts and types must be those of one known set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pytriton.emit.python import Atom, BinOp, Conditional, Node, show
from pytriton.fold.conditions import Conditions
from pytriton.fold.evaluate import next_power_of_2, value_of
from pytriton.fold.read import Statement
from pytriton.fold.variants import Defines, Variants, number
from pytriton.fold.walk import statements, walk

__all__ = ["Known"]

MIN_INNER: Final = 16  # elements that tl.dot wants along each axis; smaller operands are widened


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
        if self._in_place:  # a barrier may be needed where a small block is stored and loaded
            self._decided += [condition.node for condition in conditions.sizes]
        self._numbers = {
            name
            for name in self._names
            if name not in accidental and all(_is_number(value) for value in variants.values[name])
        }
        kernels = {name for name in self._names if _names_kernel(name, variants)}
        self._numbers -= conditions.opaque
        self._elsewhere = conditions.words - set(self._names)
        self._fixed = [name for name in self._names if name not in self._numbers | kernels]
        self._sets: dict[tuple[str, ...], dict[str, set[object]]] = {}
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
            given = ", ".join(f"{name}={text}" for name, text in pairs if text != "None")
            return f"the kernel was not folded with {given}"
        for question, answer in self._answers(values):
            if answer not in self._sets[key][question]:
                sizes = ", ".join(f"{name}={values[name]}" for name in sorted(self._numbers))
                word = "holds" if answer else "does not hold"
                return f"with {sizes}, {question} {word}, as for no known define set"
        return None

    def _key(self, values: Mapping[str, object]) -> tuple[str, ...]:
        """The values that must be those of a known set."""
        return tuple(str(values.get(name)) for name in self._fixed)

    def _answers(self, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """What is decided by numbers, each question as a text."""
        whole = {
            name: value
            for name in self._names
            if name in self._numbers and isinstance(value := values[name], int) and value > 0
        }
        padded = {
            other: next_power_of_2(whole[name]) for name, other in self._padded.items() if name in whole
        }
        for node in self._decided:
            yield show(node), _decided(node, {**values, **padded})
        for name, value in whole.items():
            yield f"{name} is a power of two", value & (value - 1) == 0
            if self._products:
                yield f"{name} < {MIN_INNER}", value < MIN_INNER


def _decided(node: Node, values: Mapping[str, object]) -> object:
    try:
        return bool(value_of(node, values))
    except (ValueError, TypeError):  # it asks for the type of elements, which is among the fixed values
        return None


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
        if numeric and isinstance(left, Atom) and (left, right) not in asked:
            yield left.text
