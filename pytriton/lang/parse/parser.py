"""Tokens -> syntax tree.

Input: preprocessed tokens. Output: a ``File``. Invariant: every node's span covers its text. ``terminals.py`` names
the terminals, ``grammar.py`` parses, ``builder.py`` builds the nodes. This file recovers from
errors.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from pytriton.errors import CompileError, Diagnostic, Report
from pytriton.lang.grammar import Parser
from pytriton.lang.parse import syntax
from pytriton.lang.parse.builder import Builder
from pytriton.lang.parse.syntax_errors import ELSE, NESTED, Stop, refuse
from pytriton.lang.parse.terminals import classify
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Span

# ---------------------------------------------------------------- recovery
# Recovery from syntax errors: all of them, as many as are independent.
#
# Input: the parser, stopped at the first token that does not fit. ``syntax_errors.py`` words the error.
# Inside a kernel the parser goes on with the next statement, only to find more errors.


_HEADS: Final = ("IF", "FOR", "WHILE")
MAX_ERRORS: Final = 40  # echoes included; each scans the whole source


def refuse_all(parser: Parser, tokens: list[Token], at: int, report: Report) -> None:
    """Report the error at a token (without ``END``), and those after it that do not follow from it; raises."""
    resumed: int | None = 0
    reported: set[tuple[str, int] | str] = set()
    before = -1  # the place of the error before: where there is no progress, this ends
    for _ in range(MAX_ERRORS):
        if not tokens or at == before:
            break
        before = at
        opened = _opened(tokens, at, resumed or 0)
        stop = Stop(tokens, at, parser.accepts(), [tokens[i] for i in opened])
        own = Report()
        try:
            refuse(stop, own)
        except CompileError as refused:
            _add(refused.diagnostics[0], report, reported)
        resumed = _resume(parser, stop, opened, own.errors[0])
        if resumed is None:
            break
        at = parser.feed(tokens, resumed)
        if at == len(tokens):
            break
    report.check()


def _add(diagnostic: Diagnostic, report: Report, reported: set[tuple[str, int] | str]) -> None:
    """Report an error, unless it is an echo: on the line of one before, the same again, or an orphaned else."""
    assert isinstance(diagnostic.where, Span)
    line = diagnostic.where.source.name, diagnostic.where.line
    echo = (
        line in reported or diagnostic.message in reported or (bool(reported) and diagnostic.message == ELSE)
    )
    reported.add(line)
    if diagnostic.code == "TC203":
        reported.add(diagnostic.message)
    if not echo:
        report.add(diagnostic)


def _opened(tokens: list[Token], end: int, resumed: int) -> list[int]:
    """The places of the brackets that are open before a token, outermost first.

    Before ``resumed`` only the braces count: an error was reported there.
    """
    opened: list[int] = []
    for at, token in enumerate(tokens[:end]):
        if at == resumed:
            opened = [place for place in opened if tokens[place].type == "LBRACE"]
        if token.type in ("LPAR", "LSQB", "LBRACE"):
            opened.append(at)
        elif token.type in ("RPAR", "RSQB", "RBRACE") and opened:
            opened.pop()
    return opened


def _resume(parser: Parser, stop: Stop, opened: list[int], diagnostic: Diagnostic) -> int | None:
    """Bring the parser to where a statement can begin: the token to go on with, None if there is none."""
    tokens, at = stop.tokens, stop.at
    if stop.token() is None or not any(tokens[i].type == "LBRACE" for i in opened):
        return None
    if diagnostic.code == "TC202":  # what is missing is put in
        _feed(parser, stop, ("SEMICOLON", ";"))
        return at
    if diagnostic.message.startswith(ELSE):
        return at + 1
    if diagnostic.message == NESTED:
        return None
    while parser.depth and not _begins_statement(parser):
        parser.pop()
    at, header = _next_statement(tokens, at, opened)
    if header and parser.depth:  # outside of functions no statement begins
        _feed(parser, stop, ("IF", "if"), ("LPAR", "("), ("NUMBER", "0"), ("RPAR", ")"))
    return at


def _begins_statement(parser: Parser) -> bool:
    """Whether the parser is between two statements of a block."""
    return all(map(parser.shifts, ("RETURN", "RBRACE")))


def _next_statement(tokens: list[Token], at: int, opened: list[int]) -> tuple[int, bool]:
    """Where to go on, and whether the head of an ``if`` or a loop ends there, whose statement is next."""
    inside = list(takewhile(lambda i: tokens[i].type != "LBRACE", reversed(opened)))
    heads = [n for n, i in enumerate(inside, 1) if tokens[i].type == "LPAR" and tokens[i - 1].type in _HEADS]
    depth = heads[-1] if heads else 0  # brackets to close until the head ends
    is_for = bool(heads) and tokens[inside[heads[-1] - 1] - 1].type == "FOR"
    while at < len(tokens):
        terminal = tokens[at].type
        if terminal == "LBRACE":
            if depth or tokens[at - 1].type == "RPAR":
                return at, True
            closed = _after_braces(tokens, at)
            if closed < len(tokens) and tokens[closed].type not in ("SEMICOLON", "COMMA"):
                return closed, False
            at = closed
            continue
        if terminal == "RBRACE":
            return at, False
        if terminal == "SEMICOLON" and not is_for:
            return at + 1, False
        if depth and terminal in ("LPAR", "LSQB", "RPAR", "RSQB"):
            depth += 1 if terminal in ("LPAR", "LSQB") else -1
            if not depth:
                return at + 1, True
        at += 1
    return at, False


def _after_braces(tokens: list[Token], at: int) -> int:
    """The place after the brace that closes the one at ``at``."""
    depth = 0
    while at < len(tokens):
        depth += {"LBRACE": 1, "RBRACE": -1}.get(tokens[at].type, 0)
        at += 1
        if not depth:
            break
    return at


def _feed(parser: Parser, stop: Stop, *words: tuple[str, str]) -> None:
    """Give the parser tokens that the source lacks."""
    span = stop.tokens[stop.at].span
    parser.feed([Token(Kind.PUNCT, text, span, type=terminal) for terminal, text in words])


def parse(tokens: list[Token], report: Report) -> syntax.File:
    """Parse preprocessed tokens (``END`` last).

    Raises ``ParseError`` or ``UnsupportedError`` through ``report`` for what does not fit.
    """
    classify(tokens, report)
    report.check()
    parser = Parser("file", Builder)
    reached = parser.feed(tokens)
    if reached < len(tokens):
        refuse_all(parser, tokens[:-1], reached, report)
    first = tokens[0].span
    span = Span(first.source, 0, len(first.source.text))
    comments = tuple(comment for token in tokens for comment in token.comments)
    return syntax.File(span, parser.result, comments, frozenset(parser.spelled))
