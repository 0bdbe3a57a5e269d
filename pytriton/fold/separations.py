"""Which condition is true of exactly these variants?

Input: the text and its variants. Output: for a set of variants among others the plainest expression over the
defines that holds for exactly those: one feature or its negation, else a tree of features. A feature is what an
``#if`` of the text asks, a flag, a comparison that a translation recorded, ``NAME == "text"``, ``TN != TN_PADDED``,
or the element type of a pointer. Invariant: what is returned was evaluated on every variant. For all other define
sets leaves.py demands the outcome that a variant had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Node, UnaryOp
from pytriton.fold.formula import OPPOSITE, is_floating
from pytriton.fold.partial import expression, value_of
from pytriton.fold.variants import Set, Unfoldable, Variants, names_in
from pytriton.lang.conditions import printed
from pytriton.lang.preprocess.structure import OPENING, Directive, directives

COMPARISONS: Final = ("==", "!=", "<", ">", "<=", ">=")
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
        self._elements = variants.elements if elements else {}
        self.words = frozenset(names_in(text))
        arms = (self._arm(of) for of in directives(text) if of.word in (*OPENING, "elif"))
        self.asked = [arm for arm in arms if arm is not None]
        self._features = list(self._all_features(padded))
        self._simple = [feature for feature in self._features if not _joins(feature.node)]
        self._separators: dict[tuple[Set, Set], Separator] = {}

    @property
    def plain(self) -> Iterator[Separator]:
        """What the text asks, and all flags and text defines."""
        return (feature for feature in self._features if feature.safe)

    def condition(self, chosen: Set, among: Set) -> Separator:
        """The plainest condition that holds for ``chosen`` and for no other of ``among``."""
        key = (chosen, among)
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
        return self.condition(least, self._variants.all)

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

    def _arm(self, directive: Directive) -> Separator | None:
        """What an ``#if`` asks, or the opposite; None where the defines do not decide it."""
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
        return condition and condition._replace(cost=1)

    def _given(self, name: str) -> str:
        """The question whether a define is given: of a flag its name."""
        has_value = name in self._variants.values and not self._variants.is_flag(name)
        return f"({name} is not None)" if has_value else name

    def _evaluated(self, node: Node) -> Separator | None:
        try:
            holds = self._variants.where(lambda n: bool(value_of(node, self._variants.of(n))))
        except (ValueError, TypeError):
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
        yield from self.asked
        names = [
            name
            for name in self._variants.values
            if not (self._elements and self._variants.is_element_type(name))
        ]
        for name in names:
            if self._variants.is_flag(name):
                yield from self._feature(Atom(name), 1)
        for name, other in padded.items():
            values = self._variants.values[name]
            pads = self._variants.where(lambda n, v=values: isinstance(v[n], int) and v[n] & (v[n] - 1) != 0)  # type: ignore[misc]
            yield Separator(BinOp("!=", Atom(name), Atom(other)), pads, 2, safe=False)
        for name in names:
            for value in dict.fromkeys(self._variants.values[name]):
                if isinstance(value, str) and value:
                    yield from self._feature(BinOp("==", Atom(name), Atom(f'"{value}"')), 2)
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
