"""How a kernel is refused that has no derivative here: one diagnostic, with the code, the place and the
reason.
"""

from __future__ import annotations

from typing import NoReturn

from pytriton.errors import Report
from pytriton.source import Source, Span

__all__ = ["refuse"]


def refuse(code: str, message: str, where: Span | Source, *notes: str, help: str | None = None) -> NoReturn:
    """Raise an ``UnsupportedError``."""
    Report().fatal(code, message, where, *notes, help=help)
