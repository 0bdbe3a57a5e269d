"""The directives of a text as they stand, before any is obeyed: for analyses of what an ``#if`` depends on.

Only directives.py obeys them. All others read them here: a text -> its directives in order, those of all arms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from pytriton.errors import CompileError, Report
from pytriton.lang.tokens import Kind, Token, scan
from pytriton.source import Source

OPENING: Final = frozenset(("if", "ifdef", "ifndef"))
CONDITIONS: Final = OPENING | {"elif"}  # those with a condition


class Directive(NamedTuple):
    """One directive: the tokens from its ``#`` to the end of its line."""

    tokens: Sequence[Token]

    @property
    def word(self) -> str:
        """``if``, ``define``, ...; "" for a lone ``#``."""
        return self.tokens[1].text if len(self.tokens) > 1 else ""

    @property
    def line(self) -> int:
        """The number of its line, from 1."""
        return self.tokens[0].span.line

    @property
    def names(self) -> list[str]:
        """The names after its word, without the operator ``defined``."""
        return [t.text for t in self.tokens[2:] if t.kind is Kind.IDENT and t.text != "defined"]

    @property
    def given(self) -> list[str]:
        """The names that it tests with ``defined``."""
        if self.word in ("ifdef", "ifndef"):
            return self.names[:1]
        operands = [token for token in self.tokens if token.text != "("]
        return [
            t.text for before, t in pairwise(operands) if before.text == "defined" and t.kind is Kind.IDENT
        ]


def lines_of(tokens: Sequence[Token]) -> Iterator[Directive | Token]:
    """The tokens of a text, those of a directive together; without the ``END``."""
    line: list[Token] = []
    for token in tokens:
        if line and not token.newline and token.kind is not Kind.END:
            line.append(token)
            continue
        if line:
            yield Directive(line)
            line = []
        if token.text == "#" and token.newline:
            line = [token]
        elif token.kind is not Kind.END:
            yield token
    if line:
        yield Directive(line)


@lru_cache(maxsize=16)
def directives(text: str) -> tuple[Directive, ...]:
    """All directives of a text; none of one that has no tokens."""
    try:
        tokens, _ = scan(Source(text), Report())
    except CompileError:
        return ()
    return tuple(line for line in lines_of(tokens) if isinstance(line, Directive))


def conditions(text: str) -> Iterator[Directive]:
    """The ``#if``, ``#ifdef``, ``#ifndef`` and ``#elif`` of a text."""
    return (directive for directive in directives(text) if directive.word in CONDITIONS)
