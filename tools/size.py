"""The size of the code beside its ceilings: ``python tools/size.py``; ``make check`` fails where it is exceeded.

The *core* is what a newcomer must know: it translates a kernel and launches it. The *tools* are built around it,
and the core imports none of them (``tests/test_architecture.py``). *Shared* is the rest: the foundations of all
files, and the public entry points. ``CEILINGS`` bounds the core and all of ``pytriton/``. A part may exceed its
ceiling by 3 %. Tests, templates and the grammar are printed, not bounded.

A token is a name, a number, a string or an operator; a dotted name is one. Layout, comments, docstrings, imports,
``__all__``, brackets, commas and colons do not count, so reformatting changes no number.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
UNCOUNTED = frozenset(",()[]{}:.;")
COUNTED = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)

# Folders and files of pytriton/.
CORE: Final = (
    *("lang", "passes", "emit", "native", "pipeline.py", "reuse.py"),
    *("runtime/options", "runtime/launch", "runtime/compile", "runtime/plan.py", "runtime/kernel.py"),
)
TOOLS: Final = (
    *("fold", "port", "gradient", "operators", "legacy", "notebook", "lsp"),
    *("tuning", "runtime/checks", "runtime/trace"),
    *("runtime/interpret", "runtime/native"),
)


CEILINGS: Final = {
    # 92,000, 8,000 for kernels as C (native/), 1,000 for typed options (issue 45)
    "core": 101_000,
    # 182,000, 8,000 for kernels as C, 3,800 of the 5,000 that issue 45 allows, 4,000 of the 6,000 of issue 46,
    # 2,900 for launches without a launcher (issue 44)
    "pytriton": 200_700,
}


def bound(ceiling: int) -> int:
    """The size above which ``make check`` fails."""
    return ceiling * 103 // 100


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


@cache
def size(path: Path) -> int:
    """The tokens of a Python file, or of all Python files in a folder."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return sum(tokens(file.read_text(encoding="utf-8")) for file in files)


def _bytes(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def _print_part(part: str, names: Iterable[str], total: int) -> None:
    print(f"{part:27s}{total:8,d}")
    for name in names:
        print(f"  {name:25s}{size(ROOT / 'pytriton' / name):8,d}")


def main() -> int:
    """Print the tables; 1 if a part exceeds its bound."""
    package = ROOT / "pytriton"
    sizes = {
        "core": sum(size(package / name) for name in CORE),
        "tools": sum(size(package / name) for name in TOOLS),
        "pytriton": size(package),
    }
    _print_part("core", CORE, sizes["core"])
    _print_part("tools", TOOLS, sizes["tools"])
    print(f"{'shared':27s}{sizes['pytriton'] - sizes['core'] - sizes['tools']:8,d}")
    print(f"{'tests':27s}{size(ROOT / 'tests'):8,d}, not bounded")
    for name in ("templates", "grammar/triton_c.lark"):
        print(f"{name:27s}{_bytes(ROOT / name):8,d} bytes, not bounded")
    print()
    exceeded = []
    for part, ceiling in CEILINGS.items():
        over = sizes[part] - ceiling
        state = f"{over:,d} over, {over / ceiling:.1%}" if over > 0 else f"{-over:,d} left"
        print(f"{part:27s}{sizes[part]:8,d} of {ceiling:,d}: {state}; fails above {bound(ceiling):,d}")
        if sizes[part] > bound(ceiling):
            exceeded.append(part)
    if exceeded:
        print(
            f"EXCEEDED: {', '.join(exceeded)}. Make it smaller, or change CEILINGS in tools/size.py with the reason"
        )
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
