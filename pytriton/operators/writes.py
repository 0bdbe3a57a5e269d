"""Which parameters of a kernel are written, before its defines are known.

A translation knows it exactly. Where a text cannot be translated yet, because its defines come with the call,
three sources are tried in turn: the defines that show in the call's text; likely values for the missing ones
(a type where a type must stand, 16 elsewhere); and at last the tokens of the text: what stands left of a
store, followed back through pointer variables to the parameters. Only what the schema of an operator says
before the first run rests on such a guess: every launch is checked against the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import torch

from pytriton.errors import PytritonError, Report
from pytriton.lang.tokens import Kind, Token, tokenize
from pytriton.runtime import Kernel
from pytriton.source import Source

__all__ = ["written_positions"]

_LIKE_A_DEFINE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_ASSIGNMENTS: Final = frozenset("= += -= *= /= %= &= |= ^= <<= >>=".split())


def written_positions(kernel: Kernel, shown: Mapping[str, Any]) -> frozenset[int]:
    """The positions of the written parameters; ``shown`` are the defines that a call's text shows."""
    tokens = _tokens(kernel._text.source)
    for defines in (shown, {**_likely(tokens), **shown}):
        try:
            found = kernel.translation(defines)
        except PytritonError:
            continue
        written = set(found.writes)
        return frozenset(at for at, param in enumerate(found.parameters) if param.name in written)
    return _by_tokens(tokens, kernel._text.kernel)


def _tokens(source: Source) -> list[Token]:
    return [token for token in tokenize(source, Report()) if token.kind is not Kind.END]


def _likely(tokens: list[Token]) -> dict[str, Any]:
    """A value for each name that looks like a define: float before a name or a star, else 16."""
    found: dict[str, Any] = {}
    for token, after in pairwise(tokens):
        if token.kind is Kind.IDENT and _LIKE_A_DEFINE.fullmatch(token.text):
            is_type = after.text == "*" or after.kind is Kind.IDENT
            if is_type or token.text not in found:
                found.setdefault(token.text, torch.float32 if is_type else 16)
    return found


def _by_tokens(tokens: list[Token], kernel: str | None) -> frozenset[int]:
    """The positions of the pointers that stores lead back to; if there is none, of all.

    ``__readonly`` and ``const`` are not believed (language.md, section 3): only stores count.
    """
    head, body = _kernel(tokens, kernel)
    pointers = {name: at for at, part in enumerate(head) if (name := _pointer(part)) is not None}
    leads: dict[str, set[str]] = {name: set() for name in pointers}
    stored: set[str] = set()
    for statement in _statements(body):
        texts = [token.text for token in statement]
        for at, text in enumerate(texts):
            if text.startswith("atomic_"):
                stored |= _words(statement[at + 1 : texts.index(",", at) if "," in texts[at:] else None])
        equals = next((at for at, text in enumerate(texts) if text in _ASSIGNMENTS), None)
        if equals is None:
            continue
        if texts[0] == "*":
            stored |= _words(statement[:equals])
            continue
        name = _pointer(statement[:equals]) or (texts[0] if texts[0] in leads else None)
        if name is not None:
            leads.setdefault(name, set()).update(_words(statement[equals + 1 :]))
    reached: set[str] = set()
    while stored:
        name = stored.pop()
        if name in leads and name not in reached:
            reached.add(name)
            stored |= leads[name]
    return frozenset(pointers[name] for name in (reached & pointers.keys() or pointers))


def _kernel(tokens: list[Token], kernel: str | None) -> tuple[list[list[Token]], list[Token]]:
    """The parameters of one kernel, and what follows them to the next kernel."""
    texts = [token.text for token in tokens]
    starts = [at for at, text in enumerate(texts) if text == "__global__"]
    for start, end in pairwise([*starts, len(texts)]):
        if "(" not in texts[start:end]:
            continue
        opening = texts.index("(", start)
        if kernel is not None and texts[opening - 1] != kernel:
            continue
        depth = 0
        parts: list[list[Token]] = [[]]
        for at in range(opening, end):
            depth += {"(": 1, ")": -1}.get(texts[at], 0)
            if depth == 0:
                return parts, tokens[at + 1 : end]
            if texts[at] == "," and depth == 1:
                parts.append([])
            else:
                parts[-1].append(tokens[at])
    return [], []


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.text in (";", "{", "}"):
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)


def _pointer(tokens: Sequence[Token]) -> str | None:
    """The name in a declaration ``TYPE *name ...``; None if that is none."""
    for before, star, name in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if star.text == "*" and before.kind is Kind.IDENT and name.kind is Kind.IDENT:
            return name.text
    return None


def _words(tokens: Sequence[Token]) -> set[str]:
    return {token.text for token in tokens if token.kind is Kind.IDENT}
