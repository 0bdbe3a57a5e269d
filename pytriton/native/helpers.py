"""The helpers of templates/native.c.j2 that a module uses.

Input: the text of a module. Output: the same without the functions that nothing calls. Above the kernel each
function starts with ``static`` in the first column, and ends where its braces do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytriton.frozen import record

KERNEL: Final = "// ---------------------------------------------------------------- the kernel"
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_FUNCTION: Final = re.compile(r"static .*?(\w+)\((?!\()")
_SECTION: Final = "// -----"


@record
class _Item:
    """Lines that belong together; ``function`` is the name of the helper that they define."""

    lines: tuple[str, ...]
    function: str | None
    words: frozenset[str]


def without_unused(text: str) -> str:
    """The module with the helpers that it uses."""
    head, marker, kernel = text.partition(KERNEL)
    items = list(_items(head.split("\n")))
    functions = {item.function: item for item in items if item.function}
    used, pending = set[str](), set(_WORD.findall(kernel)) & functions.keys()
    pending |= {word for item in items if not item.function for word in item.words & functions.keys()}
    while pending:
        name = pending.pop()
        used.add(name)
        pending |= (functions[name].words & functions.keys()) - used
    kept = [line for item in items if not item.function or item.function in used for line in item.lines]
    return "\n".join(_sections(kept)) + marker + kernel


def _items(lines: list[str]) -> Iterator[_Item]:
    start, depth, function = 0, 0, None
    for place, line in enumerate(lines):
        if depth == 0 and line.startswith("static"):
            found = _FUNCTION.match(line.replace("__attribute__((noinline))", ""))
            function = found[1] if found else None
        depth += line.count("{") - line.count("}")
        comment = line.startswith("//") and not line.startswith(_SECTION)
        if depth == 0 and not comment:  # a comment belongs to what is below it
            own = tuple(lines[start : place + 1])
            yield _Item(own, function, frozenset(_WORD.findall("\n".join(own))))
            start, function = place + 1, None
    if start < len(lines):
        yield _Item(tuple(lines[start:]), None, frozenset())


def _sections(lines: list[str]) -> Iterator[str]:
    """The lines without headings that nothing is below, and with one blank line at most."""
    blank = False
    for place, line in enumerate(lines):
        if line.startswith(_SECTION):
            rest = next((one for one in lines[place + 1 :] if one.strip()), _SECTION)
            if rest.startswith(_SECTION):
                continue
        if line.strip() or not blank:
            yield line
        blank = not line.strip()
