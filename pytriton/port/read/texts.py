"""Text operations of the scanned Python: f-strings, ``%``, ``format``, ``join`` and the methods of ``str``.

A part that is not known becomes a hole, and the text around it stays. Results are bounded, so that hostile
code (``'a' * 10**9``) costs nothing.
"""

from __future__ import annotations

import re
import string
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Final

from pytriton.port.read.values import Traced, Unknown, literal, traced

__all__ = ["LONGEST", "add", "format_fields", "interpolate", "join", "method", "spelled"]

LONGEST: Final = 1 << 20  # characters, as the translator's own limit

Hole = Callable[[Any], str]

_PLAIN: Final = frozenset(
    "upper lower title capitalize split splitlines startswith endswith isdigit isalnum isalpha isidentifier "
    "count find rfind index zfill partition rpartition rsplit expandtabs removeprefix removesuffix".split()
)


def line_of(text: str) -> int:
    """The line where a text starts; 0 where it was computed."""
    return text.pieces[0][1] if isinstance(text, Traced) else 0


def pieces_of(text: str) -> tuple[tuple[str, int], ...]:
    """The parts of a text with their lines."""
    return text.pieces if isinstance(text, Traced) else ((text, 0),)


def add(left: str, right: str) -> str:
    """``left + right``."""
    if len(left) + len(right) > LONGEST:
        return left
    return traced((*pieces_of(left), *pieces_of(right)))


def spelled(value: Any, hole: Hole) -> str:
    """What ``str(value)`` gives: exact for what is known, a hole for the rest."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float)):
        return str(value) if not isinstance(value, int) or value.bit_length() < 256 else hole(value)
    if isinstance(value, (list, tuple, dict)) and literal(value):
        return repr(value)[:LONGEST]
    return hole(value)


_PERCENT: Final = re.compile(r"%(?:\((\w+)\))?([-+ 0#]*\d{0,3}(?:\.\d{1,3})?)([diuoxXeEfFgGcrs%])")


def interpolate(text: str, values: Any, hole: Hole) -> str | None:
    """``text % values``; None where the two do not fit."""
    given = values if isinstance(values, (tuple, dict)) else (values,)
    position = 0
    found: list[tuple[str, int]] = []
    end = 0
    for match in _PERCENT.finditer(text):
        found.append((text[end : match.start()], _line_at(text, end)))
        end = match.end()
        if match[3] == "%":
            found.append(("%", _line_at(text, end - 1)))
            continue
        try:
            value = given[match[1]] if match[1] is not None else given[position]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
        position += match[1] is None
        found.append((_converted(value, match[2] + match[3], hole), _line_at(text, match.start())))
    found.append((text[end:], _line_at(text, end)))
    return traced(found)


def _converted(value: Any, form: str, hole: Hole) -> str:
    if isinstance(value, (bool, int, float)) and form != "s":
        try:
            return f"%{form}" % value
        except (TypeError, ValueError, OverflowError):
            return hole(value)
    return spelled(value, hole)


def _line_at(text: str, offset: int) -> int:
    return text.line_at(offset) if isinstance(text, Traced) else 0


def format_fields(text: str, arguments: Sequence[Any], named: dict[str, Any], hole: Hole) -> str | None:
    """``text.format(...)`` with fields that are names or numbers; None for anything else."""
    found: list[tuple[str, int]] = []
    position = 0
    offset = 0
    try:
        for before, field, form, _ in string.Formatter().parse(str(text)):
            found.append((before, _line_at(text, offset)))
            at = text.find("{", offset + len(before))
            offset = at if at >= 0 else len(text)
            if field is None:
                continue
            if field == "":
                field, position = str(position), position + 1
            value = arguments[int(field)] if field.isdigit() else named[field]
            simple = (
                form and isinstance(value, (int, float)) and re.fullmatch(r"[0-9.,<>^+#xXdgef]{1,4}", form)
            )
            found.append(
                (format(value, form or "") if simple else spelled(value, hole), _line_at(text, offset))
            )
            offset = text.find("}", offset) + 1
    except (KeyError, IndexError, ValueError):
        return None
    return traced(found)


def join(separator: str, parts: Sequence[Any], hole: Hole) -> str:
    """``separator.join(parts)``."""
    found: list[tuple[str, int]] = []
    for number, part in enumerate(parts):
        if number:
            found += pieces_of(separator)
        found += pieces_of(spelled(part, hole))
        if sum(len(text) for text, _ in found[-2:]) > LONGEST:
            break
    return traced(found)


def method(text: str, name: str, arguments: Sequence[Any]) -> Any:
    """A method of ``str`` with known arguments; an empty tuple, which none returns, where it cannot be told."""
    if any(not isinstance(one, (str, int, tuple)) or isinstance(one, Unknown) for one in arguments):
        return ()
    plain = [str(one) if isinstance(one, str) else one for one in arguments]
    if name in ("strip", "lstrip", "rstrip", "replace", "dedent"):
        try:
            made = textwrap.dedent(text) if name == "dedent" else getattr(str(text), name)(*plain)
        except TypeError:
            return ()
        if len(made) > LONGEST:
            return ()
        return _moved(text, made, name)
    if name in _PLAIN:
        try:
            return getattr(str(text), name)(*plain)
        except (TypeError, ValueError, OverflowError):
            return ()
    return ()


def _moved(text: str, made: str, name: str) -> Traced:
    """The changed text with the lines of the old one: exact while the number of lines is the same."""
    if isinstance(text, Traced) and name == "replace" and made.count("\n") == text.count("\n"):
        rows = made.split("\n")
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        lines = [text.line_at(min(start, max(len(text) - 1, 0))) for start in starts]
        ends = [*["\n"] * (len(rows) - 1), ""]
        return traced((row + end, line) for row, end, line in zip(rows, ends, lines, strict=True))
    skipped = text[: len(text) - len(text.lstrip())] if name in ("strip", "lstrip") else ""
    if isinstance(text, Traced) and name == "rstrip":
        return traced(_cut(text.pieces, len(made)))
    if isinstance(text, Traced) and skipped:
        rest = len(text) - len(skipped)
        tail = tuple(reversed(_cut_head(text, rest)))
        return traced(_cut(tail, len(made)))
    return traced(((made, line_of(text)),))


def _cut(pieces: Sequence[tuple[str, int]], length: int) -> list[tuple[str, int]]:
    kept: list[tuple[str, int]] = []
    for text, line in pieces:
        if length <= 0:
            break
        kept.append((text[:length], line))
        length -= len(text)
    return kept


def _cut_head(text: Traced, length: int) -> list[tuple[str, int]]:
    """The last characters, as pieces from the last to the first."""
    kept: list[tuple[str, int]] = []
    for piece, line in reversed(text.pieces):
        if length <= 0:
            break
        part = piece[-length:] if length < len(piece) else piece
        kept.append((part, line + piece.count("\n", 0, len(piece) - len(part))))
        length -= len(piece)
    return kept
