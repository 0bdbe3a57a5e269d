"""A source text and how it is to be translated: what a kernel object knows before any defines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Final

from pytriton import pipeline
from pytriton.pipeline import Translation
from pytriton.runtime.refusals import refusal
from pytriton.source import Source

__all__ = ["KernelText", "caller", "read_source"]

_PACKAGE: Final = str(Path(__file__).resolve().parents[1]) + os.sep


@dataclass(frozen=True, slots=True)
class KernelText:
    """``name`` is shown in messages, ``origin`` says where a string was passed (``my_ops.py:41``)."""

    text: str
    name: str = "<kernel>"
    origin: str | None = None
    kernel: str | None = None
    include_dirs: tuple[str, ...] = ()
    strict_literals: bool = False

    def translate(self, defines: Mapping[str, object], kernel: str | None = None) -> Translation:
        """One module for these defines; raises CompileError."""
        return pipeline.translate(
            self.text,
            defines,
            kernel=kernel or self.kernel,
            name=self.name,
            include_dirs=self.include_dirs,
            strict_literals=self.strict_literals,
        )

    def for_kernel(self, kernel: str | None) -> KernelText:
        """The same text, for another of its kernels; None keeps the choice."""
        return replace(self, kernel=kernel) if kernel else self

    def source(self) -> Source:
        """The text as diagnostics quote it."""
        return Source(self.text, self.name, self.origin)


def read_source(given: object) -> tuple[str, str | None]:
    """The text, and the file's name if a path was given. Only an ``os.PathLike`` is a path."""
    if isinstance(given, os.PathLike):
        path = Path(given)
        return _decoded(path.read_bytes(), path.name), path.name
    if isinstance(given, bytes):
        return _decoded(given, "<kernel>"), None
    if isinstance(given, str):
        return given, None
    raise refusal(
        f"the source is {type(given).__name__}, which is no text",
        "TC515",
        "give a str, bytes, or a pathlib.Path",
    )


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{name}: byte {error.start} is no UTF-8", "TC515") from error


def caller() -> str | None:
    """``file.py:41``: the innermost line outside this package that led here."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if not os.path.realpath(path).startswith(_PACKAGE):
            return f"{os.path.basename(path)}:{frame.f_lineno}"
        frame = frame.f_back
    return None
