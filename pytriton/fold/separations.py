"""Which condition is true of exactly these variants?

Input: the text and its variants. Output: for a set of variants among others the plainest expression over the
defines that holds for exactly those: what the text itself asks around the statement (``#if``), else one
feature or its negation, else a tree of features. A feature is a flag, a comparison that a translation recorded,
``NAME == "text"``, ``TN != TN_PADDED``, or the element type of a pointer. Invariant: what is returned was evaluated
on every variant. For all other define sets leaves.py demands the outcome that a variant had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import reduce
from operator import and_
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Node, UnaryOp
from pytriton.fold.formula import OPPOSITE, is_floating
from pytriton.fold.partial import UNDECIDED, RecordedValues, expression, value_of
from pytriton.fold.variants import Set, Unfoldable, Variants, names_in
from pytriton.fold.walk import walk
from pytriton.lang.conditions import printed
from pytriton.lang.preprocess.structure import OPENING, Directive, directives

COMPARISONS: Final = ("==", "!=", "<", ">", "<=", ">=")
_STATED: Final = frozenset((*COMPARISONS, "is", "is not", "and", "or", "not", "*", "+", "-"))
_WORDS: Final = {"&&": "and", "||": "or", "!": "not"}
_DEFINED: Final = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")


class Separator(NamedTuple):
    """An expression, the variants that it holds for, and how hard it is to read (1: a word).

    ``safe``: it asks for nothing but what the text's own ``#if`` and text defines ask. Any other may hold for
    the known variants by accident.
    """

    node: Node
    holds: Set
    cost: int
    safe: bool = True


class Separations:
    """The conditions of one text over its variants.

    ``asked``: what each ``#if`` and ``#elif`` asks. ``words``: all names in the text.
    """

    def __init__(self, text: str, variants: Variants, padded: dict[str, str], elements: bool = True) -> None:
        """``elements``: conditions ask for the element types of pointers, not for the defines that name them."""
        self._variants = variants
        self._rows = [RecordedValues(variants.of(variant)) for variant in range(variants.count)]
        self._elements = variants.asked if elements else {}
        self.words = frozenset(names_in(text))
        self.asked: list[Separator] = []
        self._arms = dict(self._by_line(text))
        self._text = text.split("\n")
        self._features = list(self._all_features(padded))
        self._simple = [feature for feature in self._features if not _joins(feature.node)]
        self._separators: dict[tuple[Set, Set, int], Separator] = {}

    def exclude(self, line: int, other: int) -> bool:
        """Whether no variant reads both of two lines: they are in different arms of one ``#if``."""
        return not self._read(line, other)

    def around(self, comment: str) -> Set:
        """The variants whose text has a comment; none if it occurs in several places."""
        lines = [number for number, line in enumerate(self._text, 1) if comment in line]
        return self._read(*lines) if len(lines) == 1 else 0

    def _read(self, *lines: int) -> Set:
        """The variants that read all of these lines."""
        return reduce(
            and_, (arm.holds for line in lines for arm in self._arms.get(line, ())), self._variants.all
        )

    def condition(self, chosen: Set, among: Set, line: int) -> Separator:
        """The plainest condition that holds for ``chosen`` and for no other of ``among``."""
        key = (chosen, among, line)
        if key not in self._separators:
            fitting = [c for c in _with_negations(self._features, among) if c.holds & among == chosen]
            plainest = min(fitting, key=lambda condition: condition.cost, default=None)
            self._separators[key] = plainest or self._tree(chosen, among)
        return self._separators[key]

    def between(self, least: Set, most: Set) -> Separator:
        """The plainest condition that holds for all of ``least``, and for none but ``most``."""
        fitting = [
            c
            for c in _with_negations(self._features, self._variants.all)
            if c.safe and not (least & ~c.holds | c.holds & ~most)
        ]
        if fitting:
            return min(fitting, key=lambda condition: condition.cost)
        return self.condition(least, self._variants.all, 0)

    def _tree(self, chosen: Set, among: Set) -> Separator:
        """A choice by one feature, and inside its two sides by others, as long as both kinds are in a side."""
        if not among & ~chosen:
            return Separator(Atom("True"), among, 0)
        if not among & chosen:
            return Separator(Atom("False"), 0, 0)
        useful = [
            candidate for candidate in self._simple if among & candidate.holds and among & ~candidate.holds
        ]
        if not useful:
            raise Unfoldable("two variants that differ have the same defines")
        feature = min(useful, key=lambda candidate: (_mixed(chosen, among, candidate.holds), candidate.cost))
        then, otherwise = (self._tree(chosen, among & side) for side in (feature.holds, ~feature.holds))
        return _chosen(feature, then, otherwise, among)

    # ---------------------------------------------------------------- the text's own conditions

    def _by_line(self, text: str) -> Iterator[tuple[int, tuple[Separator, ...]]]:
        """The arms of ``#if`` around each line of the text; those that the defines do not decide are left out."""
        everything = self._variants.all
        stack: list[list[Separator | None]] = []  # of each open #if: its arms so far, the last one is open
        start = 1
        for directive in directives(text):
            yield from self._inside(stack, range(start, directive.line))
            word, start = directive.word, directive.line + 1
            if word == "endif":
                del stack[-1:]
            elif word in ("else", "elif") and stack:
                always = Separator(Atom("True"), everything, 0)
                stack[-1].append(always if word == "else" else self._arm(directive))
            elif word in OPENING:
                stack.append([self._arm(directive)])
        yield from self._inside(stack, range(start, text.count("\n") + 2))

    def _inside(
        self, stack: list[list[Separator | None]], lines: range
    ) -> Iterator[tuple[int, tuple[Separator, ...]]]:
        arms = [_reached(arms, self._variants.all) for arms in stack]
        open_ = tuple(arm for arm in arms if arm is not None)
        return ((number, open_) for number in lines)

    def _arm(self, directive: Directive) -> Separator | None:
        text = " ".join(_WORDS.get(token.text, token.text) for token in directive.tokens[2:])
        if directive.word in ("ifdef", "ifndef"):
            text = f"defined {directive.names[0]}" if directive.names else "0"
        text = _DEFINED.sub(lambda match: self._given(match[1] or match[2]), text)
        condition: Separator | None = None
        if all(
            name in self._variants.values for name in directive.names
        ):  # else the kernel has no such constexpr
            with suppress(SyntaxError):
                condition = self._evaluated(expression(text))
        if condition is None:
            return None
        condition = condition._replace(cost=1)
        self.asked.append(condition)
        return _not(condition, self._variants.all) if directive.word == "ifndef" else condition

    def _given(self, name: str) -> str:
        """The question whether a define is given: of a flag its name."""
        has_value = name in self._variants.values and not self._variants.is_flag(name)
        return f"({name} is not None)" if has_value else name

    def _evaluated(self, node: Node) -> Separator | None:
        """Where a condition holds; None for one that leaves.py cannot state of other define sets."""
        if any(isinstance(x, BinOp | UnaryOp) and x.operator not in _STATED for x in walk(node)):
            return None
        try:
            holds = self._variants.where(lambda n: bool(value_of(node, self._rows[n])))
        except UNDECIDED:
            return None
        return Separator(node, holds, _cost(node))

    # ---------------------------------------------------------------- features

    def _all_features(self, padded: dict[str, str]) -> Iterator[Separator]:
        seen: set[Node] = set()
        for condition in self._candidates(padded):
            if condition.holds not in (0, self._variants.all) and condition.node not in seen:
                seen.add(condition.node)
                yield condition

    def _candidates(self, padded: dict[str, str]) -> Iterator[Separator]:
        """All features, the plainest first."""
        everywhere = [*self.asked, *(arm for arms in self._arms.values() for arm in arms)]
        yield from sorted(everywhere, key=lambda condition: condition.cost)
        names = [
            name
            for name in self._variants.values
            if not (self._elements and self._variants.is_element_type(name))
            and not self._variants.names_kernel(name)  # its value is free (leaves.py)
        ]
        for name in names:
            if self._variants.is_flag(name):
                yield from self._feature(Atom(name), 1)
        for name, other in padded.items():
            yield Separator(BinOp("!=", Atom(name), Atom(other)), self._variants.padded[name], 2, safe=False)
        for name in names:
            for value in dict.fromkeys(self._variants.values[name]):
                if isinstance(value, str) and value:
                    yield from self._feature(BinOp("==", Atom(name), Atom(f'"{value}"')), 2)
                elif name in self._variants.spelled and value is not None:
                    yield from self._feature(BinOp("==", Atom(name), Atom(str(value))), 2)
        for name, words in self._elements.items():
            for word in dict.fromkeys(words):
                holds = self._variants.where(lambda n, w=words, t=word: w[n] == t)  # type: ignore[misc]
                yield Separator(BinOp("==", Atom(f"{name}.dtype.element_ty"), Atom(f"tl.{word}")), holds, 3)
        for comparison in self._recorded():
            yield from self._feature(comparison, 4, False)

    def _recorded(self) -> Iterator[Node]:
        """What the translations asked of integers, as far as it can be asked in a kernel."""
        variants = self._variants.variants
        entries = dict.fromkeys(
            entry for variant in variants for entry in variant.translation.conditions.entries
        )
        for entry in entries:
            with suppress(SyntaxError):
                if not is_floating(entry):
                    yield expression(printed(entry))

    def _feature(self, node: Node, cost: int, safe: bool = True) -> Iterator[Separator]:
        condition = self._evaluated(node)
        if condition is not None:
            yield condition._replace(cost=cost, safe=safe)


def _cost(node: Node) -> int:
    match node:
        case BinOp(left=left, right=right):
            return _cost(left) + _cost(right)
        case UnaryOp(operand=operand):
            return _cost(operand) + 1
    return 1


def _reached(arms: list[Separator | None], everything: Set) -> Separator | None:
    """The condition under which the last of these arms is read: it holds, and none before it does."""
    parts: list[Separator] = []
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
        condition = _and(condition, part)
    return condition._replace(cost=len(parts))


def negated(node: Node) -> Node:
    """The opposite of a condition."""
    if isinstance(node, BinOp) and node.operator in OPPOSITE:
        return BinOp(OPPOSITE[node.operator], node.left, node.right)
    if isinstance(node, UnaryOp) and node.operator == "not":
        return node.operand
    return UnaryOp("not", node)


def _not(condition: Separator, among: Set) -> Separator:
    node = negated(condition.node)
    return Separator(node, among & ~condition.holds, condition.cost + 1, condition.safe)


def _joins(node: Node) -> bool:
    """Whether a condition is made of several."""
    return isinstance(node, BinOp) and node.operator in ("and", "or")


def _mixed(chosen: Set, among: Set, holds: Set) -> int:
    """How many variants are on a side of a feature on which most are of the other kind."""
    sides = (among & holds, among & ~holds)
    return sum(min((side & chosen).bit_count(), (side & ~chosen).bit_count()) for side in sides)


def _chosen(feature: Separator, then: Separator, otherwise: Separator, among: Set) -> Separator:
    """``then`` where the feature holds, ``otherwise`` where it does not."""
    if then.node == otherwise.node:
        return then._replace(holds=then.holds | otherwise.holds)
    opposite = _not(feature, among)
    always = then.holds == among & feature.holds, otherwise.holds == opposite.holds
    if always == (True, False):
        return _or(feature, otherwise) if otherwise.holds else feature
    if always == (False, True):
        return _or(opposite, then) if then.holds else opposite
    if not then.holds:
        return _and(opposite, otherwise)
    if not otherwise.holds:
        return _and(feature, then)
    return _or(_and(feature, then), _and(opposite, otherwise))


def _and(left: Separator, right: Separator) -> Separator:
    return Separator(BinOp("and", left.node, right.node), left.holds & right.holds, left.cost + right.cost)


def _or(left: Separator, right: Separator) -> Separator:
    return Separator(BinOp("or", left.node, right.node), left.holds | right.holds, left.cost + right.cost + 1)


def _with_negations(candidates: Iterable[Separator], among: Set) -> Iterator[Separator]:
    for condition in candidates:
        yield condition
        yield _not(condition, among)
