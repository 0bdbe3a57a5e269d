"""Types as they are written: type words, typedef names, stars and shapes -> a type.

Every method returns None after it has reported an error.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from pytriton.lang.check.operators import LARGEST_BLOCK, Operators, padded
from pytriton.lang.check.scope import Scope
from pytriton.lang.parse import syntax
from pytriton.lang.tree.convert import constant, scalar_of, wrap
from pytriton.lang.tree.typed import Binary, Call, Cast, Expr, Literal, Name, Select, Size
from pytriton.lang.tree.types import (
    ERROR,
    INT,
    TYPE_WORDS,
    BlockType,
    PointerType,
    ScalarType,
)
from pytriton.lang.tree.walk import walk
from pytriton.source import Span

__all__ = ["TypeNames", "ValueType", "as_size"]

ValueType = ScalarType | PointerType | BlockType
_WORDS: Final = frozenset(word for words in TYPE_WORDS for word in words) | {"void"}
_MOST_STARS: Final = 8
_TRUTHS: Final = frozenset(("<", ">", "<=", ">=", "==", "!=", "&&", "||"))


def as_size(expr: Expr) -> Expr:
    """An integer constant as a block's size or the bound of a range is printed.

    Triton takes arithmetic on constexprs there, but no conversion, no truth value and no choice: such an expression
    is printed as its number, and so is one of another type than int (``sizeof(float) * 4``).
    """
    if expr.type == INT and not any(map(_is_no_size, walk(expr))):
        return expr
    value = constant(expr)
    assert isinstance(value, int)
    return Literal(expr.span, INT, wrap(value, INT))


def _is_no_size(node: Expr) -> bool:
    """Whether a part of an expression keeps Triton from taking it as a size."""
    match node:
        case Select() | Cast() | Call(function="min" | "max"):
            return True
        case Binary(operator=operator):
            return operator in _TRUTHS
        case _:
            return False


class TypeNames(Operators):
    """Reads types in one scope."""

    scope: Scope

    @abstractmethod
    def value(self, node: syntax.Expr) -> Expr:
        """The typed form of an expression that has a value."""

    def integer(self, node: syntax.Expr, what: str) -> tuple[int, Expr] | None:
        """An integer constant expression and its value."""
        expr = self.value(node)
        if expr.type == ERROR:
            return None
        value = constant(expr)
        scalar = scalar_of(expr.type)
        if isinstance(value, int) and scalar is not None and scalar.is_integer:
            return value, expr
        self.not_constant(node, expr, what)
        return None

    def not_constant(self, node: syntax.Expr, expr: Expr, what: str) -> None:
        """Report an expression that must be an integer constant and is none."""
        variable = next((part.symbol.name for part in walk(expr) if isinstance(part, Name)), None)
        help = f"give '{variable}' in defines instead of as a variable" if variable else None
        value = constant(expr)
        found = f", not {value}" if isinstance(value, float) else ""
        message = f"{what} must be an integer constant{found}"
        if isinstance(value, float):
            self.wrong_size("TC305", message, node.span, expr, help=help)
        else:
            self.report.error("TC305", message, node.span, help=help)

    def shape(self, nodes: Sequence[syntax.Expr]) -> tuple[int, ...] | None:
        """The sizes of a block; () where there are none."""
        sizes: list[int] = []
        for node in nodes:
            found = self.integer(node, "a block size")
            if found is None:
                return None
            value, expr = found
            if value < 1:
                self.wrong_size("TC306", f"a block size must be at least 1, not {value}", node.span, expr)
                return None
            sizes.append(Size(value, as_size(expr)))
        if not nodes:
            return ()
        span = nodes[0].span.to(nodes[-1].span)
        if len(sizes) > 4:
            self.report.error("TC306", f"a block has 1 to 4 axes, not {len(sizes)}", span)
            return None
        count = math.prod(map(padded, sizes))
        if count > LARGEST_BLOCK:
            message = f"a block of {count} elements is too large"
            help_ = f"a block has at most {LARGEST_BLOCK} elements"
            exprs = [size.expr for size in sizes if isinstance(size, Size) and size.expr is not None]
            self.wrong_size("TC306", message, span, *exprs, help=help_)
            return None
        return tuple(sizes)

    def type_name(self, node: syntax.TypeName) -> ValueType | None:
        """The type that a cast names."""
        base = self.base_type(node.specifiers)
        shape = self.shape(node.shape)
        if base is None or shape is None:
            return None
        return self.build_type(base, node.stars, shape, node.span)

    def base_type(self, node: syntax.Specifiers) -> ValueType | None:
        """The type that the words of a declaration name, without its stars and shape."""
        words = [token for token in node.words if token.text in _WORDS]
        if node.enum is not None and not words:
            return INT
        if not words:
            for token in node.words:
                named = self.scope.type(token.text)
                if named is not None:
                    return named
        found = TYPE_WORDS.get(tuple(sorted(token.text for token in words)))
        if found is None:
            spelled = " ".join(token.text for token in words)
            what = f"'{spelled}' is no type of Triton-C" if spelled else "a type is missing here"
            help_ = "there are bool, char, short, int, long, also unsigned, and half, bfloat16, float, double"
            help_ = help_ if spelled else "as in 'const int n'"
            if spelled == "void":
                what = "'void' is no type of a value"
                help_ = "a pointer needs the type of its elements, as in 'float*'"
            span = words[0].span.to(words[-1].span) if words else node.span
            self.report.error("TC203", what, span, help=help_)
        return found

    def build_type(self, base: ValueType, stars: int, shape: tuple[int, ...], span: Span) -> ValueType | None:
        """``base`` behind ``stars`` stars, as a block if there is a shape."""
        if isinstance(base, BlockType):
            if not stars and not shape:
                return base
            what = "a block of blocks, or a pointer to a block, does not exist"
            self.report.error("TC303", what, span, help="name the type of the elements, as in 'float* X'")
            return None
        if stars > _MOST_STARS:
            self.report.error("TC303", f"a pointer has at most {_MOST_STARS} stars, not {stars}", span)
            return None
        for _ in range(stars):
            base = PointerType(base)
        return BlockType(base, shape) if shape else base
