"""``python -m tools.picture``: docs/_static/picture.svg, the picture of the README: old text, new text, speed.

In: the matrix product of examples/dot.py, which is translated, and benchmarks/results/programs.json, the speeds of
a run on a GPU. Out: one SVG that looks the same on white and on black. The same input gives the same bytes
(tests/test_site.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

import pytriton
from pytriton.lsp.highlight import TritonCLexer
from tools.classic import classic_dot

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "_static" / "picture.svg"
SPEEDS = ROOT / "benchmarks" / "results" / "programs.json"
COMMAND = "python -m benchmarks --only dot"

KERNEL = classic_dot()
DEFINES = {"TYPE": "half", "TM": 128, "TN": 128, "TK": 32}
WIDTH, GLYPH, LINE = 1120, 6.63, 17
OLD, NEW, MUTE = "#b4541a", "#0b6e5f", "#8b96a0"
COLOURS = (
    (Comment, "#5f6b75"),
    (Keyword.Type, "#0b6e5f"),
    (Keyword, "#8a2be2"),
    (Name.Decorator, "#a1410d"),
    (Name.Function, "#0a58a8"),
    (Number, "#a1410d"),
    (String, "#8f3a0c"),
    (Operator, "#8a2be2"),
)


def text(x: float, y: float, words: str, colour: str = "#24292e", size: float = 13, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size:g}"{more}>{escape(words)}</text>'


def code(x: float, y: float, lines: str, lexer: object) -> Iterator[str]:
    """Each word at its own place, so that any monospaced font stands in columns."""
    row, column = 0, 0
    for token, value in lexer.get_tokens(lines):  # type: ignore[attr-defined]
        colour = next((colour for kind, colour in COLOURS if token in kind), "#24292e")
        for number, part in enumerate(value.split("\n")):
            if number:
                row, column = row + 1, 0
            if part.strip():
                indent = len(part) - len(part.lstrip())
                at = x + (column + indent) * GLYPH
                width = f' textLength="{len(part.strip()) * GLYPH:.1f}" class="code"'
                yield text(at, y + row * LINE, part.strip(), colour, 11, width)
            column += len(part)


def bars(x: float, y: float, report: dict[str, object]) -> Iterator[str]:
    names, rows = report["names"], report["rows"]
    most = max(speed for _, *speeds in rows for speed in speeds)  # type: ignore[attr-defined]
    colours = (NEW, MUTE, "#c3cad0")
    for place, (name, colour) in enumerate(zip(names, colours, strict=True)):  # type: ignore[call-overload]
        yield f'<rect x="{x + place * 190:g}" y="{y - 9:g}" width="10" height="10" fill="{colour}"/>'
        yield text(x + place * 190 + 16, y, name, size=12)
    for column, (size, *speeds) in enumerate(rows):  # type: ignore[arg-type]
        left = x + column * 350
        yield text(left, y + 28, f"{size} × {size} × {size}", "#5f6b75", 12)
        for place, (speed, colour) in enumerate(zip(speeds, colours, strict=True)):
            top = y + 37 + place * 16
            width = 250 * speed / most
            yield f'<rect x="{left:g}" y="{top:g}" width="{width:.1f}" height="13" fill="{colour}"/>'
            yield text(left + width + 6, top + 11, str(speed), size=12)


def speeds(report: dict[str, Any]) -> dict[str, Any]:
    """Of what the benchmark wrote: whole TFLOP/s of ``a @ b`` for each size."""
    columns = {"pytriton": "pytriton", "hand-written": "hand-written @triton.jit", "torch.mm": "torch.mm"}
    rows = [
        [row["case"].partition("³")[0], *(round(row["rates"][name]) for name in columns)]
        for row in report["rows"]
        if row["program"] == "dot half" and row["case"].endswith("³, a @ b")
    ]
    return {
        "what": "matrix product of examples/dot.py, half, a @ b",
        "unit": "TFLOP/s",
        "run": f"{report['date']}, {report['gpu']}, torch {report['torch']}, Triton {report['triton']}; "
        + COMMAND,
        "names": list(columns.values()),
        "rows": rows,
    }


def picture() -> str:
    report = speeds(json.loads(SPEEDS.read_text(encoding="utf-8")))
    module = pytriton.translate(KERNEL, DEFINES).text.partition("@triton.jit")
    python = "".join(module[1:])
    rows = max(KERNEL.count("\n"), python.count("\n"))
    below = 66 + rows * LINE + 26
    height = below + 128
    parts = [
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#ffffff" stroke="#dfe3e6"/>',
        text(28, 34, "Triton-C, 2019", OLD, 14, ' font-weight="600"'),
        text(580, 34, "Python, today", NEW, 14, ' font-weight="600"'),
        f'<rect x="24" y="46" width="3" height="{KERNEL.count(chr(10)) * LINE + 12}" fill="{OLD}"/>',
        f'<rect x="576" y="46" width="3" height="{python.count(chr(10)) * LINE + 12}" fill="{NEW}"/>',
        *code(38, 64, KERNEL, TritonCLexer()),
        *code(590, 64, python, PythonLexer()),
        f'<path d="M28 {below - 14}H{WIDTH - 28}" stroke="#dfe3e6"/>',
        *bars(28, below + 12, report),
        text(28, height - 14, f"{report['unit']}; {report['what']}. {report['run']}", "#5f6b75", 11),
    ]
    style = (
        "text{font-family:system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
        ".code{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        "<title>A matrix product of 2019, the Python it becomes, and its speed beside a hand-written kernel and "
        f"torch.mm</title><style>{style}</style>\n{chr(10).join(parts)}\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
