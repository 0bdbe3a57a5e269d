"""A source text and how it is to be translated: what a kernel object knows before any defines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytriton.errors import Report
from pytriton.lang.tokens import decode
from pytriton.pipeline import Translation, translate
from pytriton.runtime.origin import caller
from pytriton.runtime.refusals import refusal
from pytriton.source import Source

__all__ = ["KernelText", "read_source"]


@dataclass(frozen=True, slots=True)
class KernelText:
    """The arguments of ``translate``, less the defines. ``kernel`` picks one kernel of several."""

    source: Source
    kernel: str | None = None
    include_dirs: tuple[str, ...] = ()
    strict_literals: bool = False
    without_promises: tuple[str, ...] = ()  # parameters whose promises a launch broke

    def translate(
        self,
        defines: Mapping[str, object],
        precision: str = "ieee",
        remap: int = 0,
        num_stages: int | None = None,
        descriptors: bool = False,
    ) -> Translation:
        """One module for these defines; raises CompileError."""
        return translate(
            self.source,
            defines,
            kernel=self.kernel,
            include_dirs=self.include_dirs,
            strict_literals=self.strict_literals,
            precision=precision,
            remap=remap,
            num_stages=num_stages,
            descriptors=descriptors,
            without_promises=self.without_promises,
        )

    def for_kernel(self, kernel: str | None) -> KernelText:
        """The same text, for another of its kernels; None keeps the choice."""
        return replace(self, kernel=kernel) if kernel else self


def read_source(given: object, name: str | None) -> Source:
    """What a user gave as source: text, bytes, or a path. Only an ``os.PathLike`` is a path.

    A text without a name says where it was passed. Raises OSError for a path that cannot be read.
    """
    if isinstance(given, os.PathLike):
        path = Path(given)
        return decode(path.read_bytes(), name or str(path), Report())
    origin = None if name else _shown_caller()
    if isinstance(given, bytes):
        return replace(decode(given, name or "<kernel>", Report()), origin=origin)
    if isinstance(given, str):
        return Source(given, name or "<kernel>", origin)
    raise refusal(
        f"the source is of type {type(given).__name__}, which is no text",
        "TC515",
        "give a str, bytes, or a pathlib.Path",
    )


def _shown_caller() -> str:
    path, line = caller()
    return f"{os.path.basename(path)}:{line}"
