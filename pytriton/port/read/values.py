"""The values of expressions of the scanned Python.

The scanned code is never run. Where a value can be known from the syntax tree alone it is a plain Python
value (numbers, lists, dicts, and text that remembers its lines); everything else is an ``Unknown`` that
keeps the expression it would be computed by, so that ``cdiv(M, opt.TM)`` can be written down again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final


class NotKnown(Exception):
    """A property of a value is unknown without running the code."""


# What an operation on known values may raise: its result is unknown then.
FAILURES: Final = (NotKnown, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


class Traced(str):
    """A text that knows where it was written: ``pieces`` are its parts, each with its line of the file."""

    pieces: tuple[tuple[str, int], ...]
    path: Path | None = None  # where the whole text was read from
    kernels: tuple[str, ...] = ()  # the kernels that ``triton.read`` was asked for

    def line_at(self, offset: int) -> int:
        """The line of the Python file that the character at an offset comes from."""
        line = 0
        for text, line in self.pieces:
            if offset < len(text):
                return line + text.count("\n", 0, offset)
            offset -= len(text)
        return line


def traced(pieces: Iterable[tuple[str, int]]) -> Traced:
    """The text made of these pieces."""
    parts = tuple(piece for piece in pieces if piece[0]) or (("", 0),)
    whole_text = Traced("".join(text for text, _ in parts))
    whole_text.pieces = parts
    return whole_text


@dataclass(frozen=True, eq=False)
class Unknown:
    """A value that only a run would tell. ``node`` computes it; its names are parameters of the old code.

    ``kind`` is its known type: ``bool``, ``int`` or ``dtype``.
    """

    node: ast.expr
    kind: str | None = None

    def __post_init__(self) -> None:
        if _size(self.node) > MAX_NODES:  # an expression that doubles at each step is useless
            object.__setattr__(self, "node", ast.Name(TOO_LONG, ast.Load()))

    @property
    def text(self) -> str:
        """The expression as Python text: also the identity of the value, so two values never share one."""
        return text_of(self.node)


def text_of(node: ast.expr) -> str:
    """An expression as Python text, cached at its node like its size."""
    text: str | None = getattr(node, "text_", None)
    if text is None:
        text = node.text_ = ast.unparse(node)  # type: ignore[attr-defined]
    return text


TOO_LONG: Final = "a_long_expression"
MAX_NODES: Final = 300


def _size(node: ast.AST) -> int:
    """How many nodes an expression has, cached at each: expressions are never changed."""
    size: int | None = getattr(node, "size_", None)
    if size is None:
        size = 1 + sum(map(_size, ast.iter_child_nodes(node)))
        node.size_ = size  # type: ignore[attr-defined]
    return size


@dataclass(frozen=True)
class Dtype:
    """A ``torch.dtype``, by the end of its name."""

    name: str


@dataclass(frozen=True)
class Library:
    """A name of a library, dotted: ``triton.kernel``, ``torch.float16``, ``os.path.join``."""

    name: str


@dataclass(eq=False)
class ScannedFunction:
    """A function of the scanned code, with the names around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    around: Any  # the Frame it was defined in
    owner: Any = None  # its first argument, of a method that is bound


@dataclass(eq=False)
class KernelObject:
    """The result of a call of ``triton.kernel``: the source and its options."""

    source: Any
    line: int
    defines: dict[Any, Any]
    points: Any = ()
    kernel: Any = None
    strict_literals: bool = False


@dataclass(eq=False)
class LaunchSite:
    """A kernel object and one call of it (``line`` 0: it is made and no call was seen) in ``file``.

    ``decisions``: assumptions about conditions on the path, by their text.
    """

    kernel: KernelObject
    line: int
    defines: dict[Any, Any] = field(default_factory=dict)
    decisions: tuple[tuple[str, bool], ...] = ()
    file: Path | None = None


def leaf(name: str, kind: str | None = None) -> Unknown:
    """A parameter or another name that is unknown."""
    return Unknown(ast.Name(name, ast.Load()), kind)


def literal(value: Any) -> bool:
    """Whether a value is known to the end: no Unknown in it, no part missing."""
    return not isinstance(value, Unknown) and all(literal(item) for item in _inside(value))


def is_open(values: Any) -> bool:
    """Whether a list has a part ``*rest``, or a dict further entries, that are unknown."""
    if isinstance(values, dict):
        return None in values
    return any(isinstance(value, Unknown) and isinstance(value.node, ast.Starred) for value in values)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, set)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()


def node_of(value: Any) -> ast.expr:
    """An expression for a value."""
    match value:
        case Unknown():
            return value.node
        case Library():
            return ast.Name(value.name, ast.Load())
        case Dtype():
            return ast.Name(f"torch.{value.name}", ast.Load())
        case ScannedFunction():
            return ast.Name(
                getattr(value.node, "name", f"lambda_{value.node.lineno}_{value.node.col_offset}"), ast.Load()
            )
        case dict():
            return ast.Dict([node_of(key) for key in value], [node_of(item) for item in value.values()])
        case list() | tuple():
            kind = ast.List if isinstance(value, list) else ast.Tuple
            return kind([node_of(item) for item in value], ast.Load())
        case str() | PurePath():
            return ast.Constant(str(value))
        case None | bool() | int() | float() | bytes():
            return ast.Constant(value)
    return ast.Name(type(value).__name__, ast.Load())
