"""Numbers as C spells them (C11 6.4.4): the one place that reads their digits."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pytriton.lang.tokens import MAX_NUMBER_LENGTH

_INTEGER: Final = re.compile(
    r"(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9][0-9]*))"
    r"([uU](?:ll?|LL?)?|(?:ll?|LL?)[uU]?)?"
)
_BASES: Final = (16, 2, 8, 10)
_FLOATING: Final = re.compile(
    r"(0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?[0-9]+"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)([flFL]?)"
)


class Integer(NamedTuple):
    """An integer constant, of any size; the suffix in lower case."""

    value: int
    suffix: str
    base: int


def integer_constant(text: str) -> Integer | None:
    """Reads an integer constant; None for other texts."""
    match = _INTEGER.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if match is None:
        return None
    digits, base = next(pair for pair in zip(match.groups(), _BASES, strict=False) if pair[0] is not None)
    return Integer(int(digits, base), (match[5] or "").lower(), base)


def floating_constant(text: str) -> tuple[float, str] | None:
    """Value and suffix (in lower case) of a floating constant; None for other texts."""
    match = _FLOATING.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if match is None:
        return None
    try:
        value = float.fromhex(match[1]) if match[1][1:2] in ("x", "X") else float(match[1])
    except (OverflowError, ValueError):
        return None
    return value, match[2].lower()


def plain_number(text: str) -> int | float | None:
    """The number that a text is: a constant without a suffix, which may have a sign; None for other texts."""
    text = text.strip()
    digits = text[1:] if text[:1] in ("+", "-") else text
    value: int | float
    if integer := integer_constant(digits):
        value, suffix, _ = integer
    elif floating := floating_constant(digits):
        value, suffix = floating
    else:
        return None
    return None if suffix else -value if text[0] == "-" else value
