"""Text with places where it may be broken over lines, and the choice which of them are used.

Input: a document, that is text, possible line breaks, and groups of them that are used together or not at all.
Output: lines of at most ``WIDTH`` columns where that can be. As in Wadler's "A prettier printer" a group stays
on its line if it fits there together with what follows up to the next break. A statement may have one pair of
parentheses that Python needs only where it breaks outside of any brackets: what depends on whether that pair
is there has a kind of its own here. Kinds and rules are those of ``ruff format`` 0.17 (crates/ruff_formatter,
printer/mod.rs), so that it chooses the same breaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

__all__ = ["INDENT", "SOFT", "SPACE", "WIDTH", "Doc", "Kind", "Part", "printed"]

WIDTH: Final = 88
INDENT: Final = 4


class Kind(Enum):
    """What a part of a document does."""

    LINE = auto()  # a break; where it is not used, its text: nothing or a space
    GROUP = auto()  # its own breaks are used together or not at all
    INDENT = auto()  # lines that begin in it are indented
    IF_BROKEN = auto()  # there only if the breaks around it are used
    OPTIONAL_PARENTHESES = auto()  # the one pair, there if its content does not fit without
    BEST_FIT = auto()  # the same, but there only if the content fits with it
    OPTIONAL_LINE = auto()  # a break if the one pair is there, else a space
    MAY_BREAK = auto()  # brackets: to break in them does not call for the one pair


@dataclass(slots=True)
class Part:
    """``kind`` applied to ``parts``."""

    kind: Kind
    parts: Sequence[Doc]


Doc = str | Part

SOFT: Final = Part(Kind.LINE, ("",))
SPACE: Final = Part(Kind.LINE, (" ",))


class _Measure(Enum):
    """Which lines must not be too long for a text to fit."""

    FIRST = auto()
    ALL = auto()
    NONE = auto()  # only where the text ends matters


class _Item(NamedTuple):
    """A document still to be printed, at an indentation, its breaks used or not."""

    indent: int
    broken: bool
    doc: Doc
    measure: _Measure = _Measure.FIRST


def printed(parts: Sequence[Doc], indent: int) -> list[str]:
    """The document as lines, the first and those that follow it indented by ``indent`` columns."""
    return _Printer(indent).lines(parts)


class _Printer:
    """Prints one statement."""

    def __init__(self, indent: int) -> None:
        self.line = " " * indent
        self.indent = indent
        self.parentheses = False  # whether the one optional pair is there
        self.fits_without = False  # whether all that it would hold was measured without it, and fits
        self.measured = False  # whether the rest of this line is known to fit
        self.pending: list[_Item] = []

    def lines(self, parts: Sequence[Doc]) -> list[str]:
        done: list[str] = []
        self._push(parts, self.indent, True)
        while self.pending:
            indent, broken, doc, _ = self.pending.pop()
            if isinstance(doc, str):
                self.line += doc
            elif doc.kind is Kind.LINE and broken:
                done.append(self.line)
                self.line = " " * indent
                self.measured = False
            else:
                self._part(doc, indent, broken)
        return [*done, self.line]

    def _push(self, parts: Sequence[Doc], indent: int, broken: bool) -> None:
        self.pending += [_Item(indent, broken, part) for part in reversed(parts)]

    def _part(self, doc: Part, indent: int, broken: bool) -> None:
        kind, parts = doc.kind, doc.parts
        if kind is Kind.OPTIONAL_LINE:
            parts = (SPACE,) if self.parentheses else (" ",)
        elif kind is Kind.INDENT:
            indent += INDENT
        elif kind is Kind.IF_BROKEN:
            parts = parts if broken else ()
        elif kind is Kind.GROUP:
            broken = self._breaks(parts, indent, broken)
        elif kind is Kind.OPTIONAL_PARENTHESES:
            self.parentheses = broken = self._needs_parentheses(parts, indent, broken)
            parts = _in_parentheses(parts) if broken else parts
        elif kind is Kind.BEST_FIT:
            if self._needs_parentheses(parts, indent, broken):
                self.parentheses = True
                self.parentheses = self._fits(_in_parentheses(parts), indent, True, _Measure.ALL)
            broken = self.parentheses
            parts = _in_parentheses(parts) if broken else parts
        elif kind is Kind.MAY_BREAK and not self.parentheses:
            self.measured = False
        self._push(parts, indent, broken)

    def _breaks(self, parts: Sequence[Doc], indent: int, broken: bool) -> bool:
        """Whether a group must use its breaks."""
        if not broken and self.measured:
            return False
        self.measured = True
        return not self._fits(parts, indent, False, _Measure.FIRST)

    def _needs_parentheses(self, parts: Sequence[Doc], indent: int, broken: bool) -> bool:
        self.parentheses = self.fits_without = False
        self.fits_without = not self._breaks(parts, indent, broken)
        return not self.fits_without

    def _fits(self, parts: Sequence[Doc], indent: int, broken: bool, measure: _Measure) -> bool:
        """Whether these parts and what follows them fit, as far as ``measure`` asks.

        Groups in them have the breaks of the whole used or not. What follows has its own, and the first
        break there that is used ends the line.
        """
        width = len(self.line)
        left = len(self.pending)
        pending = [_Item(indent, broken, part, measure) for part in reversed(parts)]
        while pending or left:
            if not pending:
                left -= 1
                pending.append(self.pending[left])
            indent, broken, doc, measure = pending.pop()
            if isinstance(doc, str):
                width += len(doc)
                if width > WIDTH and measure is not _Measure.NONE:
                    return False
                continue
            kind, parts = doc.kind, doc.parts
            if kind is Kind.OPTIONAL_LINE:
                parts = (SPACE,) if self.parentheses else (" ",)
            elif kind is Kind.LINE and broken:
                if measure is _Measure.FIRST:
                    return True
                width = indent
                continue
            elif kind is Kind.INDENT:
                indent += INDENT
            elif kind is Kind.IF_BROKEN and not broken:
                continue
            elif kind is Kind.OPTIONAL_PARENTHESES and broken:
                parts = _in_parentheses(parts)
            elif kind is Kind.MAY_BREAK and not broken and not self.parentheses:
                if self.fits_without:  # so what follows its break was measured with the whole
                    return True
                broken, measure = True, _Measure.NONE
            pending += [_Item(indent, broken, part, measure) for part in reversed(parts)]
        return True


def _in_parentheses(parts: Sequence[Doc]) -> Sequence[Doc]:
    return ("(", Part(Kind.INDENT, (SOFT, *parts)), SOFT, ")")
