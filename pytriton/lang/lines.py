"""``#line``: what ``__LINE__`` and ``__FILE__`` say behind it (C11 6.10.4).

Messages keep the positions of the text itself, which is what their reader has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytriton.errors import Report
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Source, Span

__all__ = ["PresumedLines"]

_DIGITS: Final = re.compile(r"[0-9]{1,10}")
_LARGEST: Final = 2**31 - 1


class PresumedLines:
    """The line and the file that each place of the texts is said to be in."""

    def __init__(self) -> None:
        self._shifts: dict[int, tuple[Source, int]] = {}  # by identity: to compare texts takes time
        self._names: dict[int, str] = {}

    def line(self, span: Span) -> int:
        """The number that ``__LINE__`` has."""
        _, shift = self._shifts.get(id(span.source), (None, 0))
        return span.line + shift

    def name(self, span: Span) -> str:
        """``__FILE__``, as a string literal."""
        name = span.source.name.replace("\\", "\\\\").replace('"', '\\"')
        return self._names.get(id(span.source), f'"{name}"')

    def set(self, directive: Token, operands: Sequence[Token], report: Report) -> None:
        """``#line number`` or ``#line number "file"``, operands expanded: the next line has that number."""
        last = operands[-1] if operands else directive
        number = operands[0].text if operands else ""
        named = len(operands) == 2 and operands[1].kind is Kind.STRING
        fits = _DIGITS.fullmatch(number) and 1 <= int(number) <= _LARGEST
        if not fits or not (named or len(operands) == 1):
            where = directive.span.to(last.span)
            help_ = "write '#line 7' or '#line 7 \"file.c\"'"
            message = f"#line wants a number from 1 to {_LARGEST}, and a name in quotes at most"
            report.error("TC145", message, where, help=help_)
            return
        source = directive.span.source
        self._shifts[id(source)] = (source, int(number) - directive.span.line - 1)
        if named:
            self._names[id(source)] = operands[1].text
