"""The arithmetic of ``#if`` (C11 6.10.1 and 6.6).

Input: the tokens of the expression, macros expanded and ``defined`` answered. Output: its value.
All integers have 64 bits: signed ones wrap, and where signed meets unsigned both count as unsigned.
What ``&&``, ``||`` and ``?:`` do not reach is read but not calculated, so ``0 && 1 / 0`` is fine.
Whatever identifier is left is 0.

A precedence climber: ``_binary(n)`` reads operators that bind at least as tightly as n.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pytriton.errors import Report
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Span

__all__ = ["evaluate", "integer_constant"]

DEEPEST: Final = 80  # parentheses and operators within each other
LONGEST_NUMBER: Final = 100  # characters; 64 bits need 65
_WORD: Final = 1 << 64
_MOST: Final = (1 << 63) - 1

_BINARY: Final = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}


class _Value(NamedTuple):
    number: int
    unsigned: bool = False


_FALSE: Final = _Value(0)
_TRUE: Final = _Value(1)


class _Malformed(Exception):
    """An error that ends the reading of an expression."""

    def __init__(self, code: str, message: str, where: Span, help: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.where, self.help = code, message, where, help


def evaluate(tokens: Sequence[Token], directive: Span, report: Report) -> bool:
    """Whether the expression holds; False (and an error) where it is malformed.

    ``directive`` is the span of the word ``if`` or ``elif``, for an expression that ends too soon.
    """
    try:
        return _Expression(tokens, directive).value() != 0
    except _Malformed as error:
        report.error(error.code, error.message, error.where, help=error.help)
        return False


_INTEGER: Final = re.compile(
    r"(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9][0-9]*))"
    r"([uU](?:ll?|LL?)?|(?:ll?|LL?)[uU]?)?"
)


def integer_constant(text: str) -> tuple[int, str] | None:
    """Value and suffix of a C integer constant (C11 6.4.4.1); None if the text is none."""
    match = _INTEGER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if match is None:
        return None
    base = (16, 2, 8, 10)
    for digits, radix in zip(match.groups()[:4], base, strict=True):
        if digits is not None:
            return int(digits, radix), (match[5] or "").lower()
    return None


def _wrap(number: int, unsigned: bool) -> _Value:
    number %= _WORD
    return _Value(number if unsigned or number <= _MOST else number - _WORD, unsigned)


class _Expression:
    """A cursor over the tokens of one expression."""

    def __init__(self, tokens: Sequence[Token], directive: Span) -> None:
        self.tokens = tokens
        self.directive = directive
        self.at = 0
        self.depth = 0
        self.dead = 0  # > 0 inside an operand that is not evaluated

    def value(self) -> int:
        if not self.tokens:
            raise _Malformed("TC120", "#if without an expression", self.directive)
        result = self._comma()
        if self.at < len(self.tokens):
            raise self._unexpected("an operator")
        return result.number

    def _peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def _unexpected(self, wanted: str) -> _Malformed:
        if self.at >= len(self.tokens):
            last = self.tokens[-1].span
            return _Malformed("TC120", f"the #if expression ends where {wanted} should stand", last)
        token = self.tokens[self.at]
        help_ = "to compare, write '=='" if token.text == "=" else None
        if token.kind is Kind.STRING:
            help_ = "#if compares integers only; give a define that is 0 or 1"
        shown = token.text[:60]
        return _Malformed("TC120", f"found '{shown}' in #if, wanted {wanted}", token.span, help_)

    def _comma(self) -> _Value:
        result = self._conditional()
        while self._peek() == ",":
            self.at += 1
            result = self._conditional()
        return result

    def _conditional(self) -> _Value:
        condition = self._binary(1)
        if self._peek() != "?":
            return condition
        self.at += 1
        self._deeper()
        truth = condition.number != 0
        if self._peek() == ":":  # GNU: a ?: b
            chosen = condition
        else:
            self.dead += not truth
            chosen = self._comma()
            self.dead -= not truth
        if self._peek() != ":":
            raise self._unexpected("':'")
        self.at += 1
        self.dead += truth
        other = self._conditional()
        self.dead -= truth
        self.depth -= 1
        unsigned = chosen.unsigned or other.unsigned
        return _wrap((chosen if truth else other).number, unsigned)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            where = self.tokens[min(self.at, len(self.tokens) - 1)].span
            help_ = f"at most {DEEPEST} operators and parentheses within each other"
            raise _Malformed("TC124", "the #if expression nests too deeply", where, help_)

    def _binary(self, least: int) -> _Value:
        self._deeper()
        left = self._unary()
        while (level := _BINARY.get(self._peek(), 0)) >= least:
            token = self.tokens[self.at]
            self.at += 1
            if token.text in ("&&", "||"):
                decided = (left.number != 0) == (token.text == "||")
                self.dead += decided
                right = self._binary(level + 1)
                self.dead -= decided
                truth = token.text == "||" if decided else right.number != 0
                left = _TRUE if truth else _FALSE
            else:
                left = self._calculate(token, left, self._binary(level + 1))
        self.depth -= 1
        return left

    def _calculate(self, token: Token, left: _Value, right: _Value) -> _Value:
        operator = token.text
        if operator in ("<<", ">>"):
            return self._shift(token, left, right.number)
        unsigned = left.unsigned or right.unsigned
        a, b = _wrap(left.number, unsigned).number, _wrap(right.number, unsigned).number
        if operator in _COMPARISONS:
            return _TRUE if _COMPARISONS[operator](a, b) else _FALSE
        if operator in ("/", "%"):
            if b == 0:
                if self.dead:
                    return _Value(0, unsigned)
                raise _Malformed("TC122", "division by zero in #if", token.span)
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return _wrap(quotient if operator == "/" else a - b * quotient, unsigned)
        return _wrap(_ARITHMETIC[operator](a, b), unsigned)

    def _shift(self, token: Token, left: _Value, count: int) -> _Value:
        if not 0 <= count < 64:
            if self.dead:
                return _Value(0, left.unsigned)
            message = f"shift by {count} in #if, a count must be from 0 to 63"
            raise _Malformed("TC123", message, token.span)
        number = left.number << count if token.text == "<<" else left.number >> count
        return _wrap(number, left.unsigned)

    def _unary(self) -> _Value:
        signs = []
        while self._peek() in ("-", "+", "!", "~"):
            signs.append(self._peek())
            self.at += 1
        value = self._primary()
        for sign in reversed(signs):
            if sign == "!":
                value = _FALSE if value.number else _TRUE
            elif sign != "+":
                value = _wrap(-value.number if sign == "-" else ~value.number, value.unsigned)
        return value

    def _primary(self) -> _Value:
        if self.at >= len(self.tokens):
            raise self._unexpected("a value")
        token = self.tokens[self.at]
        if token.text == "(" and token.kind is Kind.PUNCT:
            self.at += 1
            value = self._comma()
            if self._peek() != ")":
                raise self._unexpected("')'")
        elif token.kind is Kind.NUMBER:
            value = _number(token)
        elif token.kind is Kind.CONSTEXPR:
            value = _constexpr(token)
        elif token.kind is Kind.CHAR:
            value = _character(token)
        elif token.kind is Kind.IDENT:
            following = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
            value = self._least(token.text) if token.text in ("min", "max") and following == "(" else _FALSE
        else:
            raise self._unexpected("a value")
        self.at += 1
        return value

    def _least(self, name: str) -> _Value:
        """``min(a, b)`` and ``max(a, b)``, macros of the prelude; the cursor ends at the ``)``."""
        self.at += 2
        self._deeper()
        left = self._conditional()
        if self._peek() != ",":
            raise self._unexpected("','")
        self.at += 1
        right = self._conditional()
        if self._peek() != ")":
            raise self._unexpected("')'")
        self.depth -= 1
        unsigned = left.unsigned or right.unsigned
        numbers = [_wrap(side.number, unsigned).number for side in (left, right)]
        return _Value(min(numbers) if name == "min" else max(numbers), unsigned)


_COMPARISONS: Final = {
    "==": int.__eq__,
    "!=": int.__ne__,
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
}
_ARITHMETIC: Final = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
}


def _number(token: Token) -> _Value:
    found = integer_constant(token.text)
    if found is None:
        shown = token.text if len(token.text) <= 60 else token.text[:57] + "..."
        message = f"'{shown}' is not an integer, and #if counts in integers"
        raise _Malformed("TC121", message, token.span)
    value, suffix = found
    if value >= _WORD:
        raise _Malformed("TC121", f"{token.text[:60]} does not fit in 64 bits", token.span)
    return _Value(value, "u" in suffix or value > _MOST)


def _constexpr(token: Token) -> _Value:
    if not isinstance(token.value, int):
        message = f"define '{token.text}' is {token.value}, and #if counts in integers"
        raise _Malformed("TC121", message, token.span)
    return _Value(token.value, token.value > _MOST)


_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|(.))|(.)")
_SIMPLE: Final = {
    **{"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11},
    **{char: ord(char) for char in "'\"?\\"},
}


def _character(token: Token) -> _Value:
    """A character constant; one of several characters is their last four bytes, as in gcc."""
    value = 0
    for hexadecimal, octal, simple, plain in _ESCAPE.findall(token.text[1:-1][:64]):
        if hexadecimal or octal:
            code = int(hexadecimal or octal, 16 if hexadecimal else 8)
        else:
            code = _SIMPLE.get(simple, -1) if simple else ord(plain)
        if not 0 <= code <= 255 or (plain and code > 127):
            message = f"character constant {token.text[:60]} has no value in #if"
            raise _Malformed("TC121", message, token.span)
        value = value << 8 | code
    if value <= 255:
        return _Value(value - 256 if value > 127 else value)
    value &= 0xFFFFFFFF
    return _Value(value - (1 << 32) if value >> 31 else value)
