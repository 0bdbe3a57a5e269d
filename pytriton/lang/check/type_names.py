"""Types as they are written: type words, typedef names, stars and shapes -> a type.

Every function returns None after it has reported an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pytriton.lang.check.constants import as_size, integer_constant, report_size
from pytriton.lang.check.context import Context, ValueType
from pytriton.lang.parse import syntax
from pytriton.lang.parse.habits import TYPES
from pytriton.lang.tree.convert import MAX_BLOCK_ELEMENTS, padded
from pytriton.lang.tree.typed import Size
from pytriton.lang.tree.types import INT, TYPE_WORDS, BlockType, PointerType
from pytriton.source import Span

MAX_STARS: Final = 8


def block_shape(nodes: Sequence[syntax.Expr], context: Context) -> tuple[int, ...] | None:
    """The sizes of a block; () where there are none."""
    sizes: list[int] = []
    for node in nodes:
        size = integer_constant(node, "a block size", context)
        if size is None:
            return None
        value, expr = size
        if value < 1:
            report_size(context, "TC306", f"a block size must be at least 1, not {value}", node.span, expr)
            return None
        sizes.append(Size(value, as_size(expr)))
    if not nodes:
        return ()
    span = nodes[0].span.to(nodes[-1].span)
    if len(sizes) > 4:
        context.report.error("TC306", f"a block has 1 to 4 axes, not {len(sizes)}", span)
        return None
    count = math.prod(map(padded, sizes))
    if count > MAX_BLOCK_ELEMENTS:
        message = f"a block of {count} elements is too large"
        help_ = f"a block has at most {MAX_BLOCK_ELEMENTS} elements"
        exprs = [size.expr for size in sizes if isinstance(size, Size) and size.expr is not None]
        report_size(context, "TC306", message, span, *exprs, help=help_)
        return None
    return tuple(sizes)


def named_type(node: syntax.TypeName, context: Context) -> ValueType | None:
    """The type that a cast names."""
    base = base_type(node.specifiers, context)
    shape = block_shape(node.shape, context)
    if base is None or shape is None:
        return None
    return build_type(base, node.stars, shape, node.span, context)


def base_type(node: syntax.Specifiers, context: Context) -> ValueType | None:
    """The type that the words of a declaration name, without its stars and shape."""
    words = [token for token in node.words if token.text in TYPES]
    if node.enum is not None and not words:
        return INT
    if not words:
        for token in node.words:
            typedef = context.scope.type(token.text)
            if typedef is not None:
                return typedef
    type_ = TYPE_WORDS.get(tuple(sorted(token.text for token in words)))
    if type_ is None:
        spelled = " ".join(token.text for token in words)
        what = f"unknown type '{spelled}'" if spelled else "a type is missing here"
        help_ = "the types are bool, char, short, int, long, also unsigned, and half, bfloat16, float, double"
        help_ = help_ if spelled else "as in 'const int n'"
        if spelled == "void":
            what = "no value has type 'void'"
            help_ = "a pointer needs the type of its elements, as in 'float*'"
        span = words[0].span.to(words[-1].span) if words else node.span
        context.report.error("TC203", what, span, help=help_)
    return type_


def build_type(
    base: ValueType, stars: int, shape: tuple[int, ...], span: Span, context: Context
) -> ValueType | None:
    """``base`` with ``stars`` stars after it, as a block if there is a shape."""
    if isinstance(base, BlockType):
        if not stars and not shape:
            return base
        what = "there are no blocks of blocks and no pointers to blocks"
        context.report.error("TC303", what, span, help="name the type of the elements, as in 'float* X'")
        return None
    if stars > MAX_STARS:
        context.report.error("TC303", f"a pointer has at most {MAX_STARS} stars, not {stars}", span)
        return None
    for _ in range(stars):
        base = PointerType(base)
    return BlockType(base, shape) if shape else base
