"""C types, numbers, conversions and operators of one element, as text.

Input: operands that are C text with a precedence (``Text``). Output: text whose C type is exactly that of the typed
expression: ``half`` and ``bfloat16`` are 16 bits of storage, computed in float and rounded after each operation.
Helpers (``templates/native_library.c.j2``) stand where C leaves something undefined; integers wrap by ``-fwrapv``.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from pytriton.lang.tree.convert import COMPARISONS, round_to
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    ElementType,
    PointerType,
    ScalarType,
)

ATOM, MULTIPLY, ADD, COMPARE, BITS, AND, OR, CHOICE = 9, 8, 7, 6, 5, 4, 3, 2
_LEVELS: Final = {
    "*": (MULTIPLY, MULTIPLY, ATOM),
    "/": (MULTIPLY, MULTIPLY, ATOM),
    "%": (MULTIPLY, MULTIPLY, ATOM),
    "+": (ADD, ADD, MULTIPLY),
    "-": (ADD, ADD, MULTIPLY),
    **dict.fromkeys(("&", "|", "^", "<<", ">>"), (BITS, ATOM, ATOM)),
    **dict.fromkeys(COMPARISONS, (COMPARE, ADD, ADD)),
}


class Text(NamedTuple):
    """C text of an expression, and how tightly its operator binds."""

    text: str
    level: int = ATOM

    def at(self, level: int) -> str:
        """The text where an operator of that level is around it."""
        return self.text if self.level >= level else f"({self.text})"


def tag(type_: ElementType) -> str:
    """The word for a type in the names of helpers."""
    if isinstance(type_, PointerType):
        return "pointer"
    return {BOOL: "bool", HALF: "half", BFLOAT16: "bfloat16", FLOAT: "float", DOUBLE: "double"}.get(
        type_, type_.torch if type_.kind == "int" else f"u{type_.torch.removeprefix('u')}"
    )


def stored_tag(type_: ElementType) -> str:
    """The same in memory, where pointers are numbers."""
    return "int64" if isinstance(type_, PointerType) else tag(type_)


def c_type(type_: ElementType) -> str:
    """The type in C."""
    if isinstance(type_, PointerType):
        inner = c_type(type_.element)
        return f"{inner}*" if inner.endswith("*") else f"{inner} *"
    word = tag(type_)
    return f"{word}_t" if "int" in word else word


def declared(type_: ElementType, name: str) -> str:
    """The beginning of a declaration."""
    word = c_type(type_)
    return f"{word}{name}" if word.endswith("*") else f"{word} {name}"


def is_narrow(type_: ElementType) -> bool:
    """Whether it is stored in 16 bits and computed in float."""
    return type_ in (HALF, BFLOAT16)


def call(name: str, *operands: Text) -> Text:
    """A call."""
    return Text(f"{name}({', '.join(operand.text for operand in operands)})")


def number(value: int | float, type_: ElementType) -> Text:
    """A number of this type."""
    assert isinstance(type_, ScalarType)
    if type_ == BOOL:
        return Text("true" if value else "false")
    if type_.is_float:
        wide = DOUBLE if type_ == DOUBLE else FLOAT
        text = _floating(float(round_to(value, type_)), wide)
        return text if wide == type_ else call(f"{tag(type_)}_of_{tag(wide)}", text)
    value = int(value)
    if type_.bits < 32:
        return Text(f"({c_type(type_)}){value}" if value >= 0 else f"({c_type(type_)})({value})", ADD)
    if type_.kind == "uint":
        return Text(f"{value}u" if type_.bits == 32 else f"UINT64_C({value})")
    if value == -(1 << type_.bits - 1):
        return Text(f"INT{type_.bits}_MIN")
    digits = str(abs(value)) if type_.bits == 32 else f"INT64_C({abs(value)})"
    return Text(digits) if value >= 0 else Text(f"-{digits}", ADD)


def _floating(value: float, type_: ScalarType) -> Text:
    suffix = "f" if type_ == FLOAT else ""
    if math.isnan(value):
        return Text(f'__builtin_nan{suffix}("")')
    if math.isinf(value):
        text = f"__builtin_inf{suffix}()"
    else:
        text = repr(abs(value)) + suffix
    return Text(f"-{text}", ADD) if math.copysign(1, value) < 0 else Text(text)


# ---------------------------------------------------------------- conversions


def widened(value: Text, type_: ElementType) -> Text:
    """A half or bfloat16 as float."""
    return call(f"float_of_{tag(type_)}", value) if is_narrow(type_) else value


def cast(value: Text, have: ElementType, want: ElementType) -> Text:
    """A conversion of C between two types of elements."""
    if have == want:
        return value
    if isinstance(want, PointerType):
        if not isinstance(have, PointerType):
            value = _plain(_plain(value, "int64_t"), "intptr_t")
        return _plain(value, c_type(want).rstrip())
    if isinstance(have, PointerType):
        if want == BOOL:
            return Text(f"{_plain(value, 'intptr_t').text} != 0", COMPARE)
        return _plain(_plain(value, "intptr_t"), c_type(want))
    if is_narrow(have):
        return cast(widened(value, have), FLOAT, want)
    if want == BOOL:
        return Text(f"{value.at(ADD)} != 0", COMPARE)
    if is_narrow(want):
        return call(f"{tag(want)}_of_{tag(have)}", value)
    if have.is_float and not want.is_float:
        through_word = tag(want) if want.bits >= 32 else "int32"
        converted = call(f"{through_word}_of_{tag(have)}", value)
        return converted if want.bits >= 32 else _plain(converted, c_type(want))
    return _plain(value, c_type(want))


def _plain(value: Text, word: str) -> Text:
    return Text(f"({word}){value.at(ATOM)}", MULTIPLY)


def bitcast(value: Text, have: ElementType, want: ElementType) -> Text:
    """The same bits."""
    if isinstance(have, PointerType) or isinstance(want, PointerType):
        return cast(value, have, want)
    word = f"uint{max(have.bits, 8)}"
    bits = call(f"bits_of_{tag(have)}", value) if have in (FLOAT, DOUBLE) else _plain(value, f"{word}_t")
    if want == BOOL:
        return Text(f"({bits.text} & 1) != 0", COMPARE)
    return call(f"{tag(want)}_of_bits", bits) if want in (FLOAT, DOUBLE) else _plain(bits, c_type(want))


# ---------------------------------------------------------------- operators


def unary(operator: str, value: Text, type_: ElementType) -> Text:
    """``-x``, ``~x`` or ``!x``."""
    if is_narrow(type_):
        return call(f"{tag(type_)}_of_float", unary(operator, widened(value, type_), FLOAT))
    result = Text(f"{operator}{value.at(ATOM)}", MULTIPLY)
    if isinstance(type_, ScalarType) and not type_.is_float and type_.bits < 32 and operator != "!":
        return _plain(result, c_type(type_))
    return result


def binary(
    operator: str, left: Text, right: Text, type_: ElementType, right_constant: int | float | None = None
) -> Text:
    """An operator on two operands of a type. ``right_constant``: the right operand, where it is a constant."""
    if is_narrow(type_):
        wide = binary(operator, widened(left, type_), widened(right, type_), FLOAT)
        return wide if operator in COMPARISONS else call(f"{tag(type_)}_of_float", wide)
    if isinstance(type_, ScalarType) and not type_.is_float:
        word = tag(type_ if type_.bits >= 32 else INT)
        if operator in ("/", "%") and (right_constant is None or right_constant in (0, -1)):
            return call(f"{'div' if operator == '/' else 'mod'}_{word}", left, right)
        if operator in ("<<", ">>"):
            inside = right_constant is not None and 0 <= right_constant < type_.bits
            if operator == "<<" or not inside:
                return call(f"{'shl' if operator == '<<' else 'shr'}_{word}", left, right)
    if operator in ("&&", "||"):  # compilers warn of the one in the other without parentheses
        own = AND if operator == "&&" else OR
        first = own if left.level == own else COMPARE
        return Text(f"{left.at(first)} {operator} {right.at(COMPARE)}", own)
    level, first, second = _LEVELS[operator]
    return Text(f"{left.at(first)} {operator} {right.at(second)}", level)


def select(condition: Text, yes: Text, no: Text) -> Text:
    """``condition ? yes : no``."""
    return Text(f"{condition.at(OR)} ? {yes.at(OR)} : {no.at(OR)}", CHOICE)


def function(name: str, operands: list[Text], type_: ElementType) -> Text:
    """A built-in function on operands of its type."""
    if is_narrow(type_):
        wide = DOUBLE if name == "fma" else FLOAT  # which has no place for all digits of a * b + c
        return cast(function(name, [cast(operand, type_, wide) for operand in operands], wide), wide, type_)
    assert isinstance(type_, ScalarType)
    if name in ("floor", "ceil") and not type_.is_float:
        return operands[0]
    if name == "fma" and not type_.is_float:
        return binary("+", binary("*", operands[0], operands[1], type_), operands[2], type_)
    if name == "abs" and type_.kind in ("uint", "bool"):
        return operands[0]
    if name in ("min", "max", "abs"):
        return call(f"{name}_{tag(type_)}", *operands)
    return call(f"math_{name}_{tag(type_)}", *operands)
