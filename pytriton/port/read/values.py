"""The values of expressions of the scanned Python.

The scanned code is never run. Where a value can be known from the syntax tree alone it is a plain Python
value (numbers, lists, dicts, and text that remembers its lines); everything else is an ``Unknown`` that
keeps the text of the expression it would be computed by. ``repr`` of a value is its text in such an expression.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
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
    at: tuple[Path, int, int] | None = (
        None  # the expression that is just this text: its file, line and column
    )

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


@dataclass(frozen=True)
class Unknown:
    """A value that only a run would tell. ``text`` is the expression for it, in parameters of the old code.

    Two with one text are one value: a dict can have it as a key, and a condition is decided once. ``kind`` is its
    known type: ``bool``, ``int`` or ``dtype``.
    """

    text: str
    kind: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if len(self.text) > MAX_TEXT:  # an expression that doubles at each step is useless
            object.__setattr__(self, "text", "a_long_expression")

    def __repr__(self) -> str:
        return self.text


MAX_TEXT: Final = 2000


def part(value: Any) -> str:
    """A value as Python text, to be put into a larger expression."""
    text = repr(value)
    return f"({text})" if isinstance(value, Unknown) and " " in text else text


@dataclass(frozen=True)
class Dtype:
    """A ``torch.dtype``, by the end of its name."""

    name: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"


@dataclass(frozen=True)
class Library:
    """A name of a library, dotted: ``triton.kernel``, ``torch.float16``, ``os.path.join``."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False)
class ScannedFunction:
    """A function of the scanned code, with the names around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    around: Any  # the Frame it was defined in
    owner: Any = None  # its first argument, of a method that is bound

    def __repr__(self) -> str:
        return getattr(self.node, "name", f"lambda_{self.node.lineno}_{self.node.col_offset}")


@dataclass(frozen=True)
class BoundMethod:
    """``base.name`` of a known text, list, dict, tuple or path."""

    base: Any
    name: str


@dataclass(eq=False)
class KernelObject:
    """The result of a call of ``triton.kernel``: the source and its options."""

    source: Any
    line: int
    defines: dict[Any, Any]
    points: Any = ()  # configs, each may be a pair with a number of warps
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


def literal(value: Any) -> bool:
    """Whether a value is known to the end: plain values, and lists and dicts of them."""
    if isinstance(value, dict):
        return literal([*value, *value.values()])
    if isinstance(value, (list, tuple)):
        return all(map(literal, value))
    return isinstance(value, (str, int, float, Dtype, PurePath, type(None)))


def is_open(values: Any) -> bool:
    """Whether a list has a part ``*rest``, or a dict further entries, that are unknown."""
    if isinstance(values, dict):
        return None in values
    return any(isinstance(value, Unknown) and value.text.startswith("*") for value in values)
