"""``#include``: only from directories that the caller names, and never out of them.

A kernel source may come from anywhere, so the name it includes is not trusted: no absolute path, no
``..``, and after symbolic links are resolved the file must still lie in the directory that was
given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pytriton.errors import Report
from pytriton.lang.preprocess.macros import join
from pytriton.lang.tokens import MAX_TEXT, Kind, Token, decode
from pytriton.source import Source, Span

MAX_INCLUDE_DEPTH: Final = 32
MAX_FILES: Final = 200


class Includes:
    """Finds included files. As a context manager it counts the depth of includes."""

    def __init__(self, directories: Sequence[str | os.PathLike[str]], report: Report) -> None:
        self.directories = [Path(directory) for directory in directories]
        self.report = report
        self.depth = 0
        self._files = 0
        self._bytes = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1

    def find(self, directive: Token, operand: Sequence[Token]) -> Source | None:
        """The source that ``#include operand`` names; None (and an error) if there is none."""
        where = directive.span.to(operand[-1].span) if operand else directive.span
        name = _file_name(operand)
        if name is None:
            help_ = "write '#include \"file\"'"
            self.report.error("TC143", "#include requires the name of a file", where, help=help_)
            return None
        if not self.directories:
            help_ = "paste its contents, or pass include_dirs"
            if operand[0].text == "<":
                help_ = "remove it: the types and functions of Triton-C need no header"
            message = f"#include of '{name[:80]}', but there are no include directories"
            self.report.error("TC141", message, where, help=help_)
            return None
        if _leaves(name):
            help_ = "name a file below one of the include directories"
            message = f"#include of '{name[:80]}', which leaves the include directories"
            self.report.error("TC141", message, where, help=help_)
            return None
        self._files += 1
        if self.depth >= MAX_INCLUDE_DEPTH or self._files > MAX_FILES:
            message = f"more than {MAX_INCLUDE_DEPTH} nested #includes, or {MAX_FILES} in all"
            self.report.fatal("TC144", message, where)
        return self._read(name, where)

    def _read(self, name: str, where: Span) -> Source | None:
        for directory in self.directories:
            try:
                base = directory.resolve(strict=True)
                path = (base / name).resolve(strict=True)
                if not path.is_file():
                    continue
                if not path.is_relative_to(base):
                    message = f"#include of '{name[:80]}', which leaves the include directories"
                    help_ = "a symbolic link leads out of the include directory"
                    self.report.error("TC141", message, where, help=help_)
                    return None
                with path.open("rb") as file:
                    data = file.read(MAX_TEXT + 1)
            except (OSError, ValueError, RuntimeError):
                continue
            self._bytes += len(data)
            if self._bytes > MAX_TEXT:
                self.report.fatal("TC144", "the included file is larger than 1 MiB", where)
            return decode(data, name, self.report)
        searched = ", ".join(f"'{directory}'" for directory in self.directories)
        message = f"#include of '{name[:80]}', which is in none of the include directories"
        self.report.error("TC142", message, where, help=f"searched in {searched}")
        return None


def _file_name(operand: Sequence[Token]) -> str | None:
    """``"name"`` or ``<name>``."""
    if len(operand) == 1 and operand[0].kind is Kind.STRING:
        return operand[0].text[1:-1] or None
    if len(operand) < 3 or operand[0].text != "<" or operand[-1].text != ">":
        return None
    return join(operand[1:-1])


_DRIVE: Final = re.compile(r"[A-Za-z]:")


def _leaves(name: str) -> bool:
    parts = re.split(r"[/\\]", name)
    return parts[0] == "" or ".." in parts or _DRIVE.match(name) is not None
