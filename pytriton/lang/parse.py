"""Tokens -> syntax tree, by lark's LALR(1) tables for grammar/triton_c.lark.

Input: preprocessed tokens. Output: a ``File``. Invariants: every node's span covers its text; the first syntax
error ends the work, as what follows one is guesswork. ``classify.py`` names the terminals, ``reduce.py`` builds
the nodes; this file owns lark and says what was expected where a text does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from lark import Lark, UnexpectedInput, UnexpectedToken
from lark.lexer import Lexer, PatternStr

from pytriton.errors import Report
from pytriton.lang import syntax
from pytriton.lang.classify import TYPES, WORDS, Fed, classify
from pytriton.lang.reduce import Builder
from pytriton.lang.scope import closest
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Span

__all__ = ["grammar_text", "parse"]


def parse(tokens: list[Token], report: Report) -> syntax.File:
    """Parse preprocessed tokens (``END`` last).

    Raises ``ParseError`` or ``UnsupportedError`` through ``report`` for the first thing that does not fit.
    """
    lark, names = _parser()
    fed = list(classify(tokens, names, report))
    report.check()
    try:
        items = lark.parse(fed)
    except UnexpectedToken as error:
        _refuse(error, fed, report)
    except UnexpectedInput:
        report.fatal("TC201", "this is not Triton-C", tokens[-1].span)
    assert isinstance(items, tuple)
    first = tokens[0].span
    whole = Span(first.source, 0, len(first.source.text))
    comments = tuple(comment for token in tokens for comment in token.comments)
    return syntax.File(whole, items, comments)


def grammar_text() -> str:
    """The grammar: inside the package in a wheel, one level up in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for root in (package, package.parent):
        path = root / "grammar" / "triton_c.lark"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError("grammar/triton_c.lark is missing from this installation of pytriton")


# ---------------------------------------------------------------- tokens for lark


class _Feed(Lexer):
    """Hands lark the tokens that were classified before."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, data: list[Fed]) -> Iterator[Fed]:  # type: ignore[override]
        return iter(data)


@cache
def _parser() -> tuple[Lark, dict[str, str]]:
    """The tables, built once a process, and the terminal name of every fixed spelling."""
    lark = Lark(
        grammar_text(),
        parser="lalr",
        lexer=_Feed,
        transformer=Builder(),
        keep_all_tokens=True,
        maybe_placeholders=True,
    )
    names = {
        terminal.pattern.value: terminal.name
        for terminal in lark.terminals
        if isinstance(terminal.pattern, PatternStr)
    }
    return lark, names | WORDS


# ---------------------------------------------------------------- syntax errors

_SPELLED: Final = {
    "IDENT": "a name",
    "NUMBER": "a number",
    "TYPE": "a type",
    "STRING": "a string",
    "$END": "the end of the text",
}


def _refuse(error: UnexpectedToken, fed: list[Fed], report: Report) -> None:
    """Say what was found and what would have fitted."""
    _, names = _parser()
    spelled = {terminal: f"'{text}'" for text, terminal in names.items() if terminal.isupper()}
    spelled |= _SPELLED
    accepts: set[str] = set(error.accepts or error.expected)
    index = next((i for i, token in enumerate(fed) if token is error.token), len(fed))
    before = fed[index - 1].token if index else None
    found = fed[index].token if index < len(fed) else None
    span = found.span if found else fed[-1].token.span if fed else None
    if span is None:
        return
    shown = f"'{found.text}'" if found else "the end of the text"
    unknown = _unknown_type(before, found, fed[index - 1] if index else None, accepts)
    if unknown is not None:
        near = closest(unknown.text, TYPES)
        help = f"give it in defines, as in defines={{'{unknown.text}': 'float'}}, or by a typedef"
        help = f"did you mean '{near}'?" if near else help
        report.fatal("TC203", f"'{unknown.text}' is no type", unknown.span, help=help)
    if before is not None and "SEMICOLON" in accepts and (found is None or found.newline):
        end = Span(before.span.source, before.span.end - 1, before.span.end, before.span.expansion)
        report.fatal("TC202", f"expected ';' after '{before.text}'", end)
    if {"IDENT", "NUMBER"} <= accepts:
        wanted = "an expression" if "TYPE" not in accepts else "a statement or an expression"
    elif "TYPE" in accepts and len(accepts) > 3:
        wanted = "a type"
    else:
        words = sorted(spelled.get(terminal, terminal.lower()) for terminal in accepts)
        closing = [word for word in words if word in ("';'", "')'", "']'", "'}'", "','", "'('")]
        words = closing or words
        wanted = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    report.fatal("TC201", f"expected {wanted}, found {shown}", span)


def _unknown_type(
    before: Token | None, found: Token | None, previous: Fed | None, accepts: set[str]
) -> Token | None:
    if found is None or found.kind is not Kind.IDENT:
        return None
    if previous is not None and before is not None and previous.type == "IDENT":
        return before
    if "TYPE" in accepts and "IDENT" not in accepts:
        return found
    return None
