"""What a mutant is: one change of the syntax tree of one function.

``old`` and ``new`` are an expression each, or statements, and nothing in ``new`` drops them. The old one is found
by structure, so layout, comments and the lines around it do not matter, and a name that the function no longer has
stands for any other name: a local variable may be renamed. Where a function has moved or changed, ``mutated``
raises an error that says where to look. Of a template ``place`` is the path, and both are text. Each mutant makes
some program compute something else, race, be refused, or lose the speed that the pass is for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutated"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one function, ``place`` is ``folder/module:Class.method``; what it breaks, in words."""

    name: str
    place: str
    old: str
    new: str
    breaks: str = ""

    @property
    def path(self) -> str:
        return self.place if self.is_template else f"pytriton/{self.place.partition(':')[0]}.py"

    @property
    def is_template(self) -> bool:
        return self.place.endswith(".j2")


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """The text of the file with the change; all else in it stays as it is."""
    path = root / mutant.path
    if not path.exists():
        raise LookupError(_lost(mutant, "no such module", root))
    text = path.read_text(encoding="utf-8")
    if mutant.is_template:
        if text.count(mutant.old) != 1:
            raise LookupError(
                f"mutant {mutant.name}: {text.count(mutant.old)} of {mutant.old}, should be one"
            )
        return text.replace(mutant.old, mutant.new)
    function = _function(ast.parse(text), mutant.place.partition(":")[2])
    if function is None:
        raise LookupError(_lost(mutant, "no such function", root))
    old, new = ast.parse(mutant.old).body, ast.parse(mutant.new).body
    found = list(_places(function, old, frozenset()))
    if not found:
        here = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        names = {node.id for each in old for node in ast.walk(each) if isinstance(node, ast.Name)}
        found = list(_places(function, old, names - here))
    if len(found) != 1:
        message = f"{mutant.place} has {len(found)} of what this changes, which should be one: {mutant.old}"
        raise LookupError(f"mutant {mutant.name}: {message}")
    ((nodes, names_there),) = found
    return _spliced(text, nodes, new, names_there)


def _function(tree: ast.AST, qualified: str) -> ast.AST | None:
    for name in filter(None, qualified.split(".")):
        inside = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))
        found = next((node for node in inside if node.name == name), None)
        if found is None:
            return None
        tree = found
    return tree


def _lost(mutant: Mutant, message: str, root: Path) -> str:
    """The message, with the places that have a function of this name now."""
    function = mutant.place.partition(":")[2]
    files = (root / "pytriton").rglob("*.py") if function else ()
    now = [file.relative_to(root) for file in files if _function(ast.parse(file.read_bytes()), function)]
    return f"mutant {mutant.name}: {message}: {mutant.place}; {function!r} is in {[*map(str, now)]}"


def _places(
    function: ast.AST, old: list[ast.stmt], free: frozenset[str] | set[str]
) -> Iterator[tuple[list[ast.stmt] | list[ast.expr], dict[str, str]]]:
    """Each place that is like the old one: its nodes, and the names there of the free names."""
    if len(old) == 1 and isinstance(old[0], ast.Expr):
        for node in ast.walk(function):
            if isinstance(node, ast.expr) and _alike(old[0].value, node, free, names := {}):
                yield [node], names
        return
    for node in ast.walk(function):
        for body in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
            for at in range(len(body) - len(old) + 1) if isinstance(body, list) else ():
                names = {}
                if all(_alike(one, body[at + n], free, names) for n, one in enumerate(old)):
                    yield body[at : at + len(old)], names


def _alike(old: object, node: object, free: frozenset[str] | set[str], names: dict[str, str]) -> bool:
    if isinstance(old, ast.Name) and isinstance(node, ast.Name) and old.id in free:
        return names.setdefault(old.id, node.id) == node.id
    if isinstance(old, ast.AST):
        return type(old) is type(node) and all(
            _alike(getattr(old, field), getattr(node, field), free, names) for field in old._fields
        )
    if isinstance(old, list) and isinstance(node, list):
        return len(old) == len(node) and all(
            _alike(*pair, free, names) for pair in zip(old, node, strict=True)
        )
    return type(old) is type(node) and old == node


def _spliced(
    text: str, nodes: list[ast.stmt] | list[ast.expr], new: list[ast.stmt], names: Mapping[str, str]
) -> str:
    for each in new:
        for node in ast.walk(each):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
    first, last = nodes[0], nodes[-1]
    if isinstance(first, ast.expr) and new:
        change = f"({ast.unparse(new[0])})"
    else:
        lines = "\n".join(map(ast.unparse, new or [ast.Pass()]))
        change = lines.replace("\n", "\n" + " " * first.col_offset)
    lines_of = text.encode().splitlines(keepends=True)
    assert last.end_lineno is not None
    assert last.end_col_offset is not None
    start = sum(map(len, lines_of[: first.lineno - 1])) + first.col_offset
    end = sum(map(len, lines_of[: last.end_lineno - 1])) + last.end_col_offset
    return (text.encode()[:start] + change.encode() + text.encode()[end:]).decode()
