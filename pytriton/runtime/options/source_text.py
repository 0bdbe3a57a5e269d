"""A source text and how it is to be translated: what a kernel object knows before any defines."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pytriton.errors import LaunchError, Report, not_a_text
from pytriton.lang.tokens import decode
from pytriton.pipeline import Translation, translate_as
from pytriton.runtime.errors import caller
from pytriton.runtime.options.defines import Config
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["KernelText", "read_source"]


@dataclass(frozen=True, slots=True)
class KernelText:
    """A text, and what is asked of its translation beside a config."""

    source: Source
    settings: Settings = field(default_factory=Settings)

    def translate(
        self,
        config: Config,
        *,
        checked: bool = False,
        part: Literal["", "inspector", "executor"] = "",
        on_cpu: bool = False,
        traced: bool = False,
    ) -> Translation:
        """One module for a config; raises CompileError. ``checked``: with memory checks, without descriptors and
        copies of operands."""
        settings = replace(
            self.settings,
            precision=config.precision,
            fast_math=config.fast_math,
            swizzle=0 if checked else config.swizzle,  # program ids are told to the user as they come
            num_stages=config.num_stages,
            descriptors=config.descriptors and not checked,
            packed=config.packed and not checked,
            checked=checked,
            part=part,
            on_cpu=on_cpu,
            traced=traced,
        )
        return translate_as(self.source, config.defines, settings)

    def for_kernel(self, kernel: str | None) -> KernelText:
        """The same text, for another of its kernels; None keeps the choice."""
        return replace(self, settings=replace(self.settings, kernel=kernel)) if kernel else self


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
    raise LaunchError(not_a_text(given))


def _shown_caller() -> str:
    path, line = caller()
    return f"{os.path.basename(path)}:{line}"
