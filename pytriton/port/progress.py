"""What is being worked on, shown on a terminal and replaced by what comes next; elsewhere nothing."""

from __future__ import annotations

import shutil
import sys

__all__ = ["Progress"]


class Progress:
    """A line at the end of the terminal. Erase it (``progress("")``) before anything else is printed."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\033[K{text[:width]}")
            sys.stderr.flush()
