"""The macros ahead of the text: the prelude, and what the caller gives as ``defines``.

A number is *symbolic*: where the text uses it, one ``CONSTEXPR`` token keeps its name beside its
value. A str is any run of tokens; a str that is one plain number is that number. A ``torch.dtype``
is its Triton-C word. NumPy numbers count as numbers; nothing of torch or NumPy is imported to see
that.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from typing import Final

from pytriton.errors import Report
from pytriton.frozen import replace
from pytriton.lang.numbers import floating_constant, integer_constant
from pytriton.lang.preprocess.macros import RESERVED, Macro, body_is_sound, parse_define
from pytriton.lang.tokens import Kind, Token, tokenize
from pytriton.source import Source

_PRELUDE_TEXT: Final = """\
bool _Bool
true 1
false 0
__readonly __attribute__((readonly))
__writeonly __attribute__((writeonly))
__noalias __attribute__((noalias))
__retune __attribute__((retune))
__aligned(n) __attribute__((aligned(n)))
__multipleof(n) __attribute__((multipleof(n)))
INFINITY INFINITY
F32_INFINITY F32_INFINITY
F16_INFINITY F16_INFINITY
min min
max max
newaxis newaxis
_Pragma(string)
"""


def given_options(pairs: Iterable[str]) -> dict[str, object]:
    """``NAME=VALUE`` as given after ``-D``; a bare ``NAME`` is 1, a list of numbers, ``32,64``, a list."""
    defines: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        values = value.split(",")
        swept = len(values) > 1 and all(re.fullmatch(r"\s*[+-]?\d+\s*", number) for number in values)
        defines[name] = values if swept else value if equals else 1
    return defines


def _prelude() -> dict[str, Macro]:
    """The names that every text has. One that stands for itself is only there to be *defined*."""
    macros: dict[str, Macro] = {}
    for line in _PRELUDE_TEXT.splitlines():
        name, *replacement, _end = tokenize(Source(line, "prelude"), report := Report())
        macro = parse_define(name, replacement, report)
        report.check()
        assert macro is not None
        macros[macro.name] = replace(macro, quiet=True, where=None)
    macros["__LINE__"] = Macro("__LINE__", (), quiet=True, dynamic="line")
    macros["__FILE__"] = Macro("__FILE__", (), quiet=True, dynamic="file")
    return macros


PRELUDE: Final[Mapping[str, Macro]] = _prelude()

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DTYPES: Final = {
    "torch.bool": "bool",
    "torch.int8": "char",
    "torch.int16": "short",
    "torch.int32": "int",
    "torch.int64": "long",
    "torch.uint8": "uint8",
    "torch.uint16": "uint16",
    "torch.uint32": "uint32",
    "torch.uint64": "uint64",
    "torch.float16": "half",
    "torch.bfloat16": "bfloat16",
    "torch.float32": "float",
    "torch.float64": "double",
}
_RANGE: Final = "an integer is from -2^63 to 2^64 - 1"
_WANTED: Final = "give an int, a bool, a float, a torch.dtype, or a str of Triton-C"


def given_macros(defines: Mapping[str, object], source: Source, report: Report) -> dict[str, Macro]:
    """The macros that ``defines`` means; a wrong one is an error and is left out."""
    macros: dict[str, Macro] = {}
    for name, value in defines.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            shown = repr(name)[:60]
            help_ = "use letters, digits and '_'"
            report.error("TC150", f"{shown} is not a valid define name", source, help=help_)
        elif name in RESERVED:
            report.error("TC150", f"'{name}' cannot be defined", source)
        else:
            macro = _given(name, value, source, report)
            if macro is not None:
                macros[name] = macro
    return macros


class Digits(str):
    """A define that is a number, and stays one in the output instead of a name."""


def _given(name: str, value: object, source: Source, report: Report) -> Macro | None:
    if isinstance(value, Digits):
        return Macro(name, _inner(tokenize(Source(value, f"define {name}"), report)), given=True)
    if isinstance(value, str):
        return _from_text(name, value, report)
    if type(value).__module__ == "torch" and type(value).__name__ == "dtype":
        word = _DTYPES.get(str(value))
        if word is None:
            message = f"define '{name}' is {value}, which is not a type of Triton-C"
            report.error("TC151", message, source, help=f"use one of {', '.join(_DTYPES)}")
            return None
        return _from_text(name, word, report)
    number = _number(value)
    if number is None:
        message = f"define '{name}' has type {type(value).__name__}, which is not supported"
        report.error("TC151", message, source, help=_WANTED)
        return None
    if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64:
        report.error("TC152", f"define '{name}' does not fit in 64 bits", source, help=_RANGE)
        return None
    return _from_number(name, number)


def _number(value: object) -> int | float | None:
    """A Python or NumPy number as an int or a float; None for everything else."""
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return int(bool(value))
    try:
        return int(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    if not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _from_number(name: str, number: int | float) -> Macro:
    """A symbolic define. Its body, the spelled number, is only used by ``#`` and ``##``."""
    body = _inner(tokenize(Source(str(number), f"define {name}"), Report()))
    return Macro(name, body, value=number, given=True)


def _from_text(name: str, text: str, report: Report) -> Macro | None:
    """The macro of a define that is a text: a number where the text is one, else its tokens."""
    source = Source(text, f"define {name}")
    tokens = tokenize(source, report)
    body = _inner(tokens)
    number = _plain_number(body)
    if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64:
        report.error("TC152", f"define '{name}' does not fit in 64 bits", source, help=_RANGE)
        number = None
    if number is not None:
        return Macro(name, body, value=number, given=True)
    macro = Macro(name, body, given=True)
    return macro if body_is_sound(macro, report) else None


def _inner(tokens: list[Token]) -> tuple[Token, ...]:
    """A body: without the END token, on one line, without comments."""
    return tuple(
        Token(token.kind, token.text, token.span, False, token.spaced or token.newline)
        for token in tokens[:-1]
    )


def _plain_number(body: tuple[Token, ...]) -> int | float | None:
    """The value of a body such as ``64``, ``-1``, ``0x40`` or ``1e-5``; None for every other.

    A suffix (``64u``, ``1.0f``) gives a number a type of its own, so the text keeps it, and so does what is not
    decimal and unsigned for its size (``0xffffffff``). So does a blank after the sign: ``- 3`` is written to
    follow an operand.
    """
    sign = -1 if len(body) == 2 and body[0].text == "-" and not body[1].spaced else 1
    if len(body) != (2 if sign < 0 else 1) or body[-1].kind is not Kind.NUMBER:
        return None
    text = body[-1].text
    integer = integer_constant(text)
    if integer is not None:
        value, suffix, _ = integer
        unsigned = text[0] == "0" and (1 << 31 <= value < 1 << 32 or 1 << 63 <= value < 1 << 64)
        return None if suffix or unsigned else sign * value
    floating = floating_constant(text)
    if floating is None or floating[1] or text[1:2] in ("x", "X"):
        return None
    return sign * floating[0]
