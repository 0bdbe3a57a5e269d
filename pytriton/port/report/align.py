"""The old text of a kernel and the new one, line by line: lines that mean the same stand opposite each other.

Input: a ported kernel, which knows the source line of each of its statements. Output: rows of two lines, each side
in its own order. A new line whose source line would break the order has the number of that line instead.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from pytriton.port.kernels import PortedKernel

__all__ = ["Row", "count", "declaration_line", "rows"]


class Row(NamedTuple):
    """Two lines with their numbers, 0 where there is none.

    ``alone``: the old line, the new one has nothing opposite that means the same. ``origin``: where a new line
    comes from that stands opposite another.
    """

    old_line: int
    old: str
    new_line: int
    new: str
    alone: tuple[bool, bool]
    origin: int


def count(text: str) -> int:
    """The lines of a text that are not empty."""
    return sum(1 for line in text.splitlines() if line.strip())


def declaration_line(kernel: PortedKernel) -> int:
    """The line of the text that declares the kernel; 0 if a define names it and there are several."""
    lines = kernel.own_text.splitlines()
    found = [number for number, line in enumerate(lines, 1) if re.search(r"\bvoid\s+\w+\s*\(", line)]
    return found[0] if len(found) == 1 else 0


def rows(kernel: PortedKernel, first: int = 1) -> list[Row]:
    """The rows of a kernel's function; ``first`` is the number of its first line in its module."""
    old = kernel.own_text.rstrip().splitlines()
    head, _, function = kernel.text.rstrip("\n").rpartition("\n\n\n")
    before = head.count("\n") + 3  # lines of the kernel's text that are not shown
    new = function.splitlines()
    lines = kernel.folded.lines[before:]
    origins = {n: line for n, line in enumerate(lines, 1) if 0 < line <= len(old) and old[line - 1].strip()}
    origins |= _looked_for(kernel, old, new, set(origins))
    origins |= dict(_directives(old, new, origins))
    opposite = _in_order(origins)
    made: list[Row] = []
    gap: list[int] = []  # the new lines since the last one with an opposite
    at = 0

    def fill(end: int) -> None:
        """The rows until the old line ``end``."""
        for row, number in zip_longest(range(at + 1, end), gap, fillvalue=0):
            origin = origins.get(number, 0) if number not in opposite else 0
            left, right = old[row - 1] if row else "", new[number - 1] if number else ""
            alone = row > 0, number > 0 and opposite.get(number) != at
            made.append(Row(row, left, number and first + number - 1, right, alone, origin))
        gap.clear()

    for number, line in enumerate(new, 1):
        if opposite.get(number, 0) > at:
            fill(opposite[number])
            at = opposite[number]
            made.append(Row(at, old[at - 1], first + number - 1, line, (False, False), 0))
        else:
            gap.append(number)
    fill(len(old) + 1)
    return made


def _looked_for(
    kernel: PortedKernel, old: Sequence[str], new: Sequence[str], known: set[int]
) -> Iterator[tuple[int, int]]:
    """The old lines of comments and of the head, by the numbers of the new ones."""
    declarations = {parameter.identifier: parameter.declaration for parameter in kernel.parameters}
    head = declaration_line(kernel)
    for number, line in enumerate(new, 1):
        bare = line.strip()
        parameter = re.match(r"(\w+)(?:: [\w.]+)?,", bare)
        wanted = ""
        if number in known:
            continue
        if bare.startswith("# "):
            wanted = re.escape(bare[2:])
        elif bare.startswith("def ") and head:
            yield number, head
        elif parameter is not None and parameter[1] in declarations:
            wanted = rf"{re.escape(declarations[parameter[1]])}(?!\w)"
        at = next((row for row, text in enumerate(old, 1) if wanted and re.search(wanted, text)), 0)
        if at:
            yield number, at


_OPENS: Final = re.compile(r"\s*#\s*(?:el)?if")
_OTHERWISE: Final = re.compile(r"\s*#\s*el(?:se|if)")


def _directives(
    old: Sequence[str], new: Sequence[str], origins: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """The ``#if`` or ``#else`` for each ``if FLAG:`` or ``else:``: the last one before what is in it."""
    for number, line in enumerate(new, 1):
        wanted = _OPENS if re.match(r"\s*if ", line) else _OTHERWISE if re.match(r"\s*el", line) else None
        inside = next((origins[after] for after in range(number + 1, len(new)) if after in origins), 0)
        own = origins.get(number, 0)
        if wanted is None or (own and re.search(r"\b(?:if|else|while)\b", old[own - 1])):
            continue
        for row in range(inside - 1, 0, -1):
            if wanted.match(old[row - 1]):
                yield number, row
            if re.match(r"\s*#\s*(?:el|if|endif)", old[row - 1]):
                break


def _in_order(origins: Mapping[int, int]) -> dict[int, int]:
    """As many of the new lines as are in the order of their old ones: the longest rising subsequence."""
    numbers = sorted(origins)
    tails: list[int] = []  # of the best subsequence of each length, its last old line
    last: list[int] = []  # and the place of that in numbers
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_right(tails, origins[number])
        before.append(last[length - 1] if length else -1)
        tails[length : length + 1] = [origins[number]]
        last[length : length + 1] = [place]
    chosen: dict[int, int] = {}
    place = last[-1] if last else -1
    while place >= 0:
        chosen[numbers[place]] = origins[numbers[place]]
        place = before[place]
    return chosen
