"""The words of a kernel: numbers, types, and cures for names that are unknown.

Numbers follow C11 6.4.4. An unsuffixed floating literal is *weak*: it takes the type of the float or half
that it meets, unless ``strict`` asks for C's double. What does not fit its type is an error, never cut off.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pytriton.errors import Report, closest, short
from pytriton.frozen import record
from pytriton.lang.check.context import CheckContext, Scope, ValueType
from pytriton.lang.check.operators import as_size, integer_constant, report_size
from pytriton.lang.parse import syntax
from pytriton.lang.parse.habits import OTHER_FUNCTIONS, OTHER_NAMES, TYPES
from pytriton.lang.recording import compare
from pytriton.lang.tokens import Integer, characters, read_floating, read_integer
from pytriton.lang.tree.builtins import function_names
from pytriton.lang.tree.convert import MAX_BLOCK_ELEMENTS, padded, round_to, wrap
from pytriton.lang.tree.typed import Expr, Literal, Size
from pytriton.lang.tree.types import (
    CHAR,
    DOUBLE,
    ERROR,
    FLOAT,
    HALF,
    INT,
    LONG,
    TYPE_WORDS,
    UINT,
    ULONG,
    BlockType,
    PointerType,
    ScalarType,
    promote,
)
from pytriton.source import Span

MAX_STARS: Final = 8
INFINITIES: Final = {"INFINITY": FLOAT, "F32_INFINITY": FLOAT, "F16_INFINITY": HALF}
_LIKE_A_DEFINE: Final = re.compile(r"[A-Z][A-Z0-9_]+")

# ---------------------------------------------------------------- numbers


def number(text: str, span: Span, report: Report, *, strict: bool = False) -> Literal:
    """The literal that a number or character constant spells."""
    if "'" in text:
        return _character(text, span, report)
    if integer := read_integer(text):
        return _integer(integer, span, report)
    digits = text.rstrip("uUlL")
    if digits.isdigit() and len(digits) > 1:
        octal = "a leading 0 makes a number octal, its digits are 0 to 7"
        return _refuse(f"invalid octal number '{digits}'", span, report, octal)
    floating = read_floating(text)
    if floating is None:
        help_ = "a range is written 'a ... b'" if ".." in text else None
        return _refuse(f"invalid number '{short(text, 40)}'", span, report, help_)
    value, suffix = floating
    if suffix == "f":
        return Literal(span, FLOAT, round_to(value, FLOAT))
    if strict or suffix == "l":
        return Literal(span, DOUBLE, value)
    return Literal(span, FLOAT, value, weak=True)


def integer_type(value: int, *, unsigned: bool, long: bool, decimal: bool) -> ScalarType | None:
    """C11 6.4.4.1: the first type of the list that holds the value."""
    for type_ in (INT, UINT, LONG, ULONG):
        if (long and type_.bits < 64) or (unsigned and type_.signed):
            continue
        if not type_.signed and decimal and not unsigned:
            continue
        low = -(1 << (type_.bits - 1)) if type_.signed else 0
        if low <= value < 1 << (type_.bits - type_.signed):
            return type_
    return None


def define_type(value: int) -> ScalarType:
    """The type of an integer define: that of its decimal literal, so ``-2147483648`` is a long, as in C.

    From 2^63 on, which no type of C holds, it is unsigned long.
    """
    for type_ in (INT, LONG):
        largest = (1 << (type_.bits - 1)) - 1
        if -largest <= value <= largest:
            return type_
    return LONG if value < 0 else ULONG


def _integer(integer: Integer, span: Span, report: Report) -> Literal:
    value, suffix, base = integer
    type_ = integer_type(value, unsigned="u" in suffix, long="l" in suffix, decimal=base == 10)
    if type_ is None:
        return _refuse("this integer does not fit into 64 bits", span, report)
    return Literal(span, type_, value)


def negated(operand: Literal, span: Span) -> Literal:
    """``-number``, an integer in its promoted type."""
    value, type_ = operand.value, operand.type
    if isinstance(value, float) or not isinstance(type_, ScalarType):
        return Literal(span, type_, -value, operand.weak)
    return Literal(span, promote(type_), wrap(-value, promote(type_)))


def _character(text: str, span: Span, report: Report) -> Literal:
    match characters(text):
        case [code] if text.isascii():
            return Literal(span, INT, wrap(code, CHAR))  # a char is signed
    help_ = "a character constant holds one ASCII character, or an escape such as '\\n' or '\\x41'"
    return _refuse(f"invalid character constant {short(text, 40)}", span, report, help_)


def _refuse(message: str, span: Span, report: Report, help: str | None = None) -> Literal:
    report.error("TC319", message, span, help=help)
    return Literal(span, ERROR, 0)


# ---------------------------------------------------------------- types
# Each function returns None after it has reported an error.


def _block_shape(exprs: Sequence[Expr], context: CheckContext) -> tuple[int, ...] | None:
    """The sizes of a block; () where there are none."""
    sizes: list[int] = []
    for expr in exprs:
        value = integer_constant(expr, "a block size", context)
        if value is None:
            return None
        if compare(value, "<", 1, enforced=False):
            report_size(context, "TC306", f"a block size must be at least 1, not {value}", expr.span, expr)
            return None
        sizes.append(Size(value, as_size(expr)))
    if not exprs:
        return ()
    span = exprs[0].span.to(exprs[-1].span)
    if len(sizes) > 4:
        context.report.error("TC306", f"a block has 1 to 4 axes, not {len(sizes)}", span)
        return None
    count = math.prod(map(padded, sizes))
    if compare(count, ">", MAX_BLOCK_ELEMENTS, enforced=False):
        message = f"a block of {count} elements is too large"
        help_ = f"a block has at most {MAX_BLOCK_ELEMENTS} elements"
        report_size(context, "TC306", message, span, *exprs, help=help_)
        return None
    return tuple(sizes)


def base_type(node: syntax.Specifiers, context: CheckContext) -> ValueType | None:
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
    base: ValueType | None, stars: int, sizes: Sequence[Expr], span: Span, context: CheckContext
) -> ValueType | None:
    """``base`` with ``stars`` stars after it, as a block if there are sizes; None if ``base`` is wrong."""
    shape = _block_shape(sizes, context)
    if base is None or shape is None:
        return None
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


# ---------------------------------------------------------------- unknown names
# The likeliest reason comes first: a word of another language, a macro without its arguments, a variable whose
# block has ended or that is declared only later, a misspelling, a missing define.


@record
class Cure:
    """The notes and the help of a message."""

    help: str
    notes: tuple[tuple[str, Span], ...] = ()


def unknown_name(name: str, at: Span, scope: Scope, body: syntax.Block | None) -> Cure:
    """For a variable that is not declared at ``at``; ``body`` is that of the kernel."""
    if name in OTHER_NAMES:
        return Cure(OTHER_NAMES[name])
    if name in scope.numbers:
        return Cure("it is in defines, but an '#undef' in the source removes it: delete that line")
    macro = scope.macros.get(name)
    if macro is not None and macro.params is not None:
        notes = (("the macro is defined here", macro.where),) if macro.where is not None else ()
        return Cure(f"write '{name}({', '.join(macro.params)})'", notes)
    elsewhere = _declared_elsewhere(name, at, body)
    if elsewhere is not None:
        return elsewhere
    constants = {word for word, macro in scope.macros.items() if macro.params is None and word[:2] != "__"}
    near = closest(name, (scope.visible() | constants | INFINITIES.keys()) - {name})
    define = f"give it in defines, as in defines={{'{name}': ...}}"
    if near is None:
        return Cure(f"{define}, or declare it")
    return Cure(f"did you mean '{near}'?" + (f" Else {define}" if _LIKE_A_DEFINE.fullmatch(name) else ""))


def unknown_function(name: str, scope: Scope) -> Cure:
    """For a call of an unknown function."""
    if name in OTHER_FUNCTIONS:
        return Cure(OTHER_FUNCTIONS[name])
    macros = (word for word, macro in scope.macros.items() if macro.params is not None)
    near = closest(name, (*function_names(), *macros))
    return Cure(f"did you mean '{near}'?" if near else "only built-in functions can be called; write a macro")


def _declared_elsewhere(name: str, at: Span, body: syntax.Block | None) -> Cure | None:
    """For a variable of this kernel whose block has ended, or whose declaration is still to come."""
    later: Span | None = None
    earlier: Span | None = None
    for declarator in _declarators(body):
        assert declarator.name is not None
        where = declarator.name.span
        if declarator.name.text != name or where.source is not at.source:
            continue
        value = declarator.initializer
        if value is not None and value.span.start <= at.start < value.span.end:
            return Cure("a variable has no value yet where it is declared")
        if where.start < at.start:
            earlier = where
        elif later is None:
            later = where
    if earlier is not None:
        help_ = "declare it before that block"
        return Cure(help_, (("it was declared here, in an inner block that has ended", earlier),))
    if later is not None:
        return Cure("declare it before it is used", (("it is declared here, later", later),))
    return None


def _declarators(body: syntax.Block | None) -> Iterator[syntax.Declarator]:
    """The variables that a block declares, those of inner blocks included, in order."""
    pending: list[syntax.Statement | None] = [body]
    while pending:
        match pending.pop():
            case syntax.Declaration(specifiers=specifiers, declarators=declarators):
                if not specifiers.has("typedef"):
                    yield from (declarator for declarator in declarators if declarator.name is not None)
            case syntax.Block(items=items):
                pending += reversed(items)
            case syntax.If(then=then, otherwise=otherwise):
                pending += (otherwise, then)
            case syntax.For(init=init, body=inner):
                pending += (inner, init)
            case syntax.While(body=inner) | syntax.DoWhile(body=inner):
                pending.append(inner)
