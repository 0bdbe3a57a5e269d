"""What C says a number is: literals, conversions and operators on constants, exactly.

Written from C11 6.3, 6.4.4 and 6.5 and from language.md; shares nothing with the checker. Where gcc is there it is
asked too (gcc.py), so an error here shows. Integers are Python's, wrapped at their width; a float is computed as a
fraction and rounded once to its own format. ``Unspecified``: a shift by the width or more, a division by zero, a
float that does not fit an integer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.fuzz.rules import Scalar, by_name, common, promoted

__all__ = ["Number", "Unspecified", "binary", "bits", "converted", "literal", "spelled", "unary"]

INT, LONG, BOOL = by_name("int"), by_name("long"), by_name("bool")
UNSIGNED, UNSIGNED_LONG = by_name("unsigned int"), by_name("unsigned long")


class Unspecified(Exception):
    """The language does not say what this is."""


@dataclass(frozen=True, slots=True)
class Number:
    """A value of a type; a floating one is the double that equals it."""

    type: Scalar
    value: int | float

    @property
    def true(self) -> bool:
        return self.value != 0  # NaN is true


# ---------------------------------------------------------------- literals


def literal(text: str) -> Number:
    """An integer literal, a character, or a floating literal with a suffix."""
    if text[0] == "'":
        return Number(INT, ord(text[1]))
    lower = text.lower()
    based = lower.startswith("0") and len(lower) > 1
    if ("." in lower or "e" in lower) and not lower.startswith("0x"):
        type_ = by_name("float" if lower.endswith("f") else "double")
        return Number(type_, rounded(Fraction(lower.rstrip("f")), type_))
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    if based and digits[1:2].isdigit():
        value = int(digits, 8)
    else:
        value = int(digits or "0", 0)
    types = [UNSIGNED, UNSIGNED_LONG] if "u" in suffix else [INT, LONG]
    if based and "u" not in suffix:
        types = [INT, UNSIGNED, LONG, UNSIGNED_LONG]
    for type_ in types:
        if (type_.bits == 64 or "l" not in suffix) and type_.lowest <= value <= type_.highest:
            return Number(type_, value)
    raise ValueError(text)


def spelled(number: Number) -> str:
    """C text for a value of a type; empty if gcc has no such type."""
    if number.type.word == "bfloat16":
        return ""
    word = {"half": "_Float16", "bool": "_Bool"}.get(number.type.word, number.type.word)
    value = number.value
    if isinstance(value, int):
        text = (
            f"({value + 1}l - 1)"
            if value == LONG.lowest
            else f"{value}ul"
            if value > LONG.highest
            else f"{value}l"
        )
    elif math.isfinite(value):
        text = float(value).hex()
    else:
        text = (
            '__builtin_nan("")'
            if math.isnan(value)
            else "-__builtin_inf()"
            if value < 0
            else "__builtin_inf()"
        )
    return f"(({word}){text})"


# ---------------------------------------------------------------- conversions


def wrapped(value: int, type_: Scalar) -> int:
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if value > type_.highest else value


def rounded(exact: Fraction, type_: Scalar) -> float:
    """The nearest number of a floating type, ties to even."""
    digits, most = type_.digits, 1 - type_.least
    if not exact:
        return 0.0
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    exponent -= abs(exact) < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, type_.least) - digits + 1)
    value = round(exact / unit) * unit
    if abs(value) >= Fraction(2) ** (most + 1):
        return math.inf if exact > 0 else -math.inf
    return math.copysign(float(value), exact)


def converted(number: Number, type_: Scalar) -> Number:
    """The number as one of another type."""
    value = number.value
    if type_ == number.type:
        return number
    if type_ == BOOL:
        return Number(BOOL, int(number.true))
    if type_.floating:
        if isinstance(value, float) and (not math.isfinite(value) or value == 0):
            return Number(type_, value)
        return Number(type_, rounded(Fraction(value), type_))
    if number.type.floating:
        if not math.isfinite(value) or not type_.lowest <= math.trunc(value) <= type_.highest:
            raise Unspecified(f"{value} as {type_.word}")
        value = math.trunc(value)
    return Number(type_, wrapped(int(value), type_))


def bits(number: Number) -> bytes:
    """The bytes in memory."""
    type_, value = number.type, number.value
    if type_.word == "bfloat16":
        return np.float32(value).tobytes()[2:]
    if type_.floating:
        return np.array(value, f"f{type_.bits // 8}").tobytes()
    return int(value).to_bytes(max(type_.bits, 8) // 8, "little", signed=type_.kind == "i")


# ---------------------------------------------------------------- operators


def unary(operator: str, number: Number) -> Number:
    if operator == "!":
        return Number(BOOL, int(not number.true))
    number = converted(number, promoted(number.type))
    if operator == "+":
        return number
    if number.type.floating:
        return Number(number.type, -number.value)
    value = int(number.value)
    return Number(number.type, wrapped(~value if operator == "~" else -value, number.type))


def binary(operator: str, left: Number, right: Number) -> Number:
    """``left operator right``; comparisons and logic give bool, which every operator promotes."""
    if operator == "&&":
        return Number(BOOL, int(left.true and right.true))
    if operator == "||":
        return Number(BOOL, int(left.true or right.true))
    if operator in ("<<", ">>"):
        return _shifted(operator, converted(left, promoted(left.type)), int(right.value))
    type_ = common(left.type, right.type)
    a, b = converted(left, type_).value, converted(right, type_).value
    if operator in ("<", ">", "<=", ">=", "==", "!="):
        holds = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b, "==": a == b, "!=": a != b}[operator]
        return Number(BOOL, int(holds))
    if type_.floating:
        return Number(type_, _real(operator, float(a), float(b), type_))
    return Number(type_, _whole(operator, int(a), int(b), type_))


def _shifted(operator: str, left: Number, count: int) -> Number:
    if not 0 <= count < left.type.bits:
        raise Unspecified(f"a shift by {count}")
    value = int(left.value)
    return Number(left.type, wrapped(value << count if operator == "<<" else value >> count, left.type))


def _whole(operator: str, a: int, b: int, type_: Scalar) -> int:
    if operator in ("/", "%"):
        if b == 0 or (b == -1 and a == type_.lowest):
            raise Unspecified("a division by zero, or that wraps")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - quotient * b
    value = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[operator]
    return wrapped(value, type_)


def _real(operator: str, a: float, b: float, type_: Scalar) -> float:
    """The operation of IEEE 754, rounded once."""
    plain = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[operator]
    with np.errstate(all="ignore"):
        value = float(plain(np.float64(a), np.float64(b)))
    if not (math.isfinite(a) and math.isfinite(b)) or (b == 0 and operator == "/"):
        return value
    x, y = Fraction(a), Fraction(b)
    exact = {"+": x + y, "-": x - y, "*": x * y}[operator] if operator != "/" else x / y
    return rounded(exact, type_) if exact else value  # the sign of a zero is that of the double
