"""Macros: what one is, and how ``#define`` is read (C11 6.10.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from pytriton.errors import Report, short
from pytriton.frozen import record, replace
from pytriton.lang.tokens import Comment, Kind, Token
from pytriton.source import Span

# C11 6.10.8p4: neither #define nor #undef may name them.
RESERVED: Final = frozenset({"defined", "__LINE__", "__FILE__", "__VA_ARGS__"})


@record
class Macro:
    """A macro. ``params`` is None for an object-like one.

    A variadic one has ``__VA_ARGS__`` as its last parameter. ``value``: it is a number define.
    ``given``: it comes from ``defines``, and the text cannot redefine it. ``quiet``: it is from the
    prelude, which no diagnostic mentions. ``where``: the name in its definition.
    """

    name: str
    body: tuple[Token, ...]
    params: tuple[str, ...] | None = None
    variadic: bool = False
    value: int | float | None = None
    given: bool = False
    quiet: bool = False
    dynamic: Literal["line", "file"] | None = None
    where: Span | None = None

    def same_as(self, other: Macro) -> bool:
        """Whether this is a benign redefinition (C11 6.10.3p2)."""
        return (
            (self.params, self.variadic, self.dynamic) == (other.params, other.variadic, other.dynamic)
            and [token.text for token in self.body] == [token.text for token in other.body]
            and [token.spaced for token in self.body[1:]] == [token.spaced for token in other.body[1:]]
        )

    @property
    def calls(self) -> str:
        """The name as a diagnostic shows it."""
        return f"'{short(self.name)}'"


def join(tokens: Iterable[Token]) -> str:
    """The spelling of a token run: one blank wherever there was any white space."""
    pieces: list[str] = []
    for token in tokens:
        if pieces and (token.spaced or token.newline):
            pieces.append(" ")
        pieces.append(token.text)
    return "".join(pieces)


def with_comments(token: Token, comments: tuple[Comment, ...], spaced: bool | None = None) -> Token:
    """The token with these comments instead of its own."""
    return replace(token, comments=comments, spaced=token.spaced if spaced is None else spaced)


def parse_define(name: Token, replacement: Sequence[Token], report: Report) -> Macro | None:
    """The macro that ``#define name rest`` defines; None (and an error) where it is malformed."""
    if name.kind is not Kind.IDENT:
        help_ = "write '#define NAME replacement'"
        report.error("TC102", f"#define requires a name, found '{name.text[:60]}'", name.span, help=help_)
        return None
    if name.text in RESERVED:
        report.error("TC102", f"'{name.text}' cannot be defined", name.span)
        return None
    params: tuple[str, ...] | None = None
    variadic = False
    body = tuple(replacement)
    if replacement and replacement[0].text == "(" and not replacement[0].spaced:
        parameters = _parameters(name, replacement, report)
        if parameters is None:
            return None
        params, variadic, body = parameters
    elif replacement and not replacement[0].spaced:
        report.warning(
            "TC163", f"no space between '{name.text[:60]}' and its replacement", replacement[0].span
        )
    if any(token.comments or token.newline for token in body):
        body = tuple(replace(token, newline=False, comments=()) for token in body)
    macro = Macro(name.text, body, params, variadic, where=name.span)
    return macro if body_is_sound(macro, report) else None


def _parameters(
    name: Token, replacement: Sequence[Token], report: Report
) -> tuple[tuple[str, ...], bool, tuple[Token, ...]] | None:
    """``( a, b, ... )`` and what follows it."""
    params: dict[str, None] = {}
    at = 1
    if at < len(replacement) and replacement[at].text == ")":
        return (), False, tuple(replacement[at + 1 :])
    while at < len(replacement):
        token = replacement[at]
        if token.text == "...":
            params["__VA_ARGS__"] = None
        elif token.kind is not Kind.IDENT or token.text == "__VA_ARGS__":
            break
        elif token.text in params:
            report.error("TC103", f"parameter '{token.text[:60]}' is declared twice", token.span)
            return None
        else:
            params[token.text] = None
        after = replacement[at + 1].text if at + 1 < len(replacement) else ""
        if after == ")":
            return tuple(params), token.text == "...", tuple(replacement[at + 2 :])
        if after != "," or token.text == "...":
            at += 1
            break
        at += 2
    bad = replacement[at] if at < len(replacement) else None
    message = f"the parameter list of macro '{name.text[:60]}' is not closed"
    if bad is not None:
        message = f"'{bad.text[:60]}' is not valid in the parameters of macro '{name.text[:60]}'"
    help_ = "write '#define NAME(a, b, ...) replacement'"
    report.error("TC103", message, bad.span if bad else name.span, help=help_)
    return None


def body_is_sound(macro: Macro, report: Report) -> bool:
    """The constraints on ``#``, ``##`` and ``__VA_ARGS__``."""
    body = macro.body
    if not body:
        return True
    for edge in (body[0], body[-1]):
        if edge.text == "##":
            report.error("TC105", "'##' requires a token on each side", edge.span)
            return False
    for at, token in enumerate(body):
        if token.text == "__VA_ARGS__" and not macro.variadic:
            help_ = "end the macro's parameters with '...'"
            report.error("TC106", "__VA_ARGS__ in a macro without '...'", token.span, help=help_)
            return False
        if token.text == "#" and macro.params is not None:
            operand = body[at + 1].text if at + 1 < len(body) else "the end of the line"
            if operand not in macro.params:
                message = f"'#' requires a parameter of the macro, found {operand[:60]!r}"
                report.error("TC104", message, token.span)
                return False
    return True
