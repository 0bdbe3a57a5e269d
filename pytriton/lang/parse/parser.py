"""Tokens -> syntax tree.

Input: preprocessed tokens. Output: a ``File``. Invariant: every node's span covers its text. ``terminals.py`` names
the terminals, ``grammar.py`` parses, ``builder.py`` builds the nodes, ``recovery.py`` says what is wrong with a
text that does not fit.
"""

from __future__ import annotations

from pytriton.errors import Report
from pytriton.lang.grammar import Parser
from pytriton.lang.parse import syntax
from pytriton.lang.parse.builder import Builder
from pytriton.lang.parse.recovery import refuse_all
from pytriton.lang.parse.terminals import classify
from pytriton.lang.tokens import Token
from pytriton.source import Span

__all__ = ["parse"]


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
