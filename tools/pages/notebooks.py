"""A tutorial is a Python script in cells, which is run while its page is built.

In: a script whose cells begin with ``# %%``; comments right after that line are the cell's Markdown, the rest is
its code. Out: Markdown, with what each cell printed, and the value of its last line, below its code. Cells share
one namespace, as in a notebook; a cell that raises stops the build. Editors open such scripts as notebooks.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Cell", "as_markdown", "cells_of"]

MARK = re.compile(r"^# %%.*\n", re.MULTILINE)
PROSE = re.compile(r"(?:#(?: .*)?\n)*")


class Cell(NamedTuple):
    """``line``: how many lines of the script stand before its code."""

    prose: str
    code: str
    line: int


def cells_of(script: str) -> list[Cell]:
    """The cells of a script."""
    found = []
    starts = [match.end() for match in MARK.finditer(script)]
    ends = [*[match.start() for match in MARK.finditer(script)][1:], len(script)]
    for start, end in zip(starts, ends, strict=True):
        prose = PROSE.match(script, start, end)
        assert prose is not None
        text = re.sub(r"^# ?", "", prose[0], flags=re.MULTILINE)
        found.append(Cell(text, script[prose.end() : end], script.count("\n", 0, prose.end())))
    return found


def as_markdown(path: Path) -> str:
    """The page of a script, which is run."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    before = list(sys.path)
    parts = []
    try:
        for cell in cells_of(path.read_text(encoding="utf-8")):
            parts.append(cell.prose)
            if cell.code.strip():
                printed = outcome(cell, path, namespace)
                parts.append(f"```python\n{cell.code.strip(chr(10))}\n```\n")
                if printed:
                    kind = "python" if "@triton.jit" in printed else "text"
                    parts.append(f"```{{code-block}} {kind}\n:class: printed\n\n{printed.rstrip()}\n```\n")
    finally:
        sys.path[:] = before
    parts.append(f"---\n\nThe whole page as a script: {{download}}`{path.name} <{path.name}>`\n")
    return "\n".join(parts)


def outcome(cell: Cell, path: Path, namespace: dict[str, Any]) -> str:
    """What a cell prints, and the value of its last line if that is an expression, as a notebook shows it."""
    tree = ast.parse("\n" * cell.line + cell.code, str(path))
    last = tree.body[-1]
    value = ast.Expression(tree.body.pop().value) if isinstance(last, ast.Expr) else None  # type: ignore[attr-defined]
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        exec(compile(tree, str(path), "exec"), namespace)
        if value is not None:
            shown = eval(compile(value, str(path), "eval"), namespace)
            if shown is not None:
                print(repr(shown), file=stream)
    return stream.getvalue()
