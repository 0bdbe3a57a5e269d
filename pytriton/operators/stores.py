"""Which parameters a text stores to, whatever the defines are that are not known.

Input: a text, the defines that are known, and the names of those that are given without their value showing.
Output: the positions of the parameters that are stored to *for certain* and *perhaps*. Nothing is guessed: the two
differ wherever it depends on what is not known.

Each ``#if`` that asks for something unknown is tried both ways, and for each way the tokens are read: what stands
left of an assignment to ``*p``, and first in an atomic, is followed back through pointer variables to parameters.
A name that the text does not declare stands for an unknown define, and such a define for a type, a number, a name
or an expression that stores nothing. Where it could be more (a statement, the thing that is stored to, a function
that is given a pointer), everything is possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from pytriton.errors import CompileError, Report
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.tokens import Kind, Token, scan
from pytriton.lang.tree.builtins import atomic_add_name, function_names
from pytriton.lang.tree.types import TYPE_WORDS
from pytriton.source import Source

__all__ = ["Stores", "stores"]

MAX_CONDITIONS: Final = 6  # that are tried both ways, so 64 texts
MAX_PARAMETERS: Final = 256  # where a text stores to is anybody's guess: at all these positions

_TYPES: Final = frozenset(word for words in TYPE_WORDS for word in words)
_QUALIFIERS: Final = frozenset("const restrict __restrict__ volatile static __constant__ signed".split())
_CONTROL: Final = frozenset("if else for while do return break continue typedef enum".split())
_FUNCTIONS: Final = frozenset({*function_names(), "calloc"})
_KNOWN: Final = _TYPES | _QUALIFIERS | _CONTROL | _FUNCTIONS | {"newaxis", "INFINITY", "__attribute__"}
_ASSIGNMENTS: Final = frozenset("= += -= *= /= %= &= |= ^= <<= >>=".split())
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Stores:
    """Positions of parameters: those that are stored to for certain, and those that may be."""

    sure: frozenset[int]
    may: frozenset[int]


def stores(
    source: Source, kernel: str | None, known: Mapping[str, object], unknown: Set[str], more: bool
) -> Stores:
    """What a kernel of a text stores to. ``unknown``: names that are given; ``more``: others may be given, too."""
    ways = list(_ways(source, known, unknown, more))
    if not ways:
        return _anything()
    results = [_of_one_way(Source(text, source.name), kernel, known) for text in ways]
    return Stores(
        frozenset.intersection(*(result.sure for result in results)),
        frozenset.union(*(result.may for result in results)),
    )


def _anything() -> Stores:
    return Stores(frozenset(), frozenset(range(MAX_PARAMETERS)))


# The arms of #if.


@dataclass(frozen=True)
class _Condition:
    """A directive that asks, as the text has it from ``start`` to ``end``; ``names``: all it may depend on."""

    start: int
    end: int
    word: str
    tokens: tuple[str, ...]


def _ways(source: Source, known: Mapping[str, object], unknown: Set[str], more: bool) -> Iterator[str]:
    """The text with each undecided condition decided, once for each way; nothing if there are too many."""
    conditions, macros, includes = _directives(source)
    more = more or includes
    decided: dict[_Condition, bool] = {}
    undecided: dict[tuple[str, ...], list[_Condition]] = {}
    for condition in conditions:
        if condition.word in ("ifdef", "ifndef"):
            name = condition.tokens[0] if condition.tokens else ""
            if name in unknown:
                decided[condition] = condition.word == "ifdef"
            elif more and name not in known and name not in macros:
                undecided.setdefault(("defined", name), []).append(condition)
        elif any(_is_unknown(name, known, unknown, macros, more) for name in condition.tokens):
            undecided.setdefault(condition.tokens, []).append(condition)
    if len(undecided) > MAX_CONDITIONS:
        return
    for answers in itertools.product([False, True], repeat=len(undecided)):
        way = dict(decided)
        for answer, alike in zip(answers, undecided.values(), strict=True):
            way |= {each: answer != (each.word == "ifndef") for each in alike}
        text = source.text
        for each in sorted(way, key=lambda asked: asked.start, reverse=True):
            word = "elif" if each.word == "elif" else "if"
            text = f"{text[: each.start]}{word} {int(way[each])}{text[each.end :]}"
        yield text


def _directives(source: Source) -> tuple[list[_Condition], dict[str, set[str]], bool]:
    """The conditions of a text, the names in the bodies of its macros, and whether it includes others."""
    tokens, _ = scan(source, Report())
    conditions: list[_Condition] = []
    macros: dict[str, set[str]] = {}
    includes = False
    for at, token in enumerate(tokens):
        if token.text != "#" or not token.newline:
            continue
        line = list(itertools.takewhile(lambda later: not later.newline, tokens[at + 1 :]))
        word = line[0].text if line else ""
        if word in ("if", "ifdef", "ifndef", "elif"):
            words = tuple(later.text for later in line[1:])
            conditions.append(_Condition(line[0].span.start, line[-1].span.end, word, words))
        elif word == "define" and len(line) > 1:
            macros.setdefault(line[1].text, set()).update(later.text for later in line[2:])
        includes |= word == "include"
    return conditions, macros, includes


def _is_unknown(
    name: str, known: Mapping[str, object], unknown: Set[str], macros: Mapping[str, Set[str]], more: bool
) -> bool:
    """Whether a word of a condition depends on a define without a value, by itself or through macros."""
    reached, left = set[str](), {name}
    while left:
        word = left.pop()
        reached.add(word)
        if word in unknown:
            return True
        if word not in known:
            if more and word.isidentifier() and word not in macros and word != "defined":
                return True
            left |= macros.get(word, set()) - reached
    return False


# One way through the text.


class _Unclear(Exception):
    """It may store to anything."""


def _of_one_way(source: Source, kernel: str | None, known: Mapping[str, object]) -> Stores:
    try:
        tokens = preprocess(source, known, report := Report()).tokens
        report.check()
    except CompileError:
        return _anything()
    head, body, before = _kernel(tokens, kernel)
    parameters = [_parameter(part) for part in head]
    pointers = {name for name, pointer in parameters if pointer} | _buffers(before)
    walk = _Walk(dict(parameters), pointers)
    try:
        if any(not name for name, _ in parameters):
            raise _Unclear
        walk.block(body)
        roots = [walk.followed(names) for names in walk.stored]
    except _Unclear:
        return _anything()
    positions = {name: at for at, (name, _) in enumerate(parameters)}
    may = frozenset(positions[name] for root in roots for name in root if name in positions)
    sure = frozenset(
        positions[name] for root in roots if len(root) == 1 for name in root if name in positions
    )
    return Stores(sure, may)


def _kernel(
    tokens: Sequence[Token], kernel: str | None
) -> tuple[list[list[Token]], list[Token], list[Token]]:
    """The parameters of a kernel (the first, or the one named), its body, and what stands ahead of it."""
    at = 0
    while at < len(tokens):
        if tokens[at].text == "{":  # of an enum
            at = _close(tokens, at)
        elif tokens[at].text == "(":
            end = _close(tokens, at)
            after = tokens[end + 1].text if end + 1 < len(tokens) else ""
            if after == "{" and at and tokens[at - 1].text != "__attribute__":
                last = _close(tokens, end + 1)
                if kernel is None or tokens[at - 1].text == kernel:
                    return _split(tokens[at + 1 : end], ","), list(tokens[end + 2 : last]), list(tokens[:at])
                end = last
            at = end
        at += 1
    return [], [], []


def _buffers(before: Sequence[Token]) -> set[str]:
    """The constant buffers: ``char __constant__* table = calloc(64);``."""
    return {
        buffer.text
        for buffer, equals, call in zip(before, before[1:], before[2:], strict=False)
        if equals.text == "=" and call.text == "calloc"
    }


def _parameter(part: Sequence[Token]) -> tuple[str, bool]:
    """Name, and whether it is a pointer; no name for what is no declaration."""
    words: list[str] = []
    at = 0
    while at < len(part):
        if part[at].text == "__attribute__":
            at = _close(part, at + 1)
        elif part[at].text not in _QUALIFIERS:
            words.append(part[at].text)
        at += 1
    return (words[-1], "*" in words) if len(words) > 1 and words[-1].isidentifier() else ("", False)


def _close(tokens: Sequence[Token], at: int) -> int:
    """Where the bracket at ``at`` is closed; the end of the tokens if it is not."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end].text in _OPENING) - (tokens[end].text in _OPENING.values())
        if depth == 0:
            return end
    return len(tokens)


def _split(tokens: Sequence[Token], *separators: str) -> list[list[Token]]:
    """The parts between separators that stand in no brackets; nothing for no tokens."""
    parts: list[list[Token]] = [[]] if tokens else []
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _OPENING.values())
        if depth == 0 and token.text in separators:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


@dataclass
class _Walk:
    """One body. ``names``: what is declared, and whether it is a pointer; ``given``: the pointers among the
    parameters, and the constant buffers; ``leads``: what pointers are made of; ``stored``: what the pointer of each
    store is made of.
    """

    names: dict[str, bool]
    given: set[str]
    leads: dict[str, set[str]] = field(default_factory=dict)
    stored: list[set[str]] = field(default_factory=list)

    def followed(self, names: Set[str]) -> set[str]:
        """The parameters and buffers that pointers may come from; raises _Unclear if there are none."""
        reached, left, origins = set[str](), set(names), set[str]()
        while left:
            name = left.pop()
            reached.add(name)
            left |= self.leads.get(name, set()) - reached
            if name in self.given:
                origins.add(name)
        if not origins:
            raise _Unclear
        return origins

    def block(self, tokens: Sequence[Token]) -> None:
        start = at = 0
        while at <= len(tokens):
            text = tokens[at].text if at < len(tokens) else ";"
            if text in ("(", "["):
                at = _close(tokens, at)
            elif text in (";", "{", "}"):
                self.statement(tokens[start:at])
                start = at + 1
            at += 1

    def statement(self, tokens: Sequence[Token]) -> None:
        while tokens and tokens[0].text in ("else", "do", "return"):
            tokens = tokens[1:]
        if not tokens:
            return
        first = tokens[0].text
        if first in ("if", "while", "for"):
            end = _close(tokens, 1)
            parts = _split(tokens[2:end], ";")
            for part in parts[: first == "for"]:
                self.statement(part)
            for part in parts[first == "for" :]:
                self.expression(part)
            self.statement(tokens[end + 1 :])
        elif _is_word(tokens[0]) and len(tokens) > 1 and (_is_word(tokens[1]) or tokens[1].text == "*"):
            self.declaration(tokens)
        else:
            hole = self.is_hole(tokens[0])
            if hole or (first == "(" and any(map(self.is_hole, tokens[1:2]))):
                raise _Unclear
            for part in _split(tokens, ","):
                self.expression(part)

    def declaration(self, tokens: Sequence[Token]) -> None:
        hole = self.is_hole(tokens[0])
        for part in _split(tokens, ","):
            equals = next((at for at, token in enumerate(part) if token.text == "="), len(part))
            left = list(itertools.takewhile(lambda token: token.text != "[", part[:equals]))
            name = next((token.text for token in reversed(left) if _is_word(token)), "")
            pointer = any(token.text == "*" for token in left)
            if not name or (hole and self.names.get(name)):  # HOLE *p = 1; where p is known: no type?
                raise _Unclear
            self.names[name] = pointer
            self.expression(part[equals + 1 :])
            if pointer:
                self.leads.setdefault(name, set()).update(self.bases(part[equals + 1 :]))

    def expression(self, tokens: Sequence[Token]) -> None:
        """The stores in an expression, and what it assigns to pointers."""
        for at, token in enumerate(tokens):
            if token.text in _ASSIGNMENTS:
                self.assignment(_left_of(tokens, at), token.text, _right_of(tokens, at))
            elif token.text in ("++", "--") and any(
                neighbour.text in ("*", ")", "(")
                for neighbour in (*tokens[at - 1 : at], *tokens[at + 1 : at + 2])
            ):
                raise _Unclear
            elif _is_word(token) and tokens[at + 1 : at + 2] and tokens[at + 1].text == "(":
                self.call(token, tokens, at + 1)

    def assignment(self, left: Sequence[Token], operator: str, right: Sequence[Token]) -> None:
        while len(left) > 1 and left[0].text == "(" and _close(left, 0) == len(left) - 1:
            left = left[1:-1]
        if left and left[0].text == "*":
            start = 1
            if [token.text for token in left[1:3]] == ["?", "("]:
                start = _close(left, 2) + 1
            self.stored.append(self.bases(left[start:]))
        elif len(left) == 1 and left[0].text in self.names:
            if operator == "=" and self.names[left[0].text]:
                self.leads.setdefault(left[0].text, set()).update(self.bases(right))
        else:
            raise _Unclear

    def call(self, name: Token, tokens: Sequence[Token], opening: int) -> None:
        close = _close(tokens, opening)
        if tokens[close + 1 : close + 2] and tokens[close + 1].text == "(" and atomic_add_name(name.text):
            opening, close = close + 1, _close(tokens, close + 1)  # atomic_add(TYPE, TM, TN)(p, v, m)
        arguments = _split(tokens[opening + 1 : close], ",")
        if atomic_add_name(name.text) or name.text in ("atomic_cas", "atomic_xchg"):
            self.stored.append(self.bases(arguments[0] if arguments else []))
        elif name.text not in _FUNCTIONS | _CONTROL and any(
            self.names.get(base) or base in self.given
            for argument in arguments
            for base in self.bases(argument)
        ):
            raise _Unclear  # an unknown define may be an atomic

    def bases(self, tokens: Sequence[Token]) -> set[str]:
        """The names that a pointer may be made of: not what is loaded, asked or indexed on the way."""
        names: set[str] = set()
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.text == "*" and _is_prefix(tokens, at):
                at = self._after_operand(tokens, at + 1)
                continue
            if token.text == "[":
                at = _close(tokens, at)
            elif _is_word(token):
                if self.is_hole(token) and any(
                    _is_operand(neighbour)
                    for neighbour in (*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2])
                ):
                    raise _Unclear
                names.add(token.text)
            at += 1
        return names

    def _after_operand(self, tokens: Sequence[Token], at: int) -> int:
        """Where the operand of a load ends: ``*p``, ``*?(m)(p + i)``, ``**p``."""
        if [token.text for token in tokens[at : at + 2]] == ["?", "("]:
            at = _close(tokens, at + 1) + 1
        while at < len(tokens) and tokens[at].text == "*":
            at += 1
        if at < len(tokens):
            at = _close(tokens, at) if tokens[at].text == "(" else at
        return at + 1

    def is_hole(self, token: Token) -> bool:
        """Whether a name is an unknown define."""
        text = token.text
        return (
            _is_word(token)
            and token.kind is not Kind.CONSTEXPR
            and text not in self.names
            and text not in self.given
            and text not in _KNOWN
            and not atomic_add_name(text)
        )


def _is_word(token: Token) -> bool:
    return token.kind in (Kind.IDENT, Kind.CONSTEXPR)


def _is_operand(token: Token) -> bool:
    return _is_word(token) or token.kind is Kind.NUMBER


def _is_prefix(tokens: Sequence[Token], at: int) -> bool:
    """Whether the ``*`` there loads: it follows no operand."""
    if at == 0:
        return True
    before = tokens[at - 1]
    return not (_is_operand(before) or before.text in (")", "]"))


def _left_of(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """What an assignment assigns to: back to an open bracket, a comma or another assignment."""
    depth = 0
    for start in range(at - 1, -1, -1):
        text = tokens[start].text
        depth += (text in _OPENING.values()) - (text in _OPENING)
        if depth < 0 or (depth == 0 and (text == "," or text in _ASSIGNMENTS)):
            return tokens[start + 1 : at]
    return tokens[:at]


def _right_of(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """What is assigned: up to a closing bracket or a comma."""
    depth = 0
    for end in range(at + 1, len(tokens)):
        text = tokens[end].text
        depth += (text in _OPENING) - (text in _OPENING.values())
        if depth < 0 or (depth == 0 and text == ","):
            return tokens[at + 1 : end]
    return tokens[at + 1 :]
