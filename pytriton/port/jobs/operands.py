"""Which operand a define belongs to: ``STRIDE_AM`` stands in addresses of ``A``, ``X_C`` in those of ``X``.

Input: a text and its pointer parameters. Output: for each name the pointers in whose addresses it stands, itself or
in a variable that is part of one. It decides which define sets are tried, never what is proved: a layout of one
operand is tried with each of another (wider.py), though no run had both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

__all__ = ["operands"]

_DROPPED: Final = re.compile(
    r'//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*|"[^"\n]*"', re.DOTALL | re.MULTILINE
)
_HEADER: Final = re.compile(r"__global__[^{]*\{")
_ASSIGNED: Final = re.compile(r"^(.*?)(\w+)\s*(?:\[[^\]]*\]\s*)?[-+*/%|&]?=(?!=)(.*)$", re.DOTALL)
_STORE: Final = re.compile(r"(?:^|\)|\belse)\s*\*")  # not ``float *p = ...``
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def operands(text: str, pointers: Collection[str]) -> Mapping[str, frozenset[str]]:
    """For each name in the text its pointers, where there are some."""
    statements = re.split(r"[;{}]", _HEADER.sub("", _DROPPED.sub(" ", text)))
    values: dict[str, set[str]] = {}  # what a variable is computed from
    for statement in statements:
        assigned = _ASSIGNED.match(statement)
        if assigned is not None and assigned[2] not in pointers and not _STORE.search(assigned[1]):
            values.setdefault(assigned[2], set()).update(_WORD.findall(assigned[3]))
    found: dict[str, set[str]] = {}
    for pointer in pointers:
        fresh = {
            w for statement in statements if pointer in (words := _WORD.findall(statement)) for w in words
        }
        fresh |= values.get(pointer, set())
        reached: set[str] = set()
        while fresh:
            reached |= fresh
            parts = set[str]().union(*(values.get(name, set()) for name in fresh - {pointer}))
            fresh = parts - reached - set(pointers)
        for name in reached:
            found.setdefault(name, set()).add(pointer)
    return {name: frozenset(of) for name, of in found.items()}
