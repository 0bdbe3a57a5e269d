"""Which condition is true of exactly these variants?

Input: the text and its variants. Output: for a set of variants among others the plainest expression over the
defines that holds for exactly those: what the text itself asks where the statement stands (``#if``), else one
feature, its negation, two of them, and in the end any disjunction. A feature is a flag, a comparison that the text
makes, ``NAME == "text"``, ``TN != TN_PADDED``, or the element type of a pointer. Invariant: what is returned was
evaluated on every variant; nothing relies on how it was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Conditional, Node, UnaryOp
from pytriton.fold.evaluate import next_power_of_2, value_of
from pytriton.fold.expression import expression
from pytriton.fold.variants import Set, Unfoldable, Variants, names_in
from pytriton.lang.preprocess.structure import OPENING, Directive, directives

MAX_FEATURES: Final = 24  # of which pairs and triples are tried

MIN_INNER: Final = 16  # elements that tl.dot wants along the inner axis; smaller operands are widened
MAX_THREADS: Final = 1024  # a block with as many elements needs no barrier against itself

_WORDS: Final = {"&&": "and", "||": "or", "!": "not"}
_DEFINED: Final = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_OPPOSITE: Final = (("==", "!="), ("<", ">="), (">", "<="), ("is", "is not"))
_NEGATED: Final = {**dict(_OPPOSITE), **{other: one for one, other in _OPPOSITE}}


class Condition(NamedTuple):
    """An expression, the variants that it holds for, and how hard it is to read (1: a word).

    ``safe``: it asks for nothing but what the text's own ``#if`` and text defines ask. Any other may hold for
    the known variants by accident.
    """

    node: Node
    holds: Set
    cost: int
    safe: bool = True


class Conditions:
    """The conditions of one text over its variants.

    ``asked``: what each ``#if`` and ``#elif`` asks. ``sizes``: which blocks, of one size or two, are small.
    ``words``: all names in the text; ``opaque``: those in an ``#if`` that is no condition here.
    """

    def __init__(self, text: str, variants: Variants, padded: dict[str, str], elements: bool = True) -> None:
        """``elements``: conditions ask for the element types of pointers, not for the defines that say them."""
        self._variants = variants
        self._elements = variants.elements if elements else {}
        self.words = frozenset(names_in(text))
        self.opaque: set[str] = set()
        self.asked: list[Condition] = []
        self._arms = dict(self._by_line(text))
        self._text = text.split("\n")
        self._features = list(self._all_features(padded))
        self._distinct = list(_distinct(self._features, variants.all))
        self._known: dict[tuple[Set, Set, int], Condition] = {}
        self.sizes = list(self._all_sizes(padded))

    def arms(self, line: int) -> tuple[Condition, ...]:
        """What the text asks around a line, the outermost first."""
        return self._arms.get(line, ())

    def plain(self, line: int) -> Iterator[Condition]:
        """The conditions that the text asks around a line, and all flags and text defines."""
        yield from self.arms(line)
        yield from (feature for feature in self._features if feature.safe)

    def exclude(self, line: int, other: int) -> bool:
        """Whether no variant reads both of two lines: they stand in different arms of one ``#if``."""
        holds = self._variants.all
        for arm in (*self.arms(line), *self.arms(other)):
            holds &= arm.holds
        return not holds

    def around(self, comment: str) -> Set | None:
        """The variants in whose text a comment stands; None if it stands in several places."""
        lines = [number for number, line in enumerate(self._text, 1) if comment in line]
        if len(lines) != 1 or not comment:
            return None
        holds = self._variants.all
        for arm in self.arms(lines[0]):
            holds &= arm.holds
        return holds

    def condition(self, chosen: Set, among: Set, line: int) -> Condition:
        """The plainest condition that holds for ``chosen`` and for no other of ``among``."""
        key = (chosen, among, line)
        if key not in self._known:
            near = tuple(self._of_text(line))
            for search in (_one, _two, _three):
                candidates = (*near, *(self._features if search is _one else self._distinct))
                fitting = [c for c in search(candidates, among) if c.holds & among == chosen]
                if fitting:
                    plainest = min(fitting, key=lambda condition: condition.cost)
                    self._known[key] = self._simplified(plainest, chosen, among)
                    return self._known[key]
            self._known[key] = self._any(chosen, among)
        return self._known[key]

    def between(self, least: Set, most: Set) -> Condition:
        """The plainest condition that holds for all of ``least``, and for none but ``most``."""
        fitting = [
            c
            for c in _one(tuple(self._features), self._variants.all)
            if c.safe and not (least & ~c.holds | c.holds & ~most)
        ]
        if fitting:
            return min(fitting, key=lambda condition: condition.cost)
        return self.condition(least, self._variants.all, 0)

    def _simplified(self, condition: Condition, chosen: Set, among: Set) -> Condition:
        """The condition without what holds, or does not, for all among which it chooses."""
        node = condition.node
        if not isinstance(node, BinOp) or node.operator not in ("and", "or"):
            return condition
        parts = _operands(node, node.operator)
        for dropped in parts:
            kept = [part for part in parts if part is not dropped]
            fewer = self._evaluated(_chained(kept, node.operator))
            if fewer is not None and fewer.holds & among == chosen:
                simpler = fewer._replace(cost=condition.cost, safe=condition.safe)
                return self._simplified(simpler, chosen, among)
        return condition

    def of_sizes(self, chosen: Set, among: Set, line: int) -> Condition | None:
        """The condition of a barrier that only small blocks need (memory/barriers.py); None for any other."""
        near = tuple(self._of_text(line))
        safe = tuple(_distinct((c for c in self._features if c.safe), self._variants.all))
        for candidates in ((*near, *safe), (*self.sizes, *near, *safe)):
            for search in (_one, _two):
                fitting = [c for c in search(candidates, among) if c.holds & among == chosen]
                if fitting:
                    return min(fitting, key=lambda condition: condition.cost)
        for flag in safe:  # one size with it, another without
            for first, second in product(self.sizes, repeat=2):
                holds = flag.holds & first.holds | ~flag.holds & second.holds
                if (
                    holds & among == chosen
                    and isinstance(first.node, BinOp)
                    and isinstance(second.node, BinOp)
                ):
                    size = Conditional(flag.node, first.node.left, second.node.left)
                    return Condition(BinOp("<", size, first.node.right), holds & among, flag.cost + 2)
        return None

    def _all_sizes(self, padded: Mapping[str, str]) -> Iterator[Condition]:
        """``TM * TN < 1024`` for every one and every two of the sizes."""
        values: dict[str, list[int]] = {}
        for name, given in self._variants.values.items():
            numbers = [value for value in given if isinstance(value, int) and value > 0 and value is not True]
            if len(numbers) == len(given):
                values[name] = [next_power_of_2(value) for value in numbers]
        for count in (1, 2):
            for names in combinations(values, count):
                sizes = [prod(row) for row in zip(*(values[name] for name in names), strict=True)]
                node: Node = Atom(padded.get(names[0], names[0]))
                for name in names[1:]:
                    node = BinOp("*", node, Atom(padded.get(name, name)))
                holds = self._variants.where(lambda n, s=sizes: s[n] < MAX_THREADS)  # type: ignore[misc]
                yield Condition(BinOp("<", node, Atom(str(MAX_THREADS))), holds, count)

    def spelled(self, first: str, of: Set, second: str, others: Set) -> Condition | None:
        """The condition of a text define that is ``first`` in the variants ``of`` and ``second`` in the others."""
        for name, values in self._variants.values.items():
            if all(str(values[n]) == first for n in self._variants.members(of)) and all(
                str(values[n]) == second for n in self._variants.members(others)
            ):
                value = next(values[n] for n in self._variants.members(of))
                if isinstance(value, str):
                    return Condition(BinOp("==", Atom(name), Atom(f'"{value}"')), of, 2)
        return None

    def _of_text(self, line: int) -> Iterator[Condition]:
        """The condition around a line, and it with those around it: each costs as little as a flag."""
        arms = self.arms(line)
        for first in range(len(arms) - 1, -1, -1):
            joined = arms[first]
            for inner in arms[first + 1 :]:
                joined = _both(joined, inner, "and")
            yield joined._replace(cost=sum(arm.cost for arm in arms[first:]))

    def _any(self, chosen: Set, among: Set) -> Condition:
        """A disjunction: one conjunction after another, each true of no variant but chosen ones."""
        literals = [literal for feature in self._distinct for literal in (feature, _not(feature, among))]
        left, parts = chosen, []
        while left:
            seed = left & -left
            part = None
            held = among
            while held & ~chosen:
                useful = [each for each in literals if each.holds & seed and held & ~each.holds]
                if not useful:
                    raise Unfoldable("two variants that differ have the same defines")
                best = min(
                    useful,
                    key=lambda c: (
                        (held & c.holds & ~chosen).bit_count() * 4 + c.cost,
                        -(held & c.holds & left).bit_count(),
                    ),
                )
                part = best if part is None else _both(part, best, "and")
                held &= best.holds
            if part is None:
                raise AssertionError("all variants are chosen")
            parts.append(part)
            left &= ~part.holds
        whole = parts[0]
        for part in parts[1:]:
            whole = _both(whole, part, "or")
        return whole

    # ---------------------------------------------------------------- the text's own conditions

    def _by_line(self, text: str) -> Iterator[tuple[int, tuple[Condition, ...]]]:
        """The arms of ``#if`` around each line of the text; those that are no Python expression are left out."""
        everything = self._variants.all
        stack: list[list[Condition | None]] = []  # of each open #if: its arms so far, the last one is open
        start = 1
        for directive in directives(text):
            yield from self._inside(stack, range(start, directive.line))
            word, start = directive.word, directive.line + 1
            if word == "endif":
                del stack[-1:]
            elif word in ("else", "elif") and stack:
                always = Condition(Atom("True"), everything, 0)
                stack[-1].append(always if word == "else" else self._arm(directive))
            elif word in OPENING:
                stack.append([self._arm(directive)])
        yield from self._inside(stack, range(start, text.count("\n") + 2))

    def _inside(
        self, stack: list[list[Condition | None]], lines: range
    ) -> Iterator[tuple[int, tuple[Condition, ...]]]:
        arms = [_reached(arms, self._variants.all) for arms in stack]
        open_ = tuple(arm for arm in arms if arm is not None)
        return ((number, open_) for number in lines)

    def _arm(self, directive: Directive) -> Condition | None:
        text = " ".join(_WORDS.get(token.text, token.text) for token in directive.tokens[2:])
        if directive.word in ("ifdef", "ifndef"):
            text = f"defined {directive.names[0]}" if directive.names else "0"
        text = _DEFINED.sub(lambda match: self._given(match[1] or match[2]), text)
        try:
            node = expression(text)
            condition = self._evaluated(node)
        except SyntaxError:
            condition = None
        if condition is None:
            self.opaque.update(directive.names)
            return None
        condition = condition._replace(cost=1)
        self.asked.append(condition)
        return _not(condition, self._variants.all) if directive.word == "ifndef" else condition

    def _given(self, name: str) -> str:
        """The question whether a define is given: of a flag its name."""
        known = name in self._variants.values and not self._variants.is_flag(name)
        return f"({name} is not None)" if known else name

    def _evaluated(self, node: Node) -> Condition | None:
        try:
            holds = self._variants.where(lambda n: bool(value_of(node, self._variants.of(n))))
        except (ValueError, TypeError):
            return None
        return Condition(node, holds, _cost(node))

    # ---------------------------------------------------------------- features

    def _all_features(self, padded: dict[str, str]) -> Iterator[Condition]:
        seen: set[Node] = set()
        for condition in self._candidates(padded):
            if condition.holds not in (0, self._variants.all) and condition.node not in seen:
                seen.add(condition.node)
                yield condition

    def _candidates(self, padded: dict[str, str]) -> Iterator[Condition]:
        """All features, the plainest first."""
        everywhere = [*self.asked, *(arm for arms in self._arms.values() for arm in arms)]
        yield from sorted(everywhere, key=lambda condition: condition.cost)
        names = [
            name for name in self._variants.values if not (self._elements and self._variants.is_type(name))
        ]
        for name in names:
            if self._variants.is_flag(name):
                yield from self._feature(Atom(name), 1)
        for name, other in padded.items():
            values = self._variants.values[name]
            pads = self._variants.where(lambda n, v=values: isinstance(v[n], int) and v[n] & (v[n] - 1) != 0)  # type: ignore[misc]
            yield Condition(BinOp("!=", Atom(name), Atom(other)), pads, 2, safe=False)
        for name in names:
            for value in dict.fromkeys(self._variants.values[name]):
                if isinstance(value, str) and value:
                    yield from self._feature(BinOp("==", Atom(name), Atom(f'"{value}"')), 2)
        if any("widen_lhs(" in variant.translation.text for variant in self._variants.variants):
            for name in names:
                yield from self._feature(BinOp("<", Atom(name), Atom(str(MIN_INNER))), 2, False)
        for name, words in self._elements.items():
            for word in dict.fromkeys(words):
                holds = self._variants.where(lambda n, w=words, t=word: w[n] == t)  # type: ignore[misc]
                yield Condition(BinOp("==", Atom(f"{name}.dtype.element_ty"), Atom(f"tl.{word}")), holds, 3)
        for name in names:
            numbers = [v for v in self._variants.values[name] if isinstance(v, int) and v is not True]
            for value in sorted(set(numbers)):
                yield from self._feature(BinOp("==", Atom(name), Atom(str(value))), 4, False)
                yield from self._feature(BinOp("<=", Atom(name), Atom(str(value))), 5, False)

    def _feature(self, node: Node, cost: int, safe: bool = True) -> Iterator[Condition]:
        condition = self._evaluated(node)
        if condition is not None:
            yield condition._replace(cost=cost, safe=safe)


def _operands(node: Node, operator: str) -> list[Node]:
    """What a chain of ``and``, or of ``or``, joins."""
    if isinstance(node, BinOp) and node.operator == operator:
        return [*_operands(node.left, operator), *_operands(node.right, operator)]
    return [node]


def _chained(parts: Sequence[Node], operator: str) -> Node:
    node = parts[0]
    for part in parts[1:]:
        node = BinOp(operator, node, part)
    return node


def _cost(node: Node) -> int:
    match node:
        case BinOp(left=left, right=right):
            return _cost(left) + _cost(right)
        case UnaryOp(operand=operand):
            return _cost(operand) + 1
    return 1


def _reached(arms: list[Condition | None], everything: Set) -> Condition | None:
    """The condition under which the last of these arms is read: it holds, and none before it does."""
    parts: list[Condition] = []
    for arm in arms[:-1]:
        if arm is None:
            return None
        parts.append(_not(arm, everything))
    last = arms[-1]
    if last is None:
        return None
    if last.cost:
        parts.append(last)
    condition = parts[0]
    for part in parts[1:]:
        condition = _both(condition, part, "and")
    return condition._replace(cost=len(parts))


def negated(node: Node) -> Node:
    """The opposite of a condition."""
    if isinstance(node, BinOp) and node.operator in _NEGATED:
        return BinOp(_NEGATED[node.operator], node.left, node.right)
    if isinstance(node, UnaryOp) and node.operator == "not":
        return node.operand
    return UnaryOp("not", node)


def _not(condition: Condition, among: Set) -> Condition:
    node = negated(condition.node)
    return Condition(node, among & ~condition.holds, condition.cost + 1, condition.safe)


def _both(left: Condition, right: Condition, operator: str) -> Condition:
    holds = left.holds & right.holds if operator == "and" else left.holds | right.holds
    return Condition(
        BinOp(operator, left.node, right.node), holds, left.cost + right.cost + (operator == "or")
    )


def _distinct(conditions: Iterable[Condition], everything: Set) -> Iterator[Condition]:
    """Of conditions that say the same, or the opposite, the first."""
    seen: set[Set] = set()
    for condition in conditions:
        if condition.holds not in seen:
            seen |= {condition.holds, everything & ~condition.holds}
            yield condition


def _one(candidates: tuple[Condition, ...], among: Set) -> Iterator[Condition]:
    for condition in candidates:
        yield condition
        yield _not(condition, among)


def _two(candidates: tuple[Condition, ...], among: Set) -> Iterator[Condition]:
    literals = list(_one(candidates[:MAX_FEATURES], among))
    for left, right in combinations(literals, 2):
        yield _both(left, right, "and")
        yield _both(left, right, "or")


def _three(candidates: tuple[Condition, ...], among: Set) -> Iterator[Condition]:
    literals = list(_one(candidates[: MAX_FEATURES // 2], among))
    for first, second, third in combinations(literals, 3):
        yield _both(_both(first, second, "and"), third, "and")
        yield _both(_both(first, second, "or"), third, "or")
