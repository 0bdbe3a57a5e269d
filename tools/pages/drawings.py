"""Drawings of grids, tiles and masks, as SVG in the colours of the page.

Each function of ``DRAWINGS`` returns one ``<svg>`` element with a title for those who cannot see it. Colours are
furo's variables, so a drawing follows the light and the dark theme. ``cells`` and ``label`` are all it takes: a
block is a table of squares, filled where a program owns them, dashed where nothing exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, Final

__all__ = ["DRAWINGS"]

SIDE: Final = 26  # of a square
OLD: Final = "var(--color-old)"
NEW: Final = "var(--color-new)"
INK: Final = "var(--color-foreground-primary)"
MUTE: Final = "var(--color-mute)"
LIGHT: Final = "var(--color-light)"
MONO: Final = "var(--font-stack--monospace)"


def picture(title: str, width: float, height: float, *parts: str) -> str:
    """The parts as one picture."""
    return (
        f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" '
        f'aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def label(x: float, y: float, text: str, *, at: str = "middle", colour: str = INK, code: bool = False) -> str:
    """A line of text; ``at``: where x is."""
    font = f"font-family:{MONO};" if code else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{at}" style="{font}font-size:12.5px;fill:{colour}">'
        f"{escape(text)}</text>"
    )


def square(x: float, y: float, *, fill: str = "none", there: bool = True, text: str = "") -> str:
    """An element; ``there``: whether it exists."""
    dash = "" if there else "stroke-dasharray:3 3;"
    paint = "" if fill == "none" else f"fill:{fill};fill-opacity:0.22;"
    box = (
        f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{SIDE - 3}" height="{SIDE - 3}" rx="3" '
        f'style="fill:none;stroke:{MUTE};stroke-width:1;{dash}{paint}"/>'
    )
    return box + (label(x + SIDE / 2, y + SIDE / 2 + 4.5, text, code=True) if text else "")


def cells(x: float, y: float, rows: int, columns: int, paint: Callable[[int, int], dict[str, object]]) -> str:
    """A table of squares; ``paint`` says what each looks like."""
    return "".join(
        square(x + j * SIDE, y + i * SIDE, **paint(i, j))  # type: ignore[arg-type]
        for i in range(rows)
        for j in range(columns)
    )


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """An arrow to the right or down."""
    right = to_x > x
    head = f"M{to_x - 6} {to_y - 4}L{to_x} {to_y}L{to_x - 6} {to_y + 4}"
    if not right:
        head = f"M{to_x - 4} {to_y - 6}L{to_x} {to_y}L{to_x + 4} {to_y - 6}"
    return f'<path d="M{x} {y}L{to_x} {to_y}{head}" style="fill:none;stroke:{INK};stroke-width:1.3"/>'


def programs() -> str:
    """A vector of 13 in blocks of 4: four programs, the last one ragged."""
    tile, n, gap = 4, 13, 14

    def parts() -> Iterator[str]:
        for pid in range(4):
            x = 78 + pid * (tile * SIDE + gap)
            colour = OLD if pid == 3 else NEW
            yield label(x + tile * SIDE / 2, 16, f"program {pid}", colour=colour)
            for j in range(tile):
                at = pid * tile + j
                there = at < n
                yield square(x + j * SIDE, 26, fill=colour if there else "none", there=there, text=str(at))
                yield label(
                    x + (j + 0.5) * SIDE,
                    74,
                    "1" if there else "0",
                    code=True,
                    colour=INK if there else OLD,
                )
        yield label(66, 43, "off", at="end", code=True)
        yield label(66, 74, "off < n", at="end", code=True)

    return picture(
        "13 elements in blocks of 4: three full programs; the mask of the fourth lets one element through",
        78 + 4 * (tile * SIDE + gap),
        86,
        *parts(),
    )


def ranges() -> str:
    """0 ... 4, moved by the program's number."""

    def row(y: float, first: int, text: str) -> str:
        return label(232, y + 17, text, at="end", code=True) + cells(
            244, y, 1, 4, lambda i, j: {"fill": NEW, "text": str(first + j)}
        )

    return picture(
        "0 ... 4 is 0 1 2 3; eight plus it is 8 9 10 11",
        360,
        70,
        row(2, 0, "0 ... 4"),
        row(38, 8, "get_program_id(0) * 4 + 0 ... 4"),
        label(352, 55, "", at="start"),
    )


def newaxis() -> str:
    """A column and a row make a table."""
    rows, columns = 3, 5
    x, y = 150, 48
    return picture(
        "a column of 3 and a row of 5 broadcast to a block of 3 by 5",
        440,
        140,
        cells(60, y, rows, 1, lambda i, j: {"fill": OLD, "text": f"{i * 10}"}),
        label(73, y + rows * SIDE + 12, "r[:, newaxis]", code=True, colour=OLD),
        cells(x, 8, 1, columns, lambda i, j: {"fill": NEW, "text": str(j)}),
        label(x + columns * SIDE + 8, 25, "c[newaxis, :]", at="start", code=True, colour=NEW),
        cells(x, y, rows, columns, lambda i, j: {"fill": MUTE, "text": str(i * 10 + j)}),
        label(x + columns * SIDE + 8, y + 43, "their sum", at="start"),
    )


def reductions() -> str:
    """A block, the sums of its rows, the largest of its columns."""
    block = [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]]
    x, y = 20, 8
    right, below = x + 5 * SIDE + 22, y + 3 * SIDE + 22
    return picture(
        "x[:, +] adds up each row, x[max, :] keeps the largest of each column",
        330,
        150,
        cells(x, y, 3, 5, lambda i, j: {"fill": MUTE, "text": str(block[i][j])}),
        cells(right, y, 3, 1, lambda i, j: {"fill": NEW, "text": str(sum(block[i]))}),
        label(right + SIDE + 8, y + 43, "x[:, +]", at="start", code=True, colour=NEW),
        cells(x, below, 1, 5, lambda i, j: {"fill": OLD, "text": str(max(row[j] for row in block))}),
        label(right, below + 17, "x[max, :]", at="start", code=True, colour=OLD),
        arrow(right - 18, y + 39, right - 4, y + 39),
        arrow(x + 65, below - 18, x + 65, below - 4),
    )


def product() -> str:
    """Which parts of A and B one program of a matrix product walks through."""
    side = 18

    def table(
        x: float, y: float, rows: int, columns: int, paint: Callable[[int, int], float], colour: str
    ) -> str:
        found = []
        for i in range(rows):
            for j in range(columns):
                weight = paint(i, j)
                fill = f"fill:{colour};fill-opacity:{weight}" if weight else "fill:none"
                found.append(
                    f'<rect x="{x + j * side + 1}" y="{y + i * side + 1}" width="{side - 2}" height="{side - 2}" '
                    f'rx="2" style="{fill};stroke:{MUTE};stroke-width:.8"/>'
                )
        return "".join(found)

    m, n, k = 6, 8, 8
    ax, ay = 20, 24 + k * side + 20
    bx, by = ax + k * side + 24, 24
    rows, columns = range(2, 4), range(4, 6)
    return picture(
        "one program owns a tile of C; tile by tile it walks along its rows of A and down its columns of B",
        bx + n * side + 20,
        ay + m * side + 26,
        table(ax, ay, m, k, lambda i, j: 0 if i not in rows else 0.55 if j in (2, 3) else 0.2, OLD),
        table(bx, by, k, n, lambda i, j: 0 if j not in columns else 0.55 if i in (2, 3) else 0.2, OLD),
        table(bx, ay, m, n, lambda i, j: 0.55 if i in rows and j in columns else 0, NEW),
        label(ax + k * side / 2, ay + m * side + 18, "A: M × K", code=True),
        label(bx - 10, by + 12, "B: K × N", at="end", code=True),
        label(bx + n * side / 2, ay + m * side + 18, "C: M × N", code=True),
        arrow(ax + 4 * side + 6, ay + 3 * side, ax + 6 * side + 6, ay + 3 * side),
        arrow(bx + 5 * side, by + 4 * side + 6, bx + 5 * side, by + 6 * side + 6),
    )


def ragged() -> str:
    """A matrix of 5 by 7 under tiles of 4 by 4."""
    rows, columns, tile = 5, 7, 4
    gap = 12

    def parts() -> Iterator[str]:
        for pi in range(2):
            for pj in range(2):
                x, y = 90 + pj * (tile * SIDE + gap), 26 + pi * (tile * SIDE + gap)

                def paint(i: int, j: int, pi: int = pi, pj: int = pj) -> dict[str, object]:
                    there = pi * tile + i < rows and pj * tile + j < columns
                    colour = NEW if (pi, pj) == (0, 0) else OLD
                    return {"fill": colour if there else "none", "there": there}

                yield cells(x, y, tile, tile, paint)
                if pi == 0:
                    yield label(
                        x + tile * SIDE / 2, 16, f"get_program_id(1) = {pj}" if pj == 0 else "1", code=True
                    )
            yield label(80, 26 + pi * (tile * SIDE + gap) + 56, f"id(0) = {pi}", at="end", code=True)

    return picture(
        "a matrix of 5 rows and 7 columns under tiles of 4 by 4: only the first tile is full",
        90 + 2 * (tile * SIDE + gap) + 6,
        32 + 2 * (tile * SIDE + gap),
        *parts(),
    )


def bars(rows: Sequence[Sequence[Any]], title: str, names: Sequence[str] = ("pytriton", "torch")) -> str:
    """A bar for each name in each row (case, speeds in the order of the names)."""
    left, wide, high = 92, 420, 15
    most = max(speed for _, *speeds in rows for speed in speeds)
    colours = (NEW, MUTE, LIGHT)[: len(names)]
    row_height = len(names) * high + 14

    def parts() -> Iterator[str]:
        for number, (case, *speeds) in enumerate(rows):
            y = 26 + number * row_height
            yield label(left - 10, y + len(names) * high / 2 + 4, case, at="end", code=True)
            for place, (speed, colour) in enumerate(zip(speeds, colours, strict=True)):
                width = max(1, wide * speed / most)
                top = y + place * high
                yield f'<rect x="{left}" y="{top}" width="{width:.1f}" height="{high - 2}" style="fill:{colour}"/>'
                yield label(left + width + 6, top + high - 4, f"{speed:.0f}", at="start")
        x = left
        for name, colour in zip(names, colours, strict=True):
            yield f'<rect x="{x}" y="4" width="10" height="10" style="fill:{colour}"/>'
            yield label(x + 15, 14, name, at="start")
            x += 15 + 8 * len(name) + 16

    return picture(title, left + wide + 60, 26 + len(rows) * row_height, *parts())


DRAWINGS: Final[dict[str, Callable[[], str]]] = {
    drawing.__name__: drawing for drawing in (programs, ranges, newaxis, reductions, product, ragged)
}
