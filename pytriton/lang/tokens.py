"""Source -> tokens, before any preprocessing (C11 5.1.1.2, phases 1 to 3).

Input: a ``Source``. Output: its preprocessing tokens in order, ended by one ``END`` token.
Invariants: spans are those of the user's source (through line continuations too); a comment is never
a token but belongs to the token that follows it, so that the emitter can print it; ``newline`` and
``spaced`` are the white space that directives and function-like macros depend on.

One compiled regular expression reads everything: each match is blanks and then one token, comment
or line break, so a source of n characters takes n steps. A backslash at the end of a line is taken
out first, and a sorted list of the cuts leads back to the user's offsets; sources without one never
pay for it. A digraph becomes the token that it means. Two departures from C11: ``0...16`` is three
tokens (C would read one number), and there are no trigraphs. docs/errors.md lists the errors (TC001 to TC012).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from pytriton.errors import Diagnostic, Report
from pytriton.frozen import record
from pytriton.source import Source, Span

MAX_TEXT: Final = 1 << 20
MAX_NUMBER_LENGTH: Final = 200
MAX_PIECES: Final = 150_000  # tokens, comments and lines of one source


class Kind(Enum):
    """What a preprocessing token is. ``CONSTEXPR`` is a number define used as a value."""

    IDENT = "identifier"
    NUMBER = "number"
    CHAR = "character constant"
    STRING = "string"
    PUNCT = "punctuator"
    CONSTEXPR = "define"
    END = "end of file"


@record
class Comment:
    """A comment without its ``//`` or ``/* */``; ``own_line``: it is first on its line."""

    text: str
    own_line: bool
    span: Span


@record
class Token:
    """One preprocessing token.

    ``text`` is the spelling; of a ``CONSTEXPR`` it is the define's name, and ``value`` is its
    value. ``newline``: first on its line. ``spaced``: white space or a comment precedes
    it. ``comments``: those between the previous token and this one. ``hidden``: the macros that may
    not expand it again (hide set, C11 6.10.3.4). ``type``: what it is to the grammar, set by parse/terminals.py
    when no more of it changes.
    """

    kind: Kind
    text: str
    span: Span
    newline: bool = False
    spaced: bool = False
    value: int | float | None = None
    comments: tuple[Comment, ...] = ()
    hidden: frozenset[str] = frozenset()
    type: str = ""


set_type: Final = vars(Token)["type"].__set__


def subtracted(token: Token) -> tuple[Token, Token] | None:
    """A negative define as the sign and the number that it is spelled: after an operand, ``5 X`` is ``5 -3``."""
    spelled = str(token.value)
    if token.kind is not Kind.CONSTEXPR or spelled[0] != "-":
        return None
    sign = Token(
        Kind.PUNCT, "-", token.span, token.newline, token.spaced, comments=token.comments, type="MINUS"
    )
    return sign, Token(Kind.NUMBER, spelled[1:], token.span, type="NUMBER")


def tokenize(source: Source, report: Report) -> list[Token]:
    """The tokens of a source, ``END`` last. Invalid characters are left out."""
    tokens, problems = scan(source, report)
    for problem in problems:
        report.add(problem)
    return tokens


# The groups of the master pattern, in order; `_KINDS` is indexed by them. No group is repeated possessively: where
# an iteration fails, Python 3.11.2 (of Debian 12) goes on behind it, and `0...16` began with the number `0...`.
_TOKEN: Final = re.compile(
    r"""[ \t\v\f]*+ (?:
      ([A-Za-z_][A-Za-z0-9_]*+)                      # 1 identifier
    | (\.?[0-9] (?: [eEpP][+-] | [A-Za-z0-9_] | \.(?!\.\.) )*)  # 2 number
    | ('(?!') [^'\\\r\n]*+ (?:\\.[^'\\\r\n]*+)*')          # 3 character constant
    | ("[^"\\\r\n]*+ (?:\\.[^"\\\r\n]*+)*")          # 4 string
    | ([\r\n]\s*+)                                   # 5 line break
    | (//[^\r\n]*+ | /\*(?s:.*?)\*/)                 # 6 comment
    | (/\*)                                          # 7 unterminated comment
    | (%:%: | <: | :> | <% | %> | %: | \.\.\. | <<= | >>= | -> | \+\+ | -- | << | >> | && | \|\| | \#\#
      | [-+*/%&|^=!<>]= | [][(){}.&*+~!/%<>^|?:;=,\#@-])   # 8 punctuator
    | ('' | ['"][^\r\n]*+)                           # 9 wrong constant
    | ([^\x00-\x7f]++ | (?s:.))                      # 10 anything else
    | \Z )""",
    re.VERBOSE | re.ASCII,
)
_NUMBER, _STRING, _BREAK, _COMMENT, _OPEN_COMMENT, _PUNCT = 2, 4, 5, 6, 7, 8
DIGRAPHS: Final = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
_KINDS: Final = (
    Kind.END,
    Kind.IDENT,
    Kind.NUMBER,
    Kind.CHAR,
    Kind.STRING,
    *(Kind.END,) * 3,
    Kind.PUNCT,
)


def kind_of(text: str) -> Kind | None:
    """The kind of the one token that this text is, or None."""
    match = _TOKEN.fullmatch(text)
    index = match.lastindex if match is not None else None
    if index is None or match is None or match.start(index) != 0:
        return None
    if index == _NUMBER and len(text) > MAX_NUMBER_LENGTH:
        return None
    return _KINDS[index] if index <= _STRING or index == _PUNCT else None


def scan(source: Source, report: Report) -> tuple[list[Token], list[Diagnostic]]:
    """Tokens, and the errors that the caller reports outside of dropped arms.

    Errors that count in dropped arms, too, go to the report at once.
    """
    if len(source.text) > MAX_TEXT:
        report.fatal("TC002", _TOO_LARGE, source, help=_TOO_LARGE_HELP)
    _refuse_controls(source, report)
    text, cuts = _join_lines(source.text)
    tokens: list[Token] = []
    problems: list[Diagnostic] = []
    comments: list[Comment] = []
    newline = fresh = True  # fresh: no token or comment on this line yet
    last = 1 if text.startswith("\ufeff") else 0
    for match in islice(_TOKEN.finditer(text, last), MAX_PIECES):
        index = match.lastindex
        if index is None:
            break
        start, end = match.span(index)
        if index <= _STRING or index == _PUNCT:
            span = Span(source, *cuts.back(start, end)) if cuts.at else Span(source, start, end)
            spelled = match[index]
            if index == _PUNCT:
                spelled = DIGRAPHS.get(spelled, spelled)
            above = tuple(comments) if comments else ()
            tokens.append(Token(_KINDS[index], spelled, span, newline, start != last, None, above))
            newline = fresh = False
            last = end
            if comments:
                comments = []
            if index == _NUMBER and end - start > MAX_NUMBER_LENGTH:
                problems.append(_too_long(span))
        elif index == _BREAK:
            newline = fresh = True
        else:
            span = Span(source, *cuts.back(start, end))
            if index == _COMMENT:
                inside = text[start + 2 : end] if text[start + 1] == "/" else text[start + 2 : end - 2]
                comments.append(Comment(inside, fresh, span))
                fresh = False
            elif index == _OPEN_COMMENT:
                report.fatal("TC006", "unterminated comment", span, help="end it with '*/'")
            elif (problem := _stray(match[index], span)) is not None:
                problems.append(problem)
    else:
        report.fatal("TC011", _TOO_MANY, source, help=_TOO_LARGE_HELP)
    size = len(source.text)
    end_span = Span(source, size, size)
    tokens.append(Token(Kind.END, "", end_span, True, True, None, tuple(comments)))
    return tokens, problems


class _Cuts:
    """Where line continuations were cut out: offsets in the joined text -> in the user's."""

    def __init__(self) -> None:
        self.at: list[int] = []
        self.removed: list[int] = []

    def back(self, start: int, end: int) -> tuple[int, int]:
        if not self.at:
            return start, end
        return self._uncut(start), self._uncut(end - 1) + 1

    def _uncut(self, offset: int) -> int:
        before = bisect_right(self.at, offset)
        return offset + (self.removed[before - 1] if before else 0)


_CONTINUATION: Final = re.compile(r"\\(?:\r\n|\n|\r)")


def _join_lines(text: str) -> tuple[str, _Cuts]:
    """The source without its line continuations (C11 5.1.1.2, phase 2)."""
    cuts = _Cuts()
    if "\\" not in text:
        return text, cuts
    pieces = []
    begin = removed = 0
    for match in _CONTINUATION.finditer(text):
        pieces.append(text[begin : match.start()])
        begin = match.end()
        cuts.at.append(match.start() - removed)
        removed += match.end() - match.start()
        cuts.removed.append(removed)
    return "".join((*pieces, text[begin:])), cuts


_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TOO_LARGE: Final = "the source is larger than 1 MiB"
_TOO_MANY: Final = f"the source has more than {MAX_PIECES} tokens, comments and lines"
_TOO_LARGE_HELP: Final = "put one kernel into each source"


def _refuse_controls(source: Source, report: Report) -> None:
    """NUL, control and bidirectional characters are refused everywhere, also in comments."""
    for match in _CONTROL.finditer(source.text):
        where = Span(source, match.start(), match.end())
        point = ord(match[0])
        if point == 0:
            report.error("TC003", "NUL character in the source", where, help="remove it")
        elif point < 0xA0:
            report.error("TC004", f"control character U+{point:04X}", where, help="remove it")
        else:
            report.error(
                "TC005",
                f"bidirectional control character {_named(match[0])}",
                where,
                help="remove it: it makes the source look different from what it means",
            )


def _named(char: str) -> str:
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X} {name}".rstrip()


def _problem(code: str, message: str, span: Span, help_: str) -> Diagnostic:
    return Diagnostic("error", code, message, span, (), help_)


def _too_long(span: Span) -> Diagnostic:
    message = f"number of {span.end - span.start} characters"
    return _problem("TC010", message, span, "no type holds so many digits")


_LOOKALIKES: Final = dict(
    zip(
        "\u2010\u2011\u2012\u2013\u2014\u2212\u00d7\u00b7\u2217\u22c5\u00f7\u2215\u2018\u2019\u201c\u201d\u2260\u2264\u2265",
        [*"------****//''\"\"", "!=", "<=", ">="],
        strict=True,
    )
)


def _stray(text: str, span: Span) -> Diagnostic | None:
    """The error for characters that are not a token; None where it was reported already."""
    char = text[0]
    if char == '"':
        return _problem("TC007", "unterminated string", span, "end it with '\"' on the same line")
    if text == "''":
        help_ = "put one character between the apostrophes"
        return _problem("TC008", "empty character constant", span, help_)
    if char == "'":
        help_ = "end it with ' on the same line; an apostrophe is only allowed in a comment"
        return _problem("TC008", "unterminated character constant", span, help_)
    if _CONTROL.match(char):
        return None
    if char == "\\":
        help_ = "a line continuation must be the last character of its line, without a space after it"
        return _problem("TC009", "stray backslash", span, help_)
    if char == "$":
        help_ = "names are made of the letters a-z and A-Z, digits and '_'"
    elif char == "`":
        help_ = "remove it: no token of C contains a backtick"
    elif char.isalpha():
        help_ = "names are made of the letters a-z and A-Z, digits and '_'; put the rest in a comment"
    elif unicodedata.category(char) in ("Zs", "Cf"):
        help_ = "write an ordinary space, or nothing, instead"
    elif (ascii := _LOOKALIKES.get(char) or unicodedata.normalize("NFKC", char)).isascii():
        help_ = f"write '{ascii}' instead"
    else:
        help_ = "only ASCII characters are allowed outside comments"
    shown = f"'{char}'" if char.isascii() else _named(char)
    return _problem("TC009", f"stray character {shown}", span, help_)


def decode(data: bytes, name: str, report: Report) -> Source:
    """The source that these bytes are: UTF-8, with or without a byte order mark."""
    if len(data) > MAX_TEXT:
        report.fatal("TC002", _TOO_LARGE, Source("", name), help=_TOO_LARGE_HELP)
    try:
        return Source(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        at = len(data[: error.start].decode("utf-8"))
        source = Source(data.decode("utf-8", errors="replace"), name)
        report.fatal(
            "TC001",
            f"byte 0x{data[error.start]:02X} is not UTF-8",
            Span(source, at, at + 1),
            help="save the file as UTF-8",
        )


# ---------------------------------------------------------------- numbers
# Their values, and those of characters (C11 6.4.4): the only reader of digits and escapes.

_INTEGER: Final = re.compile(
    r"(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9][0-9]*))"
    r"([uU](?:ll?|LL?)?|(?:ll?|LL?)[uU]?)?"
)
_BASES: Final = (16, 2, 8, 10)
_FLOATING: Final = re.compile(
    r"(0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?[0-9]+"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)([flFL]?)"
)
_CHARACTER: Final = re.compile(r"\\(?:[xX]([0-9a-fA-F]+)|([0-7]{1,3})|(.))|(.)")
_ESCAPES: Final = dict(zip("abfnrtv'\"?\\", b"\a\b\f\n\r\t\v'\"?\\", strict=True))


class Integer(NamedTuple):
    """An integer constant, of any size; the suffix in lower case."""

    value: int
    suffix: str
    base: int


def read_integer(text: str) -> Integer | None:
    """Reads an integer constant; None for other strings."""
    match = _INTEGER.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if match is None:
        return None
    digits, base = next(pair for pair in zip(match.groups(), _BASES, strict=False) if pair[0] is not None)
    return Integer(int(digits, base), (match[5] or "").lower(), base)


def read_floating(text: str) -> tuple[float, str] | None:
    """Value and suffix (in lower case) of a floating constant; None for other strings."""
    match = _FLOATING.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if match is None:
        return None
    try:
        value = float.fromhex(match[1]) if match[1][1:2] in ("x", "X") else float(match[1])
    except (OverflowError, ValueError):
        return None
    return value, match[2].lower()


def plain_number(text: str) -> int | float | None:
    """The number in a string: a constant without a suffix, which may have a sign; None for other strings."""
    text = text.strip()
    digits = text[1:] if text[:1] in ("+", "-") else text
    value: int | float
    if integer := read_integer(digits):
        value, suffix, _ = integer
    elif floating := read_floating(digits):
        value, suffix = floating
    else:
        return None
    return None if suffix else -value if text[0] == "-" else value


def characters(literal: str) -> list[int] | None:
    """The codes in a character constant or string; None where an escape is unknown or more than a byte."""
    codes: list[int] = []
    for hexadecimal, octal, simple, plain in _CHARACTER.findall(literal[literal.index(literal[-1]) + 1 : -1]):
        if plain:
            codes.append(ord(plain))
            continue
        code = _ESCAPES.get(simple, 256) if simple else int(hexadecimal or octal, 16 if hexadecimal else 8)
        if code > 255:
            return None
        codes.append(code)
    return codes
