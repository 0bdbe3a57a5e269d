"""Puts comments on statements.

Comments come in text order, and so do statements. Each statement takes those that stand before its first
character, and those at the end of its last line; what is left before a closing brace becomes a remark.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytriton.lang.tokens import Comment
from pytriton.source import Span


class CommentCursor:
    """Walks once through the comments of one source."""

    def __init__(self, comments: Sequence[Comment], span: Span) -> None:
        self._comments = [c for c in comments if c.span.source is span.source]
        self._taken = 0

    def skip(self, offset: int) -> None:
        """Drop what stands before an offset: comments of other kernels."""
        self.above(offset)

    def above(self, offset: int) -> tuple[str, ...]:
        """The comments before an offset that were not taken yet."""
        lines: list[str] = []
        while self._taken < len(self._comments):
            comment = self._comments[self._taken]
            if comment.span.start >= offset:
                break
            lines += _lines(comment.text)
            self._taken += 1
        return tuple(lines)

    def after(self, span: Span) -> tuple[str, ...]:
        """The comments that stand after a span on the line where it ends."""
        if self._taken >= len(self._comments):
            return ()
        comment = self._comments[self._taken]
        text, start, end = span.source.text, span.end, comment.span.start
        if comment.own_line or end < start or text.find("\n", start, end) >= 0:
            return ()
        between = text[start:end]
        if any(char not in " \t\r;,)" for char in between):
            return ()
        lines = _lines(comment.text)
        if len(lines) > 1:
            return ()
        self._taken += 1
        return tuple(lines)


def _lines(text: str) -> list[str]:
    """The lines of a comment without their decoration (``*`` and blanks)."""
    lines = [
        line.strip().lstrip("*").strip() if i else line.strip() for i, line in enumerate(text.splitlines())
    ]
    lines = [line.lstrip("/!*").strip() if not i else line for i, line in enumerate(lines)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines
