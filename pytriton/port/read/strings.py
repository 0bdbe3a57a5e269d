"""Text operations of the scanned Python: f-strings, ``%``, ``format``, ``join`` and the methods of ``str``.

A part that is not known becomes a hole, and the text around it stays. Texts that are put one after the other keep
their lines; the result of any other operation only knows the first. Results are bounded, so that hostile code
(``'a' * 10**9``) costs nothing.
"""

from __future__ import annotations

import re
import string
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from pytriton.port.read.values import NotKnown, Traced, literal, traced

MAX_LENGTH: Final = 1 << 20  # characters, as the translator's own limit
MAX_WIDTH: Final = 4096  # of a padded text

Hole = Callable[[Any], str]

_METHODS: Final = frozenset(
    "strip lstrip rstrip replace upper lower split splitlines startswith endswith count find index".split()
)


def pieces_of(text: str) -> tuple[tuple[str, int], ...]:
    """The parts of a text with their lines; line 0 where it was computed."""
    return text.pieces if isinstance(text, Traced) else ((text, 0),)


def _computed(text: str, result: Any) -> Any:
    """The result of an operation on a text: if it is a text, it begins where that one begins."""
    return traced(((result, pieces_of(text)[0][1]),)) if isinstance(result, str) else result


def add(left: str, right: str) -> str:
    """``left + right``."""
    if len(left) + len(right) > MAX_LENGTH:
        return left
    return traced((*pieces_of(left), *pieces_of(right)))


def spelled(value: Any, hole: Hole) -> str:
    """``str(value)``: exact for known values, a hole for others."""
    if isinstance(value, str):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return str(value) if not isinstance(value, int) or value.bit_length() < 256 else hole(value)
    if isinstance(value, (list, tuple, dict)) and literal(value):
        return repr(value)[:MAX_LENGTH]
    return hole(value)


_PERCENT: Final = re.compile(r"%(?:\((\w+)\))?([-+ 0#]*\d{0,3}(?:\.\d{1,3})?)([diuoxXeEfFgGcrs%])")


def interpolate(text: str, values: Any, hole: Hole) -> str:
    """``text % values``; raises one of ``FAILURES`` where the two do not fit."""
    named = values if isinstance(values, dict) else {}
    positional = list(values if isinstance(values, tuple) else () if named else (values,))

    def converted(match: re.Match[str]) -> str:
        name, form = match[1], match[2] + match[3]
        if match[3] == "%":
            return "%"
        value = positional.pop(0) if name is None else named[name]
        if isinstance(value, (bool, int, float)) and form != "s":
            return f"%{form}" % value
        return spelled(value, hole)

    result: str = _computed(text, _PERCENT.sub(converted, text))
    return result


class _Fields(string.Formatter):
    """``format`` with fields that are names or numbers; raises KeyError for ``{x.y}`` and ``{x[0]}``."""

    def __init__(self, hole: Hole) -> None:
        self.hole = hole

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        key = int(field_name) if field_name.isdigit() else field_name
        return self.get_value(key, args, kwargs), field_name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        simple = re.fullmatch(r"[0-9.,<>^+#xXdgef]{1,4}", format_spec)
        if simple and isinstance(value, (int, float)):
            return format(value, format_spec)
        return spelled(value, self.hole)


def format_fields(text: str, arguments: Sequence[Any], named: dict[str, Any], hole: Hole) -> str:
    """``text.format(...)`` with fields that are names or numbers; raises one of ``FAILURES`` for anything else."""
    result: str = _computed(text, _Fields(hole).vformat(text, arguments, named))
    return result


def join(separator: str, parts: Sequence[Any], hole: Hole) -> str:
    """``separator.join(parts)``."""
    joined: list[tuple[str, int]] = []
    for number, part in enumerate(parts):
        if number:
            joined += pieces_of(separator)
        joined += pieces_of(spelled(part, hole))
        if sum(len(text) for text, _ in joined[-2:]) > MAX_LENGTH:
            break
    return traced(joined)


def method(text: Any, name: str, arguments: Sequence[Any]) -> Any:
    """A method of ``str``, or ``dedent``; raises one of ``FAILURES`` where its result is unknown."""
    constant = all(
        isinstance(argument, (str, tuple)) or (isinstance(argument, int) and argument < MAX_WIDTH)
        for argument in arguments
    )
    if not constant or not isinstance(text, str):
        raise NotKnown
    if name == "dedent":
        return _computed(text, textwrap.dedent(text))
    plain = [str(argument) if isinstance(argument, str) else argument for argument in arguments]
    if name not in _METHODS or (name == "replace" and text.count(plain[0]) * len(plain[1]) > MAX_LENGTH):
        raise NotKnown
    return _computed(text, getattr(str(text), name)(*plain))
