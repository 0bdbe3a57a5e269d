"""The size of the code beside its budget: ``python tools/size.py``; ``make check`` fails where it is exceeded.

A token is a name, a number, a string or an operator; a dotted name is one. Layout, comments, docstrings, imports,
``__all__``, brackets, commas and colons do not count, so reformatting changes no number. ``budget.toml`` has the
tokens and lines that each folder may have, and the bytes of the templates and the grammar. A change that needs more
raises its row in the same commit and states the reason there.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = Path(__file__).with_name("budget.toml")
UNCOUNTED = frozenset(",()[]{}:.;")
COUNTED = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)


def tokens(source: str) -> int:
    """The number of tokens of a Python source."""
    skipped = set(_uncounted_lines(ast.parse(source)))
    count, before = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in COUNTED:
            count += not (token.start[0] in skipped or token.string in UNCOUNTED or before == ".")
            before = token.string
    return count


def _uncounted_lines(tree: ast.Module) -> Iterator[int]:
    """The lines of docstrings, imports and ``__all__``."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant(value=str())) as skipped, *_])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str())) as skipped, *_])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())) as skipped, *_])
                | ast.AsyncFunctionDef(body=[ast.Expr(value=ast.Constant(value=str())) as skipped, *_])
                | (ast.Import() | ast.ImportFrom() as skipped)
                | (ast.Assign(targets=[ast.Name(id="__all__"), *_]) as skipped)
            ):
                yield from range(skipped.lineno, (skipped.end_lineno or skipped.lineno) + 1)


def measured(folder: str) -> dict[str, int]:
    """Tokens and lines of the Python files of a folder; bytes of the files where it holds none, or of a file."""
    path = ROOT / folder
    sources = [file.read_text(encoding="utf-8") for file in path.rglob("*.py")]
    if sources:
        return {"tokens": sum(map(tokens, sources)), "lines": sum(text.count("\n") for text in sources)}
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {"bytes": sum(file.stat().st_size for file in files)}


def main() -> int:
    """Print the table; 1 if a number exceeds its budget."""
    budget: dict[str, dict[str, int]] = tomllib.loads(BUDGET.read_text(encoding="utf-8"))
    exceeded = 0
    for folder, allowed in budget.items():
        sizes = measured(folder)
        parts = []
        for unit, limit in allowed.items():
            over = sizes[unit] > limit
            exceeded += over
            parts.append(f"{sizes[unit]:8,d} of {limit:8,d} {unit}{' EXCEEDED' if over else ''}")
        print(f"{folder:24s} {'  '.join(parts)}")
    if exceeded:
        print(f"{exceeded} exceeded: make it smaller, or raise its row in tools/budget.toml with the reason")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
