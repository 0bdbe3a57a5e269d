"""Text operations of the scanned Python: f-strings, ``%``, ``format``, ``join`` and the methods of ``str``.

A part that is not known becomes a hole, and the text around it stays. Texts that are put one after the other keep
their lines; the result of any other operation only knows the first. Results are bounded, so that hostile code
(``'a' * 10**9``) costs nothing.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from functools import reduce
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
        raise NotKnown
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


_PERCENT: Final = re.compile(r"%(?:\((\w+)\))?(.?)", re.DOTALL)


def interpolate(text: str, values: Any, hole: Hole) -> str:
    """``text % values`` with ``%s`` and ``%d``; raises one of ``FAILURES`` for anything else."""
    named = values if isinstance(values, dict) else {}
    positional = list(values if isinstance(values, tuple) else () if named else (values,))

    def converted(match: re.Match[str]) -> str:
        name, form = match.groups()
        if form == "%":
            return "%"
        value = positional.pop(0) if name is None else named[name]
        if form not in ("s", "d") or (form == "d" and isinstance(value, float)):
            raise NotKnown
        return spelled(value, hole)

    result: str = _computed(text, _PERCENT.sub(converted, text))
    return result


def format_fields(text: str, arguments: Sequence[Any], named: dict[str, Any], hole: Hole) -> str:
    """``text.format(...)`` with fields that are names or numbers; raises one of ``FAILURES`` for anything else."""
    if re.search(r"\{[^{}]*[^\w{}]", re.sub(r"\{\{|\}\}", "", text)):
        raise NotKnown
    texts = [spelled(argument, hole) for argument in arguments]
    others = {name: spelled(argument, hole) for name, argument in named.items()}
    result: str = _computed(text, str(text).format(*texts, **others))
    return result


def join(separator: str, parts: Sequence[Any], hole: Hole) -> str:
    """``separator.join(parts)``."""
    texts = [spelled(part, hole) for part in parts]
    return reduce(lambda left, right: add(add(left, separator), right), texts) if texts else ""


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
