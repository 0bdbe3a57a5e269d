"""The shape of the code: who may import whom, and how long a file and a function may grow.

Stages stand in a row, and a module imports from its own stage or from the left. Each third-party
library has its place, so the translator never needs torch or triton. All is read from the syntax
trees; nothing is imported here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pytriton"
FILES = sorted(PACKAGE.rglob("*.py"))

# From left to right: a stage may import itself and what stands before it.
STAGES = (
    *("collecting", "frozen", "source", "errors", "lang", "passes", "emit", "pipeline"),
    *("runtime", "operators", "legacy", "testing", "port"),
)

# Who may import each third-party library; a library that is not listed may not be imported at all.
LIBRARIES = {
    "lark": ("lang/grammar.py",),
    "jinja2": ("emit/templates.py",),
    "torch": ("runtime/", "operators/"),
    "triton": ("runtime/", "operators/"),
    "numpy": ("runtime/", "operators/"),
    "platformdirs": ("runtime/compile/module_cache.py",),
    "rich": ("runtime/", "port/"),
}

# The two doors put names of all stages together, and load the heavy ones late.
DOORS = ("__init__.py", "__main__.py")

MAX_FILE_LINES = 499
MAX_FUNCTION_LINES = 59

Function = ast.FunctionDef | ast.AsyncFunctionDef


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def stage_of(name: str) -> str:
    """The stage of a file: ``lang/parse/parser.py`` -> ``lang``, ``source.py`` -> ``source``."""
    return name.split("/")[0].removesuffix(".py")


def imports(path: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything imported, relative imports resolved.

    ``from a import b`` yields ``a.b``: whether b is a module does not matter for the rules below.
    """
    package = ("pytriton", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def broken_arrows(name: str, imported: list[tuple[int, str]]) -> Iterator[str]:
    """The imports inside pytriton that point to the right, or at the package's own door."""
    own = STAGES.index(stage_of(name))
    for line, target in imported:
        root, _, rest = target.partition(".")
        if root != "pytriton" or rest == "__version__":
            continue
        stage = rest.split(".")[0]
        if stage not in STAGES:
            yield f"{name}:{line}: imports {target}; name the module that defines it"
        elif STAGES.index(stage) > own:
            yield f"{name}:{line}: {stage_of(name)} imports {stage}, which stands to its right"


def misplaced_libraries(name: str, imported: list[tuple[int, str]]) -> Iterator[str]:
    """The third-party imports outside the place of their library."""
    for line, target in imported:
        root = target.split(".")[0]
        if root == "pytriton" or root in sys.stdlib_module_names:
            continue
        places = LIBRARIES.get(root, ())
        if not any(name == place or name.startswith(place) for place in places):
            where = " or ".join(places) or "no file"
            yield f"{name}:{line}: imports {root}, which is for {where}"


def late_imports(name: str, tree: ast.AST) -> Iterator[str]:
    """The imports inside functions."""
    for function in ast.walk(tree):
        if isinstance(function, Function):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield f"{name}:{node.lineno}: imports inside {function.name}"


def test_every_file_belongs_to_a_stage() -> None:
    names = [relative(path) for path in FILES]
    assert [n for n in names if n not in DOORS and stage_of(n) not in STAGES] == []


@pytest.mark.parametrize("path", FILES, ids=relative)
class TestFile:
    def test_imports_point_left(self, path: Path) -> None:
        name = relative(path)
        if name in DOORS:
            return
        imported = list(imports(path, parsed(path)))
        assert list(broken_arrows(name, imported)) == []

    def test_libraries_stay_in_their_place(self, path: Path) -> None:
        imported = list(imports(path, parsed(path)))
        assert list(misplaced_libraries(relative(path), imported)) == []

    def test_imports_stand_at_the_top(self, path: Path) -> None:
        name = relative(path)
        if name in DOORS:
            return
        assert list(late_imports(name, parsed(path))) == []

    def test_opens_with_a_docstring(self, path: Path) -> None:
        assert ast.get_docstring(parsed(path)), f"{relative(path)} needs a few lines that teach it"

    def test_is_short(self, path: Path) -> None:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= MAX_FILE_LINES, f"{relative(path)} has {lines} lines"

    def test_functions_are_short(self, path: Path) -> None:
        long = [
            f"{relative(path)}:{node.lineno}: {node.name} has {length} lines"
            for node in ast.walk(parsed(path))
            if isinstance(node, Function)
            and (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
        ]
        assert long == []


def check_text(name: str, text: str) -> list[str]:
    """All import rules on a text, as if it were the file of that name."""
    tree = ast.parse(text)
    imported = list(imports(PACKAGE / name, tree))
    return [
        *broken_arrows(name, imported),
        *misplaced_libraries(name, imported),
        *late_imports(name, tree),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lang/check/kernel.py", "from pytriton.passes import loops"),
        ("lang/check/kernel.py", "import pytriton.runtime.kernel"),
        ("lang/check/kernel.py", "from pytriton import runtime"),
        ("lang/check/kernel.py", "from .. import runtime"),
        ("lang/check/kernel.py", "from ..emit.expr import precedence"),
        ("lang/check/kernel.py", "from pytriton import translate"),
        ("lang/parse/parser.py", "import lark"),
        ("lang/check/kernel.py", "import requests"),
        ("emit/stmt.py", "from jinja2 import Environment"),
        ("pipeline.py", "from torch import Tensor"),
        ("runtime/compile/load.py", "def f():\n    import ast"),
    ],
)
def test_the_rules_catch(name: str, text: str) -> None:
    assert check_text(name, text) != []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lang/grammar.py", "import lark\nfrom lark.grammar import Rule"),
        ("emit/templates.py", "import jinja2\nfrom pytriton.errors import Diagnostic"),
        ("lang/check/kernel.py", "from .types import BlockType\nfrom ..source import Span"),
        ("runtime/compile/module_cache.py", "import platformdirs\nfrom pytriton import __version__"),
        ("runtime/launch/device.py", "import torch, triton\nfrom pytriton.pipeline import Translation"),
    ],
)
def test_the_rules_allow(name: str, text: str) -> None:
    assert check_text(name, text) == []
