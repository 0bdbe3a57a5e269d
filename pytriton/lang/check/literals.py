"""Numbers and character constants, as C11 6.4.4 reads them.

An unsuffixed floating literal is *weak*: it takes the type of the float or half that it meets, unless
``strict`` asks for C's double. What does not fit its type is an error, never cut off.
"""

from __future__ import annotations

import re
from typing import Final

from pytriton.errors import Report, short
from pytriton.lang.numbers import Integer, floating_constant, integer_constant
from pytriton.lang.tree.convert import round_to, wrap
from pytriton.lang.tree.typed import Literal
from pytriton.lang.tree.types import CHAR, DOUBLE, ERROR, FLOAT, INT, LONG, UINT, ULONG, ScalarType, promote
from pytriton.source import Span

_ESCAPES: Final = dict(zip("abfnrtv0'\"?\\", [7, 8, 12, 10, 13, 9, 11, 0, 39, 34, 63, 92], strict=True))


def number(text: str, span: Span, report: Report, *, strict: bool = False) -> Literal:
    """The literal that a number or character constant spells."""
    if "'" in text:
        return _character(text, span, report)
    if integer := integer_constant(text):
        return _integer(integer, span, report)
    digits = text.rstrip("uUlL")
    if digits.isdigit() and len(digits) > 1:
        octal = "a leading 0 makes a number octal, its digits are 0 to 7"
        return _refuse(f"invalid octal number '{digits}'", span, report, octal)
    floating = floating_constant(text)
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

    From 2^63 on, where C has no type left, it is unsigned long.
    """
    type_ = integer_type(abs(value), unsigned=False, long=False, decimal=True)
    return type_ or (LONG if value < 0 else ULONG)


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
    body = text[text.index("'") + 1 : -1]
    if len(body) == 1 and ord(body) < 128:
        return Literal(span, INT, ord(body))
    if body[:2] in ("\\x", "\\X") and re.fullmatch(r"[0-9a-fA-F]{1,2}", body[2:]):
        return Literal(span, INT, wrap(int(body[2:], 16), CHAR))  # a char is signed
    if re.fullmatch(r"\\(?:[0-3]?[0-7])?[0-7]", body):
        return Literal(span, INT, wrap(int(body[1:], 8), CHAR))
    if len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        return Literal(span, INT, _ESCAPES[body[1]])
    help_ = "a character constant holds one ASCII character, or an escape such as '\\n' or '\\x41'"
    return _refuse(f"invalid character constant {short(text, 40)}", span, report, help_)


def _refuse(message: str, span: Span, report: Report, help: str | None = None) -> Literal:
    report.error("TC319", message, span, help=help)
    return Literal(span, ERROR, 0)
