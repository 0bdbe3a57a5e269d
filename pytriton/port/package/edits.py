"""A Python file of a package -> the same file with the smallest change.

Input: the file's bytes, and the replacements of the strings in it that were ported. Output: its bytes with other
imports of triton, names in place of strings, and tensors in place of their addresses where a kernel is launched.
Every other byte is as it was. ``import triton``, in each of its forms, comes to mean the launcher module of the
package, under the name that the file has for it;
``from triton.testing import do_bench`` takes the name from ``_testing``.

Invariant: the edits of a file do not overlap.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeGuard

from pytriton.port.read.extract import strings_of
from pytriton.port.read.library import parsed

LAUNCHER: Final = "_triton"
MODULES: Final = {"triton": LAUNCHER, "triton.testing": "_testing"}  # the replacement of each


class Edit(NamedTuple):
    """New text in place of the bytes from ``start`` to ``end``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Replacement:
    """The replacement of a string: a name of a module of kernels (``kernels.dot``)."""

    name: str
    module: str

    @property
    def alias(self) -> str:
        """What a file calls it: ``dot_`` where the name is ``dot as dot_``."""
        return self.name.rpartition(" ")[2]


def edited(
    file: PythonFile,
    dots: str,
    strings: Mapping[tuple[int, int], Replacement],
    edits: Iterable[Edit],
    imports: Iterable[Replacement] = (),
) -> bytes:
    """The file, with these edits and names for strings.

    ``dots``: those of a relative import of the package. ``strings``: their replacements, by line and column.
    ``imports``: of other names that the edits use.
    """
    edits, names = [*edits], dict.fromkeys(imports)
    for node in strings_of(file.tree):
        name = strings.get((node.lineno, node.col_offset))
        if name is not None:
            names[name] = None
            edits.append(file.edit(node, name.alias))
    edits += _import_of_kernels(file, dots, names)
    data = file.data
    for edit in sorted(edits, reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data


def tensors(file: PythonFile) -> Iterator[Edit]:
    """Tensors for their addresses, where only a launch sees them."""
    for start, end in map(file.span, _addresses(file.tree)):
        yield Edit(file.data.rindex(b".", start, end), end, "")


class PythonFile:
    """The bytes of a file, its tree, and where its lines begin."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.tree = parsed(data)
        self.newline = "\r\n" if b"\r\n" in data else "\n"
        self._starts = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._mark = 3 if data.startswith(b"\xef\xbb\xbf") else 0

    def at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column + (self._mark if line == 1 else 0)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def edit(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(*self.span(node), text)

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def indentation(self, node: ast.stmt) -> str:
        return self.data[self.at(node.lineno, 0) : self.span(node)[0]].decode()


# ---------------------------------------------------------------- imports


def imports(file: PythonFile, dots: str) -> Iterator[Edit]:
    """What imports triton imports the launcher module."""
    for node in ast.walk(file.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and (lines := _imported(node, dots)):
            yield file.edit(node, f"{file.newline}{file.indentation(node)}".join(lines))
        elif isinstance(node, ast.Call) and is_import_of_triton(node, file.tree):
            name = ast.unparse(node.func)
            load = "__import__('importlib').import_module" if name == "__import__" else name
            yield file.edit(node, f"{load}('{dots}{LAUNCHER}', __package__)")


def _import_of_kernels(file: PythonFile, dots: str, names: Iterable[Replacement]) -> Iterator[Edit]:
    """The imports of the names that replace strings, after the last import at the top of the file."""
    names = [*names]
    modules: dict[str, list[str]] = {}
    for name in names:
        modules.setdefault(f"{dots}{name.module}", []).append(name.name)
    if not modules:
        return
    lines = [f"from {module} import {', '.join(sorted(of))}" for module, of in sorted(modules.items())]
    if is_optional(file.tree):
        unset = " = ".join(sorted(name.alias for name in names))
        lines = ["try:", *(f"    {line}" for line in lines), "except ImportError:", f"    {unset} = None"]
    last: ast.stmt | None = None
    for number, node in enumerate(file.tree.body):
        docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, (ast.Import, ast.ImportFrom)):
            last = node
        elif not isinstance(node, ast.Try):
            break
    parts = [part for node in file.tree.body[:1] for part in (node, *getattr(node, "decorator_list", ()))]
    first = min((part.lineno for part in parts), default=1)
    at = file.at(first if last is None else (last.end_lineno or 0) + 1, 0)
    yield Edit(at, at, file.newline.join([*lines, ""]))


# ---------------------------------------------------------------- addresses


def _addresses(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls ``x.data_ptr()`` of which only launches see the result, where a tensor serves as well.

    A launch is a call with ``grid=``, in a package that has no function with such a parameter. Its arguments may be
    the elements of a list or a tuple, by a name that stands for nothing else in the file.
    """
    nodes = [*ast.walk(tree)]
    if any("storage" in getattr(node, "attr", "") for node in nodes):
        return  # they have addresses, too
    arguments = [value for call in nodes if _is_launch(call) for value in call.args]
    unpacked = Counter(ast.unparse(value.value) for value in arguments if isinstance(value, ast.Starred))
    read = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
            ) if read[name] == unpacked.get(name):
                arguments += getattr(value, "elts", ())
    for argument in arguments:
        for arm in (argument.body, argument.orelse) if isinstance(argument, ast.IfExp) else (argument,):
            if _is_address(arm):
                yield arm


def addresses_left(tree: ast.Module) -> list[ast.Attribute]:
    """The uses of ``data_ptr`` that stay, in any form."""
    replaced = {call.func for call in _addresses(tree)}
    left = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "data_ptr")
    return [node for node in left if node not in replaced]


def _is_address(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "data_ptr"
    )


def _is_launch(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and "grid" in {by.arg for by in node.keywords}


# ---------------------------------------------------------------- what a file takes from triton


@dataclass
class Uses:
    """What a package takes from triton: names, those of ``testing``, and what is asked of kernel objects."""

    names: set[str] = field(default_factory=set)
    testing: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)  # any, of any object
    keywords: set[str] = field(default_factory=set)  # of any call
    modules: set[str] = field(default_factory=set)  # dotted names below triton that are no more
    by_place: set[str] = field(default_factory=set)  # what may be called with several arguments by place

    @property
    def reads_kernels(self) -> bool:
        """Whether it asks for some kernels of a file."""
        return "triton.read" in self.by_place or "kernel_names" in self.keywords

    def add(self, other: Uses) -> None:
        for name, taken in vars(other).items():
            getattr(self, name).update(taken)


def uses_of(tree: ast.Module) -> Uses:
    """What one file takes."""
    uses = Uses()
    names = dict(bound(tree, ast.walk(tree)))
    of_module = {"triton": uses.names, "triton.testing": uses.testing}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    of_source = [
        call.func
        for call in calls
        if not call.args[1:] and not any(isinstance(x, ast.Starred) for x in call.args)
    ]
    for node in ast.walk(tree):
        name, dot, rest = ast.unparse(node).partition(".")
        if name in names and node not in of_source:
            uses.by_place.add(f"{names[name]}{dot}{rest}")
        match node:
            case ast.ImportFrom(module=str(module), level=0, names=taken) if module in MODULES:
                of_module[module] |= {alias.name for alias in taken}
            case ast.ImportFrom(module=str(module), level=0) if module.startswith("triton."):
                uses.modules.add(module)
            case ast.Import(names=taken):
                uses.modules |= {alias.name for alias in taken if alias.name.startswith("triton.")}
            case ast.Attribute(value=value, attr=attr):
                name, dot, rest = ast.unparse(value).partition(".")
                of_module.get(f"{names.get(name)}{dot}{rest}", uses.attributes).add(attr)
            case ast.Call(keywords=keywords):
                uses.keywords |= {keyword.arg for keyword in keywords if keyword.arg}
    uses.modules.discard("triton.testing")
    return uses


def launches(tree: ast.Module) -> Iterator[tuple[int, bool]]:
    """The lines of the calls with a grid, and whether it is ``grid=`` with no other names than ``bench``.

    A call of ``functools.partial`` may be the first half of one.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            names = {by.arg for by in node.keywords}
            by_place = any(isinstance(x, ast.Lambda) or ast.unparse(x) == "grid" for x in node.args)
            if by_place or "grid" in names or "partial" in ast.unparse(node.func):
                yield node.lineno, "grid" in names <= {"grid", "bench"}


def bound(tree: ast.Module, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names that these statements of a file give triton and triton.testing, with which it is."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.asname and alias.name in MODULES:
                        yield alias.asname, alias.name
                    elif alias.name.partition(".")[0] == "triton":
                        yield "triton", "triton"
            case ast.ImportFrom(module="triton", names=names):
                yield from ((alias.asname or alias.name, f"triton.{alias.name}") for alias in names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_import_of_triton(value, tree):
                yield name, "triton"


def is_import_of_triton(node: ast.AST, tree: ast.Module) -> bool:
    """Whether an expression is ``importlib.import_module('triton')``, by whatever name, or ``__import__``."""
    match node:
        case ast.Call(func=func, args=[ast.Constant(value="triton")], keywords=[]):
            return ast.unparse(func) in {"__import__", *_importers(tree)}
    return False


def _importers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name == "importlib":
                        yield f"{alias.asname or 'importlib'}.import_module"
            case ast.ImportFrom(module="importlib", names=names):
                yield from (alias.asname or alias.name for alias in names if alias.name == "import_module")


def is_optional(tree: ast.Module) -> bool:
    """Whether a file works without triton."""
    return any(isinstance(node, ast.Try) and [*bound(tree, node.body)] for node in tree.body)


def _imported(node: ast.stmt, dots: str) -> Sequence[str] | None:
    """The statements that replace an import; None if it does not import the old triton."""
    match node:
        case ast.Import(names=names) if any(alias.name in MODULES for alias in names):
            lines = [f"import {_shown(alias)}" for alias in names if alias.name not in MODULES]
            for alias in names:
                if alias.name in MODULES:
                    module = MODULES[alias.name] if alias.asname else LAUNCHER
                    lines.append(f"from {dots} import {module} as {alias.asname or 'triton'}")
            return lines
        case ast.ImportFrom(module=str(module), level=0, names=names) if module in MODULES:
            return [f"from {dots}{MODULES[module]} import {', '.join(map(_shown, names))}"]
    return None


def _shown(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
