"""``read``: the text of a file of kernels, or of only some of its kernels.

A file of 2021 may hold several kernels between directives, constants and types that they share. What is not
asked for is blanked out. A ``#define`` inside a dropped kernel stays, with the ``#if`` around it, and so does the
number of each line, so that messages point into the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pytriton.errors import Report
from pytriton.lang.preprocess.structure import CONDITIONS, OPENING, Directive, lines_of
from pytriton.lang.tokens import Kind, Token, decode, scan
from pytriton.source import Source


def read(path: str | os.PathLike[str], kernel_names: str | Iterable[str] | None = None) -> str:
    """The text of a file, or with ``kernel_names`` only those kernels and everything outside of kernels.

    Raises OSError if the file cannot be read, CompileError if it is not UTF-8 or has no kernel of such a name.
    """
    source = decode(Path(path).read_bytes(), str(path), Report())
    if kernel_names is None:
        return source.text
    return of_kernels(source, [kernel_names] if isinstance(kernel_names, str) else list(kernel_names))


def of_kernels(source: Source, wanted: Sequence[str]) -> str:
    """The source with all other kernels blanked out. Raises CompileError for a name that is not a kernel of it."""
    text = source.text
    lines = list(_directives_and_code(source))
    kernels = list(functions(lines))
    names = {name for name, _, _ in kernels}
    for name in wanted:
        if name not in names:
            listed = ", ".join(sorted(names)) or "none"
            Report().fatal("TC205", f"there is no kernel '{name}' in this source, only {listed}", source)
    for name, start, end in reversed(kernels):
        if name not in wanted:
            text = text[:start] + _blanked(text, start, end, lines) + text[end:]
    return text


def kernels_of(text: str) -> list[str]:
    """The names of the kernels in a source, in order."""
    lines = list(_directives_and_code(Source(text)))
    return [name for name, _, _ in functions(lines)]


def _directives_and_code(source: Source) -> Iterator[Directive | Token]:
    tokens, _ = scan(source, Report())
    return lines_of(tokens)


def functions(lines: Iterable[Directive | Token]) -> Iterator[tuple[str, int, int]]:
    """Name and extent of each function definition.

    Arms of one ``#if`` may each open the same brace: every arm starts at the depth at which the first did.
    """
    depth = 0
    depths: list[int] = []
    head: list[Token] = []
    opened: tuple[str, int] | None = None
    for token in lines:
        if isinstance(token, Directive):
            if token.word in OPENING:
                depths.append(depth)
            elif token.word in ("elif", "else") and depths:
                depth = depths[-1]
            elif token.word == "endif" and depths:
                depths.pop()
            continue
        if depth == 0 and opened is None:
            head.append(token)
        if token.text == "{":
            if depth == 0 and opened is None:
                name = _name_of(head)
                opened = None if name is None else (name, head[0].span.start)
            depth += 1
        elif token.text == "}":
            depth = max(0, depth - 1)
        if depth == 0 and token.text in ("}", ";"):
            if opened is not None:
                yield (*opened, token.span.end)
            opened, head = None, []


def _name_of(head: Sequence[Token]) -> str | None:
    """The name in ``void name(...) {``; None for ``enum {`` and the like."""
    depth = 0
    name: str | None = None
    for before, token in pairwise(head):
        if token.text == "(":
            if depth == 0 and before.kind is Kind.IDENT and before.text != "__attribute__":
                name = before.text
            depth += 1
        elif token.text == ")":
            depth -= 1
    return name


def _blanked(text: str, start: int, end: int, lines: Iterable[Directive | Token]) -> str:
    """The directives of a stretch of text that may count elsewhere, each on the line where it stood."""
    inside = [d for d in lines if isinstance(d, Directive) and start <= d.tokens[0].span.start < end]
    kept: list[str] = []
    at = start
    for directive in _lasting(inside):
        first, last = directive.tokens[0].span.start, directive.tokens[-1].span.end
        kept += ["\n" * text.count("\n", at, first), text[first:last]]
        at = last
    return "".join([*kept, "\n" * text.count("\n", at, end)])


def _lasting(directives: Iterable[Directive]) -> list[Directive]:
    """The directives without each ``#if`` to ``#endif`` that has no other directive inside."""
    groups: list[list[Directive]] = [[]]  # the open ones, innermost last
    for directive in directives:
        if directive.word in OPENING:
            groups.append([])
        groups[-1].append(directive)
        if directive.word == "endif" and len(groups) > 1:
            group = groups.pop()
            if any(inner.word not in (*CONDITIONS, "else", "endif") for inner in group):
                groups[-1] += group
    return [directive for group in groups for directive in group]
