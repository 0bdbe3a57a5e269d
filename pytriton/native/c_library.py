"""What a kernel in C calls: the paragraphs of ``templates/native_library.c.j2`` that it needs.

Input: the C text of a kernel. Output: those paragraphs in the order of the template, each once. A compiler reads
a page instead of 400 lines, which is half of the time that a small kernel takes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytriton.emit.templates import render

TEMPLATE: Final = "native_library.c.j2"
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_COMMENT: Final = re.compile("//.*")
_DEFINED: Final = re.compile(
    r"^(?:struct (\w+) \{|typedef .*?(\w+)(?: __attribute__.*)?;|[a-z].*?\b((?!__)\w+)\()", re.MULTILINE
)


def needed(text: str) -> list[str]:
    """The paragraphs that a text needs, and those that they need."""
    paragraphs: dict[int, str] = {}
    pending = [text]
    while pending:
        for word in set(_WORD.findall(_COMMENT.sub("", pending.pop()))):
            place, paragraph = _paragraphs().get(word, (0, ""))
            if paragraph and place not in paragraphs:
                paragraphs[place] = paragraph
                pending.append(paragraph)
    return [paragraph for _, paragraph in sorted(paragraphs.items())]


def defined() -> frozenset[str]:
    """All names of the library, which a variable of that name would hide."""
    return frozenset(_paragraphs())


@cache
def _paragraphs() -> dict[str, tuple[int, str]]:
    """For each name its paragraph, and the place of that."""
    paragraphs = enumerate(re.split(r"\n{2,}", render(TEMPLATE).strip()))
    return {
        name: (place, text)
        for place, text in paragraphs
        for names in _DEFINED.findall(text)
        for name in names
        if name
    }
