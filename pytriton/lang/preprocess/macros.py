"""Macros: what one is, how ``#define`` is read (C11 6.10.3), and those that come before the source.

These are the prelude and the ``defines`` of the caller.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from pytriton.errors import Report, short
from pytriton.frozen import record, replace
from pytriton.lang.tokens import Comment, Kind, Token, plain_number, tokenize
from pytriton.source import Source, Span

# C11 6.10.8p4: neither #define nor #undef may name them.
RESERVED: Final = frozenset({"defined", "__LINE__", "__FILE__", "__VA_ARGS__"})


@record
class Macro:
    """A macro. ``params`` is None for an object-like one.

    A variadic one has ``__VA_ARGS__`` as its last parameter. ``value``: it is a number define.
    ``given``: it comes from ``defines``, and the source cannot redefine it. ``quiet``: it is from the
    prelude, which no diagnostic mentions. ``where``: the name in its definition.
    """

    name: str
    body: tuple[Token, ...]
    params: tuple[str, ...] | None = None
    variadic: bool = False
    value: int | float | None = None
    given: bool = False
    quiet: bool = False
    dynamic: Literal["line", "file"] | None = None
    where: Span | None = None

    def same_as(self, other: Macro) -> bool:
        """Whether this is a benign redefinition (C11 6.10.3p2)."""
        return (
            (self.params, self.variadic, self.dynamic) == (other.params, other.variadic, other.dynamic)
            and [token.text for token in self.body] == [token.text for token in other.body]
            and [token.spaced for token in self.body[1:]] == [token.spaced for token in other.body[1:]]
        )

    @property
    def calls(self) -> str:
        """The name as a diagnostic shows it."""
        return f"'{short(self.name)}'"


def join(tokens: Iterable[Token]) -> str:
    """The spelling of a token run: one blank wherever there was any white space."""
    pieces: list[str] = []
    for token in tokens:
        if pieces and (token.spaced or token.newline):
            pieces.append(" ")
        pieces.append(token.text)
    return "".join(pieces)


def with_comments(token: Token, comments: tuple[Comment, ...], spaced: bool | None = None) -> Token:
    """The token with these comments instead of its own."""
    return replace(token, comments=comments, spaced=token.spaced if spaced is None else spaced)


def parse_define(name: Token, replacement: Sequence[Token], report: Report) -> Macro | None:
    """The macro that ``#define name rest`` defines; None (and an error) where it is malformed."""
    if name.kind is not Kind.IDENT:
        help_ = "write '#define NAME replacement'"
        report.error("TC102", f"#define requires a name, found '{name.text[:60]}'", name.span, help=help_)
        return None
    if name.text in RESERVED:
        report.error("TC102", f"'{name.text}' cannot be defined", name.span)
        return None
    params: tuple[str, ...] | None = None
    variadic = False
    body = tuple(replacement)
    if replacement and replacement[0].text == "(" and not replacement[0].spaced:
        parameters = _parameters(name, replacement, report)
        if parameters is None:
            return None
        params, variadic, body = parameters
    elif replacement and not replacement[0].spaced:
        report.warning(
            "TC163", f"no space between '{name.text[:60]}' and its replacement", replacement[0].span
        )
    if any(token.comments or token.newline for token in body):
        body = tuple(replace(token, newline=False, comments=()) for token in body)
    macro = Macro(name.text, body, params, variadic, where=name.span)
    return macro if body_is_sound(macro, report) else None


def _parameters(
    name: Token, replacement: Sequence[Token], report: Report
) -> tuple[tuple[str, ...], bool, tuple[Token, ...]] | None:
    """``( a, b, ... )`` and what follows it."""
    params: dict[str, None] = {}
    at = 1
    if at < len(replacement) and replacement[at].text == ")":
        return (), False, tuple(replacement[at + 1 :])
    while at < len(replacement):
        token = replacement[at]
        if token.text == "...":
            params["__VA_ARGS__"] = None
        elif token.kind is not Kind.IDENT or token.text == "__VA_ARGS__":
            break
        elif token.text in params:
            report.error("TC103", f"parameter '{token.text[:60]}' is declared twice", token.span)
            return None
        else:
            params[token.text] = None
        after = replacement[at + 1].text if at + 1 < len(replacement) else ""
        if after == ")":
            return tuple(params), token.text == "...", tuple(replacement[at + 2 :])
        if after != "," or token.text == "...":
            at += 1
            break
        at += 2
    bad = replacement[at] if at < len(replacement) else None
    message = f"the parameter list of macro '{name.text[:60]}' is not closed"
    if bad is not None:
        message = f"'{bad.text[:60]}' is not valid in the parameters of macro '{name.text[:60]}'"
    help_ = "write '#define NAME(a, b, ...) replacement'"
    report.error("TC103", message, bad.span if bad else name.span, help=help_)
    return None


def body_is_sound(macro: Macro, report: Report) -> bool:
    """The constraints on ``#``, ``##`` and ``__VA_ARGS__``."""
    body = macro.body
    if not body:
        return True
    for edge in (body[0], body[-1]):
        if edge.text == "##":
            report.error("TC105", "'##' requires a token on each side", edge.span)
            return False
    for at, token in enumerate(body):
        if token.text == "__VA_ARGS__" and not macro.variadic:
            help_ = "end the macro's parameters with '...'"
            report.error("TC106", "__VA_ARGS__ in a macro without '...'", token.span, help=help_)
            return False
        if token.text == "#" and macro.params is not None:
            operand = body[at + 1].text if at + 1 < len(body) else "the end of the line"
            if operand not in macro.params:
                message = f"'#' requires a parameter of the macro, found {operand[:60]!r}"
                report.error("TC104", message, token.span)
                return False
    return True


# ---------------------------------------------------------------- defines
# A number is *symbolic*: where the source uses it, one ``CONSTEXPR`` token keeps its name with its value. A str is
# any sequence of tokens, and a number if it is one plain number. A ``torch.dtype`` is its Triton-C word. NumPy
# numbers count as numbers; neither torch nor NumPy is imported to recognise these.

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
    """The names that every source has. One whose replacement is itself is only there to be *defined*."""
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
    """The macro of a define that is a str: a number where it is one, else its tokens."""
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

    A suffix (``64u``, ``1.0f``) gives a number a type of its own, so it is kept, and so does what is not
    decimal and unsigned for its size (``0xffffffff``). So does a blank after the sign: ``- 3`` is written to
    follow an operand.
    """
    sign = "-" if len(body) == 2 and body[0].text == "-" and not body[1].spaced else ""
    if len(body) != len(sign) + 1 or body[-1].kind is not Kind.NUMBER:
        return None
    text = body[-1].text
    number = plain_number(sign + text)
    unsigned = text[0] == "0" and isinstance(number, int) and number.bit_length() in (32, 64)
    return None if unsigned else number
