"""Source -> the same lines with one indentation and one spacing: ``pytriton format``.

A formatter keeps what no tree has: comments, directives, the arms of an ``#if`` that are not taken, macros before
they are expanded. So it works on tokens. Line breaks stay; it sets the indentation (two blanks for each open brace;
inside brackets, where the bracket opened; the rest of a statement, as far from its start as it was), one blank
around a binary operator and after a comma, none at the end of a line, and at most one empty line. Directives stay
as they are, at the start of their line. The tokens are compared afterwards, so formatting cannot change what a
source means. Derived gradients are printed in this layout.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from pytriton.errors import Report
from pytriton.lang.preprocess.structure import OPENING, Directive, lines_of
from pytriton.lang.tokens import Comment, Kind, Token, scan, tokenize
from pytriton.source import Source

STEP: Final = 2  # blanks for an open brace
HANGING: Final = 4  # blanks for the rest of a statement that was not indented
# Column of a statement that starts within a line: its other lines are indented by HANGING.
_MIDDLE: Final = 1 << 30
_HEADS: Final = frozenset(("if", "for", "while", "switch"))
_WORDS: Final = _HEADS | {"else", "do", "return", "break", "continue"}
_TYPES: Final = frozenset(
    """void bool char short int long unsigned signed half float double bfloat16 auto enum const volatile static
    inline extern register restrict __restrict__ __restrict __constant__ __global__""".split()
)
_PREFIXES: Final = frozenset(("-", "+", "!", "~", "*", "&", "^"))
_STEPS: Final = frozenset(("++", "--"))


def formatted(source: Source) -> str:
    """The source in this layout; raises a ``CompileError`` where it is not made of tokens."""
    report = Report()
    tokens = tokenize(source, report)
    report.check()
    text = _Layout(source.text, tokens).text()
    again = tokenize(Source(text, source.name), Report())
    assert [token.text for token in again] == [token.text for token in tokens], "a token has changed"
    return text


# ---------------------------------------------------------------- blanks within a line


def _ends_operand(token: Token | None, closed: str = "") -> bool:
    """Whether what follows is a binary operator, not a prefix."""
    if token is None or token.text in _WORDS:
        return False
    return token.kind is not Kind.PUNCT or token.text == "]" or (token.text == ")" and not closed)


@dataclass(slots=True)
class _Spacing:
    """Whether a blank precedes a token, by the tokens before it. ``closed``: what the last ``)`` closed: a ``head``
    of a statement, a ``mask``, a ``cast``. ``bound``: no blank follows the last token.
    """

    before: Token | None = None
    closed: str = ""
    bound: bool = False
    generic: bool = False  # inside bitcast<...>

    def blank(self, tokens: Sequence[Token], at: int, inside: str) -> bool:
        """``inside``: the innermost open bracket, or the ``signature`` of a kernel."""
        token, before = tokens[at], self.before
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        text, previous = token.text, "" if before is None else before.text
        operand = _ends_operand(before, self.closed)
        bound, self.bound, self.before = self.bound or previous in ("(", "[", ""), False, token
        self.generic = self.generic and previous != ">"
        if previous == "bitcast" and text == "<":
            self.generic = self.bound = True
            return False
        if text in (",", ";", ")", "]") or (self.generic and text == ">") or previous + text == "?:":
            self.bound = self.generic and text == ">"
            return False
        marker = inside == "[" and previous in ("[", ",") and text in (":", "+", "-") and after in (",", "]")
        if text in _PREFIXES and (not operand or _is_star(tokens, at, inside)) and not marker:
            self.bound = True
            return not bound
        if text in _STEPS:
            operand = operand or (previous == ")" and self.closed == "")
            self.bound = not operand
            return not operand and not bound
        if previous == "*" and text == "?":  # *?(mask) pointer
            self.bound = True
            return False
        if bound:
            return False
        if text == "(":
            return previous in _WORDS or not operand
        return text not in ("[", ".", "->") and previous not in (".", "->")


@lru_cache(4096)
def _merge(before: str, after: str) -> bool:
    """Whether two tokens are read as others without a blank between them: ``- -``, ``0 .``, ``* =``."""
    return [token.text for token in scan(Source(before + after), Report())[0]][:-1] != [before, after]


def _is_star(tokens: Sequence[Token], at: int, inside: str) -> bool:
    """Whether a ``*`` makes a pointer: after a type, before a name or the end of a conversion."""
    if tokens[at].text != "*":
        return False
    first = at
    while first and tokens[first - 1].text in ("*", *_TYPES):
        first -= 1
    if first < at and tokens[first].text in _TYPES:
        return True
    word = first - 1
    last = at + 1
    while tokens[last].text in ("*", *_TYPES):
        last += 1
    if word < 0 or tokens[word].kind is not Kind.IDENT or tokens[word].text in _WORDS:
        return False
    if tokens[last].text == ")":  # (TYPE *)
        return True
    starts = word == 0 or tokens[word - 1].text in ("{", "}", ";", "typedef", *_TYPES)
    parameter = inside == "signature" and tokens[word - 1].text in ("(", ",")
    return (starts or parameter) and tokens[last].kind is Kind.IDENT


def _is_cast(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether the brackets at these places are a conversion."""
    before = tokens[first - 1] if first else None
    if _ends_operand(before) or first + 1 == last or tokens[first + 1].kind is not Kind.IDENT:
        return False
    shaped = first + 2 == last or tokens[first + 2].text in ("[", "*")
    after = tokens[last + 1]
    begins = after.kind not in (Kind.PUNCT, Kind.END) or after.text == "("
    return tokens[first + 1].text in _TYPES or (shaped and begins)


# ---------------------------------------------------------------- lines


@dataclass(slots=True)
class _Open:
    """A bracket: the indentation of its lines, and its place among the tokens."""

    text: str
    indent: int
    at: int
    kind: str = ""


@dataclass(slots=True)
class _State:
    """What an ``#else`` restores. ``bodies``: heads whose statement is on a later line; ``ifs``: how many at each
    ``if`` that an ``else`` may follow. ``started``: a statement has begun, at ``column`` of the source.
    """

    brackets: list[_Open] = field(default_factory=list)
    bodies: int = 0
    ifs: list[int] = field(default_factory=list)
    started: bool = False
    column: int = 0


class _Layout:
    def __init__(self, source: str, tokens: list[Token]) -> None:
        self.source = source
        self.parts = list(lines_of(tokens))
        self.end = tokens[-1]
        self.code = [*(part for part in self.parts if isinstance(part, Token)), self.end]
        self.lines: list[str] = []
        self.line: str | None = None
        self.state = _State()
        self.arms: list[_State] = []
        self.spacing = _Spacing()
        self.done = 0  # where what was written last ends in the source

    def text(self) -> str:
        place = 0
        for part in self.parts:
            if isinstance(part, Directive):
                self.comments(part.tokens[0])
                self.directive(part)
            else:
                self.comments(part)
                self.token(part, place)
                place += 1
        self.comments(self.end)
        self.end_line()
        return "\n".join([*self.lines, ""])

    def end_line(self) -> None:
        if self.line is not None:
            self.lines.append(self.line.rstrip())
        self.line = None

    def begin_line(self, start: int, indent: int) -> None:
        """A new line, after an empty one if there was one."""
        self.end_line()
        breaks = self.source[self.done : start].replace("\\\r\n", "").replace("\\\n", "").count("\n")
        if breaks > 1 and self.lines:
            self.lines.append("")
        self.line = " " * indent

    def column(self, start: int) -> int:
        """The column of a place of the source."""
        return start - self.source.rfind("\n", 0, start) - 1

    def indent(self, start: int, text: str = "") -> int:
        """The indentation of a line that begins here with this token, or with a comment."""
        state = self.state
        inner = state.brackets[-1] if state.brackets else None
        base = 0 if inner is None else inner.indent
        if inner is not None and inner.text != "{":
            return base
        if text == "}":
            return base - STEP
        base += STEP * state.bodies
        if not state.started or text == "{":
            return base
        moved = self.column(start) - state.column
        return base + (moved if moved > 0 else HANGING)

    # ---------------------------------------------------------------- what is not code

    def directive(self, directive: Directive) -> None:
        """A directive as it was written."""
        start = directive.tokens[0].span.start
        self.begin_line(start, 0)
        self.line = None
        self.done = start
        self.lines.append("")
        self.unchanged(directive.tokens[-1].span.end)
        if directive.word in OPENING:
            self.arms.append(copy.deepcopy(self.state))
        elif directive.word in ("else", "elif") and self.arms:
            self.state = copy.deepcopy(self.arms[-1])
        elif directive.word == "endif" and self.arms:
            self.arms.pop()

    def unchanged(self, end: int) -> None:
        """The source up to a place, on the last line."""
        lines = f"{self.lines.pop()}{self.source[self.done : end]}".splitlines()
        self.lines += [line.rstrip() for line in lines]
        self.done = end

    def comments(self, token: Token) -> None:
        for comment in token.comments:
            if comment.span.start < self.done:
                continue  # within a directive
            if self.line is None and not comment.own_line:  # behind one
                self.unchanged(comment.span.end)
            else:
                self.comment(comment)

    def comment(self, comment: Comment) -> None:
        block = self.source.startswith("/*", comment.span.start)
        text = f"/*{comment.text}*/" if block else f"//{comment.text}".rstrip()
        first, *more = text.splitlines() or [""]
        if comment.own_line:
            self.begin_line(comment.span.start, self.indent(comment.span.start))
            self.line = f"{self.line}{first}"
        else:
            assert self.line is not None
            ends = not self.line.endswith("*/") and self.source[comment.span.end :].lstrip(" \t\f\v")[:1] in (
                "\r",
                "\n",
                "",
            )
            self.line += f"  {first}" if ends else f" {first}" if self.line.strip() else first
        indent = len(self.line) - len(self.line.lstrip())
        for line in more:
            self.end_line()
            self.line = f"{' ' * indent} {line.strip()}" if line.lstrip()[:1] == "*" else line
        self.done = comment.span.end

    # ---------------------------------------------------------------- code

    def token(self, token: Token, place: int) -> None:
        text, state = token.text, self.state
        if text == "else" and not state.started and state.ifs:
            state.bodies = state.ifs.pop()
        inner = state.brackets[-1] if state.brackets else _Open("", 0, 0)
        inside = "signature" if inner.kind == "signature" else inner.text
        blank = self.spacing.blank(self.code, place, inside)
        begins = token.newline
        if token.newline or self.line is None:
            begins = True
            self.begin_line(token.span.start, self.indent(token.span.start, text))
        elif (
            blank
            or _merge(self.code[place - 1].text, text)
            or (self.line.endswith("*/") and text not in (",", ";", ")", "]"))
        ):
            self.line += " "
        if not state.started:
            state.column = self.column(token.span.start) if begins else _MIDDLE
        self.line = f"{self.line}{text}"
        self.done = token.span.end
        self.change(text, place)

    def change(self, text: str, place: int) -> None:
        """What a token does to the lines after it."""
        state = self.state
        inner = state.brackets[-1] if state.brackets else None
        assert self.line is not None
        if text in ("(", "["):
            alone = self.code[place + 1].newline
            column = len(self.line) - len(self.line.lstrip()) + HANGING if alone else len(self.line)
            state.brackets.append(_Open(text, column, place, self.kind(place)))
            state.started = True
        elif text in (")", "]") and inner is not None and inner.text != "{":
            state.brackets.pop()
            self.spacing.closed = inner.kind
            if text == ")" and not inner.kind and _is_cast(self.code, inner.at, place):
                self.spacing.closed = "cast"
                self.spacing.bound = True
            if inner.kind == "head":
                self.headed(self.code[inner.at - 1].text, place)
        elif text == "{":
            outer = 0 if inner is None else inner.indent
            state.brackets.append(_Open(text, outer + STEP * (state.bodies + 1), place))
            state.bodies, state.started = 0, False
        elif text == "}" and inner is not None:
            state.brackets.pop()
            state.bodies, state.started = 0, False
        elif text == ";" and (inner is None or inner.text == "{"):
            state.bodies, state.started = 0, False
        elif text in ("else", "do"):
            self.headed(text, place)
        elif text == ")" or inner is None or inner.text == "{":
            state.started = True

    def kind(self, place: int) -> str:
        before = [token.text for token in self.code[max(0, place - 2) : place]]
        if before[-1:] and before[-1] in _HEADS:
            return "head"
        if before[:-1] and before[0] in _TYPES and not self.state.brackets:
            return "signature"
        return "mask" if before == ["*", "?"] else ""

    def headed(self, word: str, place: int) -> None:
        """A statement follows, as the body of what was read."""
        state, after = self.state, self.code[place + 1]
        if word == "if":
            state.ifs.append(state.bodies)
        state.started = False
        if after.newline and after.text != "{":
            state.bodies += 1
