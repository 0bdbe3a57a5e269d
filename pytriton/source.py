"""Where text comes from, and where in it something stands.

A ``Source`` is a text with a name; a ``Span`` is a stretch of one source. Every token, tree node and
diagnostic carries a span, and nothing else in the package computes lines or columns.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from functools import cached_property

from pytriton.frozen import record

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@dataclasses.dataclass(frozen=True)
class Source:
    """A text with a name. ``origin``: where a string was passed (``my_ops.py:41``)."""

    text: str
    name: str = "<kernel>"
    origin: str | None = None

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a character offset."""
        row = bisect_right(self._starts, offset) - 1
        return row + 1, offset - self._starts[row] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line break."""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@record
class Expansion:
    """One step of macro expansion: ``STRIDE_AK`` became ``lda``.

    ``parent`` is the expansion in whose result this one happened, None at the outermost.
    """

    name: str
    body: str
    parent: Expansion | None = None


@record
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a source.

    What came out of a macro has the span of the outermost macro use in the user's text and says in
    ``expansion`` how it came about.
    """

    source: Source
    start: int
    end: int
    expansion: Expansion | None = None

    def to(self, other: Span) -> Span:
        """The smallest span that covers both; only within one source, else this span."""
        if other is self or other.source is not self.source:
            return self
        start = self.start if self.start < other.start else other.start
        end = self.end if self.end > other.end else other.end
        same = self.expansion is other.expansion or self.expansion == other.expansion
        return Span(self.source, start, end, self.expansion if same else None)

    @property
    def text(self) -> str:
        """The characters covered."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The 1-based line on which the span starts."""
        return self.source.position(self.start)[0]

    @property
    def last_line(self) -> int:
        """The one on which it ends."""
        return self.source.position(max(self.start, self.end - 1))[0]
