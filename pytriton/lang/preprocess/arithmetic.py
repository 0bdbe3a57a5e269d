"""The arithmetic of ``#if`` (C11 6.10.1 and 6.6).

Input: the tokens of the expression, macros expanded and ``defined`` answered. Output: its value.
All integers are long or unsigned long: signed ones wrap, and where signed meets unsigned both count as unsigned.
What ``&&``, ``||`` and ``?:`` do not reach must be an expression, but may be wrong: ``0 && 1 / 0`` is fine.
Whatever identifier is left is 0.

The grammar is that of all expressions (its rule ``constant``), fed with the operators that ``#if`` has. The value
of a part is calculated as soon as the part is complete, so that nothing here is recursive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pytriton.errors import Diagnostic, Report, short
from pytriton.lang.grammar import Parser, climb, spelled
from pytriton.lang.tokens import Kind, Token, characters, read_integer, set_type
from pytriton.lang.tree.convert import COMPARISONS, computed, wrap
from pytriton.lang.tree.types import CHAR, INT, LONG, ULONG
from pytriton.source import Span

MAX_DEPTH: Final = 80  # parentheses and operators within each other
MAX_NUMBER_LENGTH: Final = 100  # characters; 64 bits need 65
_WORD: Final = 1 << 64
MAX_SIGNED: Final = (1 << 63) - 1
_SIGNS: Final = frozenset("( ) , ? : || && | ^ & == != < > <= >= << >> + - * / % ! ~".split())
_OPERANDS: Final = frozenset((Kind.IDENT, Kind.NUMBER, Kind.CHAR, Kind.CONSTEXPR))


class _Malformed(Exception):
    """An error that ends the reading of an expression."""

    def __init__(self, code: str, message: str, where: Span, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic("error", code, message, where, (), help)


class _Value(NamedTuple):
    """An integer. ``wrong``: the error in place of a value, reported if used. ``name``: of an identifier."""

    number: int
    unsigned: bool = False
    wrong: _Malformed | None = None
    name: str = ""


def evaluate(tokens: Sequence[Token], directive: Span, report: Report) -> bool:
    """Whether the expression holds; False (and an error) where it is malformed.

    ``directive`` is the span of the word ``if`` or ``elif``, for an expression that ends too soon.
    """
    try:
        if not tokens:
            raise _Malformed("TC120", "#if without an expression", directive)
        value = _value(tokens)
        if value.wrong is not None:
            raise value.wrong
        return value.number != 0
    except _Malformed as error:
        report.add(error.diagnostic)
        return False


def _value(tokens: Sequence[Token]) -> _Value:
    _classify(tokens)
    parser = Parser("constant", _Arithmetic)
    last = tokens[-1].span
    reached = parser.feed([*tokens, Token(Kind.END, "", last, type="$END")])
    if reached <= len(tokens):
        accepts = parser.accepts()
        wanted = (("IDENT", "a value"), ("COLON", "':'"), ("RPAR", "')'"))
        words = next((words for terminal, words in wanted if terminal in accepts), "an operator")
        if reached == len(tokens):
            raise _Malformed("TC120", f"the #if expression ends where {words} is expected", last)
        raise _unexpected(tokens[reached], words)
    value: _Value = parser.result
    return value


def _classify(tokens: Sequence[Token]) -> None:
    """Give each token its terminal; what an ``#if`` cannot have has none."""
    depth, around = 0, []  # parentheses and `?` that are open here; of these, those around each parenthesis
    for token in tokens:
        if depth == MAX_DEPTH:
            help_ = f"at most {MAX_DEPTH} nested operators and parentheses"
            raise _Malformed("TC124", "the #if expression nests too deeply", token.span, help_)
        text = token.text
        if text == "(":
            around.append(depth)
        elif text == ")" and around:
            depth = around.pop()
        depth += text in ("(", "?")
        if token.kind is Kind.PUNCT:
            set_type(token, spelled()[text] if text in _SIGNS else "")
        else:
            set_type(token, token.kind.name if token.kind in _OPERANDS else "")


def _unexpected(token: Token, wanted: str) -> _Malformed:
    help_ = "to compare, write '=='" if token.text == "=" else None
    if token.kind is Kind.STRING:
        help_ = "#if compares integers only; give a define that is 0 or 1"
    return _Malformed("TC120", f"expected {wanted} in #if, found '{token.text[:60]}'", token.span, help_)


class _Arithmetic:
    """One method a rule of the grammar that the signs of an ``#if`` can make."""

    def comma(self, parts: list[Any]) -> _Value:
        values = parts[::2]
        wrong = next((value.wrong for value in values if value.wrong), None)
        return _Value(values[-1].number, values[-1].unsigned, wrong)

    def select(self, parts: list[Any]) -> _Value:
        return _chosen(parts[0], parts[2], parts[4])

    def elvis(self, parts: list[Any]) -> _Value:
        return _chosen(parts[0], parts[0], parts[3])

    def chain(self, parts: list[Any]) -> _Value:
        value: _Value = climb(parts, _calculated)
        return value

    def prefix(self, parts: list[Any]) -> _Value:
        operator, value = parts
        number, unsigned = value.number, value.unsigned
        match operator.text:
            case "!":
                number, unsigned = int(number == 0), False
            case "-":
                number = -number
            case "~":
                number = ~number
            case "+":
                pass
            case _:
                raise _unexpected(operator, "a value")
        return _wrap(number, unsigned, value.wrong)

    def masked(self, parts: list[Any]) -> _Value:
        raise _unexpected(parts[0], "a value")

    def name(self, parts: list[Any]) -> _Value:
        return _Value(0, name=parts[0].text)

    def number(self, parts: list[Any]) -> _Value:
        return _number(parts[0])

    def char(self, parts: list[Any]) -> _Value:
        return _character(parts[0])

    def constexpr(self, parts: list[Any]) -> _Value:
        return _constexpr(parts[0])

    def group(self, parts: list[Any]) -> _Value:
        value: _Value = parts[1]
        return value._replace(name="")

    def call(self, parts: list[Any]) -> _Value:
        """``min(a, b)`` and ``max(a, b)``, macros of the prelude."""
        function, opening, first, *more = parts
        if function.name not in ("min", "max"):
            raise _unexpected(opening, "an operator")
        if len(more) != 3:
            wanted = "a value" if first is None else "','" if len(more) == 1 else "')'"
            raise _unexpected(more[0 if len(more) == 1 else 2], wanted)
        left, right = _common(first, more[1])
        number = (min if function.name == "min" else max)(left.number, right.number)
        return _Value(number, left.unsigned, left.wrong or right.wrong)


def _chosen(condition: _Value, yes: _Value, no: _Value) -> _Value:
    number, _, wrong, _ = yes if condition.number else no
    return _wrap(number, yes.unsigned or no.unsigned, condition.wrong or wrong)


def _calculated(left: _Value, operator: Token, right: _Value) -> _Value:
    text = operator.text
    if text in ("&&", "||"):
        if (left.number != 0) == (text == "||"):
            return _Value(int(text == "||"), wrong=left.wrong)
        return _Value(int(right.number != 0), wrong=left.wrong or right.wrong)
    if text not in ("<<", ">>"):
        left, right = _common(left, right)
    wrong = left.wrong or right.wrong
    number = computed(text, left.number, right.number, ULONG if left.unsigned else LONG)
    if number is None:
        return _Value(0, left.unsigned, wrong or _undefined(operator, right.number))
    assert isinstance(number, int)
    return _Value(number, left.unsigned and text not in COMPARISONS, wrong)


def _undefined(operator: Token, right: int) -> _Malformed:
    """Why an operation has no value."""
    if operator.text in ("/", "%"):
        return _Malformed("TC122", "division by zero in #if", operator.span)
    message = f"shift by {right} in #if, a count must be from 0 to 63"
    return _Malformed("TC123", message, operator.span)


def _common(left: _Value, right: _Value) -> tuple[_Value, _Value]:
    """Both operands in their common type."""
    unsigned = left.unsigned or right.unsigned
    return _wrap(left.number, unsigned, left.wrong), _wrap(right.number, unsigned, right.wrong)


def _wrap(number: int, unsigned: bool, wrong: _Malformed | None = None) -> _Value:
    return _Value(wrap(number, ULONG if unsigned else LONG), unsigned, wrong)


def _number(token: Token) -> _Value:
    constant = read_integer(token.text)
    if constant is None:
        message = f"'{short(token.text)}' is not an integer, and #if computes with integers"
        raise _Malformed("TC121", message, token.span)
    value, suffix, _ = constant
    if value >= _WORD:
        raise _Malformed("TC121", f"{token.text[:60]} does not fit in 64 bits", token.span)
    return _Value(value, "u" in suffix or value > MAX_SIGNED)


def _constexpr(token: Token) -> _Value:
    if not isinstance(token.value, int):
        message = f"define '{token.text}' is {token.value}, and #if computes with integers"
        raise _Malformed("TC121", message, token.span)
    return _Value(token.value, token.value > MAX_SIGNED)


def _character(token: Token) -> _Value:
    """A character constant; one of several characters is their last four bytes, as in gcc."""
    codes = characters(token.text)
    if not codes or not token.text.isascii():
        message = f"character constant {token.text[:60]} has no value in #if"
        raise _Malformed("TC121", message, token.span)
    return _Value(wrap(int.from_bytes(codes[-4:], "big"), CHAR if len(codes) == 1 else INT))
