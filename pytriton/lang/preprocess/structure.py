"""What a source shows before it is preprocessed: its directives, those of all arms, and the defines that it lacks.

Only directives.py executes directives; analyses of what an ``#if`` depends on read them here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from pytriton.errors import CompileError, Diagnostic, Report, closest
from pytriton.lang.tokens import Kind, Token, scan, tokenize
from pytriton.lang.tree.types import TYPE_NAMES
from pytriton.source import Source, Span

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
    """The tokens of a source, those of a directive together; without the ``END``."""
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
    """All directives of a source; none if it cannot be read."""
    try:
        tokens, _ = scan(Source(text), Report())
    except CompileError:
        return ()
    return tuple(line for line in lines_of(tokens) if isinstance(line, Directive))


def conditions(text: str) -> Iterator[Directive]:
    """The ``#if``, ``#ifdef``, ``#ifndef`` and ``#elif`` of a source."""
    return (directive for directive in directives(text) if directive.word in CONDITIONS)


def misspelt(name: str, text: str, given: Collection[str]) -> str | None:
    """The name that a source tests or defines, and that was meant by a define which it does not mention."""
    defined = {d.tokens[2].text for d in directives(text) if d.word == "define" and len(d.tokens) > 2}
    tested = {tested for condition in conditions(text) for tested in condition.names}
    return closest(name, sorted((tested | defined).difference(given)))


# ---------------------------------------------------------------- open defines
# Guesses about *open* defines: names that a source uses and that are not defined yet.
#
# * May a source be correct, although it cannot be translated yet? In 2019 the defines came with the call, but a
#   kernel object checks its source when it is made. An open define is an unknown name there, and one that is a type
#   or half an expression breaks the syntax around it. So an error is reported at once only if its statement has no
#   unknown name; else it waits for the call (``may_lack_defines``).
# * What can an open define be, by where it is used: a type, the argument of a promise, any number
#   (``stands_for_type``, ``only_promises``)? ``port`` then tries values of that kind.

_UNDECLARED: Final = "TC301"
_LEXICAL: Final = "TC0"
_SYNTAX: Final = "TC2"
_BOUNDARIES: Final = frozenset({";", "{", "}"})
# How wrappers name defines; other names are taken as they are.
_LIKE_A_DEFINE: Final = re.compile(r"[A-Z][A-Z0-9_]*")


def may_lack_defines(error: CompileError, source: Source, given: Iterable[str]) -> bool:
    """Whether the errors of a translation may go away with more defines than the given ones."""
    tokens = [token for token in tokenize(source, Report()) if token.kind is not Kind.END]
    unknown = unknown_names(tokens).difference(given)
    errors = [diagnostic for diagnostic in error.diagnostics if diagnostic.severity == "error"]
    if errors and errors[0].code.startswith(_SYNTAX):
        errors = errors[:1]  # what breaks the first statement may well break others
    return any(diagnostic.code == _UNDECLARED for diagnostic in errors) or all(
        _waits(diagnostic, source, tokens, unknown) for diagnostic in errors
    )


def unknown_names(tokens: list[Token]) -> frozenset[str]:
    """Names like ``TYPE`` that the source neither declares nor defines."""
    used: set[str] = set()
    bound: set[str] = set()
    listed = False  # within the braces of an enum
    for before, token in zip([None, *tokens], tokens, strict=False):
        listed = token.text == "enum" or (listed and token.text != "}")
        if token.kind is not Kind.IDENT or not _LIKE_A_DEFINE.fullmatch(token.text):
            continue
        used.add(token.text)
        declares = {*TYPE_NAMES, "*", "define", *("{," if listed else "")}
        if before is not None and before.text in declares:
            bound.add(token.text)
    return frozenset(used - bound)


def _waits(diagnostic: Diagnostic, source: Source, tokens: list[Token], unknown: frozenset[str]) -> bool:
    """Whether one error is in a statement with an unknown name, or after a condition on one."""
    if diagnostic.code.startswith(_LEXICAL):
        return False
    if not isinstance(diagnostic.where, Span) or diagnostic.where.source is not source:
        return bool(unknown)
    here = diagnostic.where.start
    first = max((t.span.end for t in tokens if t.span.end <= here and t.text in _BOUNDARIES), default=0)
    last = min(
        (t.span.end for t in tokens if t.span.start >= here and t.text in _BOUNDARIES),
        default=len(source.text),
    )
    around = {token.text for token in tokens if first <= token.span.start < last}
    return bool(unknown & (around | _condition_names(tokens, here)))


def _condition_names(tokens: list[Token], end: int) -> set[str]:
    """The names in the conditions of ``#if`` before an offset."""
    before = [token for token in tokens if token.span.start < end]
    lines = [line for line in lines_of(before) if isinstance(line, Directive) and line.word in CONDITIONS]
    return {name for line in lines for name in line.names}


def only_promises(name: str, text: str) -> bool:
    """Whether a define is only the argument of a promise: the weakest promise, 1, is then always true."""
    outside = re.sub(rf"\b(?:__multipleof|multipleof|__aligned|aligned)\s*\(\s*{name}\s*\)", "", text)
    return outside != text and not re.search(rf"\b{name}\b", outside)


def stands_for_type(name: str, text: str) -> bool:
    """Whether a define is where only a type can be: before a variable that is declared, or before a parameter."""
    heads = "".join(match[1] for match in re.finditer(r"\bvoid\s+\w+\s*\(([^{]*)\{", text))
    declares = rf"(?:^|[;{{}}])\s*(?:const\s+)?{name}\s*\*?\s*[A-Za-z_]\w*\s*[\[=;]"
    takes = rf"(?:^|,)\s*(?:const\s+)?{name}\b(?!\s*[,)])"
    return bool(re.search(declares, text) or re.search(takes, heads))
