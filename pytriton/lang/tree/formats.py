"""The format of a ``printf``: the text between its conversions, and what each conversion prints.

``pieces("i %d x %5.2f\\n")`` is a conversion ``%d`` after ``"i "``, a conversion ``%5.2f`` after ``" x "``, and
the text ``"\\n"`` after the last. ``lost_on_a_gpu`` lists what a GPU does not do: there each value stands on
a line of its own, after the program, the place in the block and a label.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final, NamedTuple

from pytriton.frozen import record

INTEGERS: Final = "diuxXoc"
FLOATS: Final = "fFeEgG"
_PLAIN: Final = "diufxp"  # what a GPU prints so
_CONVERSION: Final = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?P<length>hh?|ll?|[jztL])?(?P<letter>[a-zA-Z])|%"
)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))")
_ESCAPES: Final = dict(zip("abfnrtv0'\"?\\", "\a\b\f\n\r\t\v\0'\"?\\", strict=True))


@record
class Printed:
    """What a call of ``printf`` prints beside its values: the format, and the shape that they share."""

    text: str
    shape: tuple[int, ...]


class Conversion(NamedTuple):
    """One conversion of a format. ``spelled`` is as written, ``before`` the text before it."""

    before: str
    spelled: str
    flags: str
    width: str
    precision: str
    letter: str


def text_of(literal: str) -> str | None:
    """The characters that a string literal stands for; None for an unknown escape."""
    body = literal[literal.index('"') + 1 : -1]
    if any(simple and simple not in _ESCAPES for _, _, simple in _ESCAPE.findall(body)):
        return None

    def plain(escape: re.Match[str]) -> str:
        hexadecimal, octal, simple = escape.groups()
        return _ESCAPES[simple] if simple else chr(int(hexadecimal or octal, 16 if hexadecimal else 8) & 255)

    return _ESCAPE.sub(plain, body)


def pieces(text: str) -> tuple[list[Conversion], str]:
    """The conversions of a format, and the text after the last. A lone ``%`` is one without a letter."""
    conversions: list[Conversion] = []
    before, at = "", 0
    while (start := text.find("%", at)) >= 0:
        before += text[at:start]
        if text.startswith("%%", start):
            before, at = before + "%", start + 2
            continue
        match = _CONVERSION.match(text, start)
        assert match is not None
        flags, width, precision, _, letter = (part or "" for part in match.groups())
        conversions.append(Conversion(before, match[0], flags, width, precision, letter))
        before, at = "", match.end()
    return conversions, before + text[at:]


def label_of(before: str, argument: str) -> str:
    """What a GPU writes before a value: the text before its conversion, or the argument as it is spelled."""
    shown = "".join(char if char in string.printable else "?" for char in " ".join(before.split()))
    label = shown.strip(" ,;:=")
    spelled = " ".join(argument.split())
    return label or spelled[:40] + ")" * (spelled[:40].count("(") - spelled[:40].count(")"))


def lost_on_a_gpu(text: str, shape: tuple[int, ...]) -> Iterator[str]:
    """What a GPU leaves out of a format, for a warning."""
    conversions, after = pieces(text)
    spelled = [c.spelled for c in conversions if c.flags or c.width or c.precision or c.letter not in _PLAIN]
    if spelled:
        yield f"the form of {', '.join(map(repr, dict.fromkeys(spelled)))}"
    if conversions and after.strip():
        yield f"the text {after.strip()!r} after the last value"
    if any(char not in string.printable for char in text):
        yield "characters that are not ASCII"
    if any(size & (size - 1) for size in shape):
        yield "the end of a block whose size is not a power of two: it prints the padding, too"
