"""Text -> the same lines with one indentation and one spacing: ``python -m pytriton format``.

A formatter has to keep what no tree holds: comments, directives, the arms of an ``#if`` that were not taken, macros
before they are expanded. So it works on tokens. Lines are the author's; what is set is how far they are indented
(two blanks for each open brace; inside brackets, where the bracket opened; the rest of a statement, as far from its
start as it was), one blank around a binary operator and after a comma, none at the end of a line, one empty line at
most. Directives stay as they are, at the start of their line. That the tokens are the same afterwards is checked,
so formatting cannot change what a text means. Derived gradients are printed in this layout.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pytriton.errors import Report
from pytriton.lang.tokens import Comment, Kind, Token, tokenize
from pytriton.source import Source

STEP: Final = 2  # blanks for an open brace
HANGING: Final = 4  # blanks for the rest of a statement that was not indented
_HEADS: Final = frozenset(("if", "for", "while", "switch"))
_WORDS: Final = _HEADS | {"else", "do", "return", "break", "continue"}
_TYPES: Final = frozenset(
    """void bool char short int long unsigned signed half float double bfloat16 auto enum const volatile static
    inline extern register restrict __restrict__ __restrict __constant__ __global__""".split()
)
_PREFIXES: Final = frozenset(("-", "+", "!", "~", "*", "&", "^"))
_STEPS: Final = frozenset(("++", "--"))


def formatted(source: Source) -> str:
    """The text in our layout; raises a ``CompileError`` where it is not made of tokens."""
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
    """Whether a blank stands before a token, by the tokens before it. ``closed``: what the last ``)`` closed: the
    ``head`` of a statement, a ``mask``, a ``cast``. ``bound``: the last token stands at what follows.
    """

    before: Token | None = None
    closed: str = ""
    bound: bool = False
    generic: bool = False  # inside bitcast<...>

    def blank(self, tokens: Sequence[Token], at: int, inside: str) -> bool:
        """``inside``: the innermost open bracket."""
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
        if text in _PREFIXES and (not operand or _is_star(tokens, at)) and not marker:
            self.bound = True
            clash = bound and text == previous and text in ("-", "+", "&")
            return clash or not bound
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


def _is_star(tokens: Sequence[Token], at: int) -> bool:
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
    parameter = word > 0 and tokens[word - 1].text in ("(", ",") and _in_signature(tokens, word)
    return (starts or parameter) and tokens[last].kind is Kind.IDENT


def _in_signature(tokens: Sequence[Token], at: int) -> bool:
    """Whether a place is among the parameters of a kernel: in one bracket, after ``void f``."""
    depth = 0
    while at > 1:
        at -= 1
        depth += (tokens[at].text in (")", "]")) - (tokens[at].text in ("(", "["))
        if depth < 0 or tokens[at].text in ("{", "}", ";"):
            break
    return depth < 0 and at > 1 and tokens[at - 1].kind is Kind.IDENT and tokens[at - 2].text in _TYPES


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
    """A bracket: where its lines stand, and where it is among the tokens."""

    text: str
    indent: int
    at: int
    kind: str = ""


@dataclass(slots=True)
class _State:
    """What an ``#else`` comes back to. ``bodies``: heads before whose statement the line ended; ``ifs``: how many
    there were at each ``if`` that an ``else`` may follow. ``started``: a statement has begun; ``column``: where it
    did, in the source.
    """

    brackets: list[_Open] = field(default_factory=list)
    bodies: int = 0
    ifs: list[int] = field(default_factory=list)
    started: bool = False
    column: int = 0


class _Layout:
    def __init__(self, source: str, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.code = [*_without_directives(tokens), tokens[-1]]
        self.lines: list[str] = []
        self.line: str | None = None
        self.state = _State()
        self.arms: list[_State] = []
        self.spacing = _Spacing()
        self.done = 0  # where what was written last ends in the source

    def text(self) -> str:
        at = place = 0
        while self.tokens[at].kind is not Kind.END:
            token = self.tokens[at]
            self.comments(token)
            if token.newline and token.text == "#":
                at = self.directive(at)
                continue
            self.token(token, place)
            at, place = at + 1, place + 1
        self.comments(self.tokens[at])
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
        """Where a place of the source stands in its line."""
        return start - self.source.rfind("\n", 0, start) - 1

    def indent(self, start: int, text: str = "") -> int:
        """Of a line that begins here with this token, or with a comment."""
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

    def directive(self, at: int) -> int:
        """A directive as it was written; the place of the next token."""
        start, end = self.tokens[at].span.start, at + 1
        while not self.tokens[end].newline:
            end += 1
        until = self.tokens[end - 1].span.end
        for comment in self.tokens[end].comments:
            if not comment.own_line:
                until = comment.span.end
        self.begin_line(start, 0)
        self.line = None
        self.lines += [line.rstrip() for line in self.source[start:until].splitlines()]
        self.done = until
        word = self.tokens[at + 1].text if end > at + 1 else ""
        if word in ("if", "ifdef", "ifndef"):
            self.arms.append(copy.deepcopy(self.state))
        elif word in ("else", "elif") and self.arms:
            self.state = copy.deepcopy(self.arms[-1])
        elif word == "endif" and self.arms:
            self.arms.pop()
        return end

    def comments(self, token: Token) -> None:
        for comment in token.comments:
            if comment.span.start >= self.done:
                self.comment(comment)

    def comment(self, comment: Comment) -> None:
        block = self.source.startswith("/*", comment.span.start)
        text = f"/*{comment.text}*/" if block else f"//{comment.text}".rstrip()
        first, *more = text.splitlines() or [""]
        if comment.own_line or self.line is None:
            self.begin_line(comment.span.start, self.indent(comment.span.start))
            self.line = f"{self.line}{first}"
        else:
            ends = self.source[comment.span.end :].lstrip(" \t\f\v")[:1] in ("\r", "\n", "")
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
        inside = state.brackets[-1].text if state.brackets else ""
        blank = self.spacing.blank(self.code, place, inside)
        if token.newline or self.line is None:
            self.begin_line(token.span.start, self.indent(token.span.start, text))
        elif blank or (self.line.endswith("*/") and text not in (",", ";", ")", "]")):
            self.line += " "
        if not state.started:
            state.column = self.column(token.span.start)
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
        return "mask" if before == ["*", "?"] else ""

    def headed(self, word: str, place: int) -> None:
        """A statement follows, as the body of what was read."""
        state, after = self.state, self.code[place + 1]
        if word == "if":
            state.ifs.append(state.bodies)
        state.started = False
        if after.newline and after.text != "{":
            state.bodies += 1


def _without_directives(tokens: Sequence[Token]) -> list[Token]:
    result: list[Token] = []
    directive = False
    for token in tokens[:-1]:
        directive = (directive and not token.newline) or (token.newline and token.text == "#")
        if not directive:
            result.append(token)
    return result
