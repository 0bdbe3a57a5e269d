"""Tokens -> syntax tree, by the LALR(1) tables of grammar/triton_c.lark.

Input: preprocessed tokens. Output: a ``File``. Invariant: every node's span covers its text. ``classify.py`` names
the terminals, ``automaton.py`` runs the tables, ``reduce.py`` builds the nodes; this file says what was expected
where a text does not fit. Behind a syntax error inside a kernel the work goes on with the next statement, only to
find more of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from pytriton.errors import CompileError, Diagnostic, Report
from pytriton.lang import syntax
from pytriton.lang.automaton import END, Parser, tables
from pytriton.lang.classify import WORDS, Fed, classify
from pytriton.lang.misfits import ELSE, NESTED, Stop, refuse
from pytriton.lang.tokens import Kind, Token, new_token, subtracted
from pytriton.source import Span

__all__ = ["parse"]


def parse(tokens: list[Token], report: Report) -> syntax.File:
    """Parse preprocessed tokens (``END`` last).

    Raises ``ParseError`` or ``UnsupportedError`` through ``report`` for what does not fit.
    """
    terminals = classify(tokens, tables().words, report)
    report.check()
    parser = Parser()
    spelled: set[str] = set()
    reached = _run(parser, [*terminals, END], tokens, 0, spelled)
    if reached <= len(terminals):
        fed = list(map(Fed, terminals, tokens))
        _refuse_all(parser, reached, fed, report)
    items = parser.values[0]
    assert isinstance(items, tuple)
    first = tokens[0].span
    whole = Span(first.source, 0, len(first.source.text))
    comments = tuple(comment for token in tokens for comment in token.comments)
    return syntax.File(whole, items, comments, frozenset(spelled))


def _run(
    parser: Parser, terminals: Sequence[str], tokens: Sequence[Token], at: int, spelled: set[str]
) -> int:
    """The parser's ``run``, where a negative define that follows an operand is a sign and a number."""
    while (at := parser.run(terminals, tokens, at)) < len(terminals):
        parts = subtracted(tokens[at])
        if parts is None or not parser.fits("MINUS"):
            break
        parser.run(("MINUS", "NUMBER"), parts)
        spelled.add(tokens[at].text)
        at += 1
    return at


# ---------------------------------------------------------------- syntax errors

_HEADS: Final = ("IF", "FOR", "WHILE")
_MOST_ERRORS: Final = 40  # echoes included; each costs a look at the whole text


def _refuse_all(parser: Parser, at: int, fed: list[Fed], report: Report) -> None:
    """Report a syntax error, and those behind it that are no echoes of one before; raises."""
    terminals, tokens = [one.type for one in fed], [one.token for one in fed]
    resumed: int | None = 0
    said: set[tuple[str, int] | str] = set()
    before = -1  # the place of the error before: where there is no progress, this ends
    for _ in range(_MOST_ERRORS):
        if not fed or at == before:
            break
        before = at
        opened = _opened(fed, at, resumed or 0)
        stop = Stop(fed, at, parser.accepts(), [fed[i] for i in opened], tables().words | WORDS)
        own = Report()
        try:
            refuse(stop, own)
        except CompileError as refused:
            _add(refused.diagnostics[0], report, said)
        resumed = _resume(parser, stop, opened, own.errors[0])
        if resumed is None:
            break
        at = _run(parser, terminals, tokens, resumed, set())
        if at == len(fed):
            break
    report.check()


def _add(found: Diagnostic, report: Report, said: set[tuple[str, int] | str]) -> None:
    """Report an error, unless it is an echo: on the line of one before, the same again, or an orphaned else."""
    assert isinstance(found.where, Span)
    line = found.where.source.name, found.where.line
    echo = line in said or found.message in said or (bool(said) and found.message == ELSE)
    said.add(line)
    if found.code == "TC203":
        said.add(found.message)
    if not echo:
        report.error(found.code, found.message, found.where, *found.notes, help=found.help)


def _opened(fed: list[Fed], end: int, resumed: int) -> list[int]:
    """The places of the brackets that are open in front of a token, outermost first.

    Of what stands in front of ``resumed`` only the braces count: an error was reported there.
    """
    opened: list[int] = []
    for at, one in enumerate(fed[:end]):
        if at == resumed:
            opened = [place for place in opened if fed[place].type == "LBRACE"]
        if one.type in ("LPAR", "LSQB", "LBRACE"):
            opened.append(at)
        elif one.type in ("RPAR", "RSQB", "RBRACE") and opened:
            opened.pop()
    return opened


def _resume(parser: Parser, stop: Stop, opened: list[int], found: Diagnostic) -> int | None:
    """Bring the parser to where a statement can begin: the token to go on with, None where that is hopeless."""
    fed, at = stop.fed, stop.at
    if stop.token() is None or not any(fed[i].type == "LBRACE" for i in opened):
        return None
    if found.code == "TC202":  # what is missing is put in
        _feed(parser, stop, ("SEMICOLON", ";"))
        return at
    if found.message.startswith(ELSE):
        return at + 1
    if found.message == NESTED:
        return None
    while len(parser.states) > 1 and not _begins_statement(parser.states[-1]):
        parser.states.pop()
        parser.values.pop()
    at, header = _next_statement(fed, at, opened)
    if header and len(parser.states) > 1:  # outside of functions no statement begins
        _feed(parser, stop, ("IF", "if"), ("LPAR", "("), ("NUMBER", "0"), ("RPAR", ")"))
    return at


def _begins_statement(state: int) -> bool:
    """Whether the parser is between two statements of a block."""
    return all(tables().shifts(state, word) for word in ("RETURN", "RBRACE"))


def _next_statement(fed: list[Fed], at: int, opened: list[int]) -> tuple[int, bool]:
    """Where to go on, and whether the head of an ``if`` or a loop ends there, whose statement is next."""
    inside = list(takewhile(lambda i: fed[i].type != "LBRACE", reversed(opened)))
    heads = [n for n, i in enumerate(inside, 1) if fed[i].type == "LPAR" and fed[i - 1].type in _HEADS]
    depth = heads[-1] if heads else 0  # brackets to close until the head ends
    is_for = bool(heads) and fed[inside[heads[-1] - 1] - 1].type == "FOR"
    while at < len(fed):
        terminal = fed[at].type
        if terminal == "LBRACE":
            if depth or fed[at - 1].type == "RPAR":
                return at, True
            closed = _behind_braces(fed, at)
            if closed < len(fed) and fed[closed].type not in ("SEMICOLON", "COMMA"):
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


def _behind_braces(fed: list[Fed], at: int) -> int:
    """The place behind the brace that closes the one at ``at``."""
    depth = 0
    while at < len(fed):
        depth += {"LBRACE": 1, "RBRACE": -1}.get(fed[at].type, 0)
        at += 1
        if not depth:
            break
    return at


def _feed(parser: Parser, stop: Stop, *words: tuple[str, str]) -> None:
    """Give the parser tokens that the text lacks."""
    span = stop.fed[stop.at].token.span
    for terminal, text in words:
        token = new_token(Kind.PUNCT, text, span, False, False, None, (), frozenset())
        parser.run((terminal,), (token,))
