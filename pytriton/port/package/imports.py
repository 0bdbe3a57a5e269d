"""What a Python file uses of triton, and how it imports it once ``_triton`` stands for the old one.

``import triton``, in each of its forms, comes to mean the launcher module of the package, under the name that the
file has for it; ``from triton.testing import do_bench`` takes the name from ``_testing`` beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["LAUNCHER", "MODULES", "Uses", "imported", "is_import_of_triton", "uses_of"]

LAUNCHER: Final = "_triton"
MODULES: Final = {"triton": LAUNCHER, "triton.testing": "_testing"}  # what stands for which


@dataclass
class Uses:
    """What a package takes from triton: names, those of ``testing``, and what is asked of kernel objects."""

    names: set[str] = field(default_factory=set)
    testing: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)  # any, of any object
    keywords: set[str] = field(default_factory=set)  # of any call
    modules: set[str] = field(default_factory=set)  # dotted names below triton that are no more

    def add(self, other: Uses) -> None:
        self.names |= other.names
        self.testing |= other.testing
        self.attributes |= other.attributes
        self.keywords |= other.keywords
        self.modules |= other.modules


def uses_of(tree: ast.Module) -> Uses:
    """What one file takes."""
    uses = Uses()
    bound, testing = set(_bound(tree)), set(_bound_testing(tree))
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="triton", level=0, names=names):
                uses.names |= {alias.name for alias in names}
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in testing:
                uses.testing.add(attr)
            case ast.ImportFrom(module="triton.testing", level=0, names=names):
                uses.testing |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), level=0) if module.startswith("triton."):
                uses.modules.add(module)
            case ast.Import(names=names):
                uses.modules |= {alias.name for alias in names if alias.name.startswith("triton.")}
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr="testing"), attr=attr):
                if name in bound:
                    uses.testing.add(attr)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in bound:
                uses.names.add(attr)
            case ast.Attribute(attr=attr):
                uses.attributes.add(attr)
            case ast.Call(keywords=keywords):
                uses.keywords |= {keyword.arg for keyword in keywords if keyword.arg}
    uses.modules.discard("triton.testing")
    return uses


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that stand for triton in a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name == "triton" or (alias.name.startswith("triton.") and not alias.asname):
                        yield alias.asname or "triton"
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_import_of_triton(value, tree):
                yield name


def _bound_testing(tree: ast.Module) -> Iterator[str]:
    """The names that stand for triton.testing in a file, ``triton.testing`` itself aside."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (
                    alias.asname for alias in names if alias.name == "triton.testing" and alias.asname
                )
            case ast.ImportFrom(module="triton", level=0, names=names):
                yield from (alias.asname or alias.name for alias in names if alias.name == "testing")


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


def imported(node: ast.stmt, dots: str) -> Sequence[str] | None:
    """The statements that stand for an import; None if it has nothing to do with the old triton."""
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
