"""The bodies of variants -> rows: which of their statements are one statement of the folded kernel.

Input: bodies, each with the variants that have it. Output: rows; a row holds at most one statement of each variant,
as versions. Invariant: the rows that a variant has, in order, are its statements.

Bodies are added one by one (progressive alignment), by the longest common subsequence in which a pair counts more
the more its two statements are alike. Rows that only some variants have stand in the order of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pytriton.emit.python import Statement
from pytriton.fold.variants import Set


class Versions(NamedTuple):
    """A statement, and the variants that have it."""

    statement: Statement
    of: Set


Row = list[Versions]
Likeness = Callable[[Versions, Versions], int]  # 0: they cannot be one statement


def align(bodies: Sequence[tuple[Sequence[Statement], Set]], likeness: Likeness) -> list[Row]:
    """The rows of all bodies; those with the most statements come first, so that they set the order."""
    rows: list[Row] = []
    for body, of in sorted(bodies, key=lambda pair: -len(pair[0])):
        rows = _added(rows, [Versions(statement, of) for statement in body], likeness)
    return rows


def _added(rows: list[Row], body: list[Versions], likeness: Likeness) -> list[Row]:
    """The rows with one more body in them."""
    height, width = len(rows), len(body)
    score = [[max(likeness(one, other) for one in row) for other in body] for row in rows]
    best = [[0] * (width + 1) for _ in range(height + 1)]
    for y in range(height - 1, -1, -1):
        for x in range(width - 1, -1, -1):
            paired = score[y][x] and score[y][x] + best[y + 1][x + 1]
            best[y][x] = max(paired, best[y + 1][x], best[y][x + 1])
    merged: list[Row] = []
    y = x = 0
    while y < height or x < width:
        if y < height and x < width and score[y][x] and best[y][x] == score[y][x] + best[y + 1][x + 1]:
            merged.append(_with(rows[y], body[x]))
            y, x = y + 1, x + 1
        elif x == width or (
            y < height and best[y][x] == best[y + 1][x] and not _sooner(body[x], rows[y], best, y, x)
        ):
            merged.append(rows[y])
            y += 1
        else:
            merged.append([body[x]])
            x += 1
    return merged


def _sooner(new: Versions, row: Row, best: list[list[int]], y: int, x: int) -> bool:
    """Whether a new statement stands before a row where both orders serve: it does in the source."""
    return best[y][x] == best[y][x + 1] and new.statement.line < min(
        version.statement.line for version in row
    )


def _with(row: Row, new: Versions) -> Row:
    """The row with one more statement; the same statement is held once."""
    for place, version in enumerate(row):
        if version.statement == new.statement:
            return [*row[:place], version._replace(of=version.of | new.of), *row[place + 1 :]]
    return [*row, new]
