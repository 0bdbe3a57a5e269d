"""Guesses about *open* defines: names that a text needs and that are not defined yet.

Input: a text, and a name or an error. Answers two questions:

* May a text be right, although it cannot be translated yet? In 2019 the defines came with the call, but a kernel
  object checks its text when it is made. A define that is still to come shows as an unknown name, and one that
  stands for a type or for half an expression breaks the syntax around it. So an error is believed at once only if
  the statement in which it stands has no unknown name; it waits for the call otherwise (``may_lack_defines``).
* What can an open define be, by its place in the text: a type, a number that only a promise asks for, any number
  (``stands_for_type``, ``only_promises``)? ``port`` then tries values of that kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pytriton.errors import CompileError, Diagnostic, Report
from pytriton.lang.preprocess.structure import CONDITIONS, Directive, lines_of
from pytriton.lang.tokens import Kind, Token, tokenize
from pytriton.lang.tree.types import TYPE_NAMES
from pytriton.source import Source, Span

_UNDECLARED: Final = "TC301"
_LEXICAL: Final = "TC0"
_SYNTAX: Final = "TC2"
_BOUNDARIES: Final = frozenset({";", "{", "}"})
# How wrappers name defines. Other names are believed to be what they seem to be.
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
    """Names like ``TYPE`` that the text neither declares nor defines."""
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
    """Whether one error stands in a statement that has an unknown name, or after a condition on one."""
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
