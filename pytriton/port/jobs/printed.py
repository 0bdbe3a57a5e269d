"""A Python file -> the Triton-C text in it that a command prints, with defines that the file launches it with.

Input: the path, the name of a kernel or None, and the defines of the command line, which win. Output: the first
text that the file launches, or the one that declares that kernel; of a sweep the first values. What the file leaves
open (``TYPE=x.dtype``) is what ``port`` would try first, and ``guessed`` names it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytriton.errors import CompileError
from pytriton.pipeline import Translation
from pytriton.port.jobs.gather import Job, gather
from pytriton.port.jobs.points import points_of
from pytriton.port.jobs.translations import Translations
from pytriton.port.read.extract import extract
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["DECLARED", "PrintedText", "defines_of_job", "printed_text"]

DECLARED: Final = re.compile(r"\bvoid\s+(\w+)\s*\(")


@dataclass(frozen=True)
class PrintedText:
    """A text, its kernels, and the defines to print it with; ``others`` are the kernels of other texts."""

    text: str
    place: str  # file:line
    kernels: tuple[str, ...]
    defines: Mapping[str, Any]
    guessed: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def note(self) -> str:
        """What was chosen, as options that can be typed."""
        pairs = [name if value is True else f"{name}={value}" for name, value in self.defines.items()]
        given = " ".join(f"-D {shlex.quote(pair)}" for pair in pairs)
        shown = f"the text of {', '.join(self.kernels)}" if self.kernels else "this text"
        note = f"{self.place}: note: {shown}, with {given or 'no defines'}"
        if self.guessed:
            note += f"; the file leaves {' and '.join(self.guessed)} open"
        return note + (f"; --kernel also knows {', '.join(self.others)}" if self.others else "")


def printed_text(path: Path, kernel: str | None, given: Mapping[str, Any]) -> PrintedText:
    """The text of a file that declares this kernel, else the first.

    Raises OSError where the file cannot be read, and LookupError, with a message, where it has no such text.
    """
    jobs = [gather(found, given) for found in extract(path, path.parent)]
    declared = [(job, tuple(DECLARED.findall(job.text))) for job in jobs]
    chosen = [pair for pair in declared if kernel in pair[1]] if kernel else declared
    if not chosen:
        known = sorted({name for _, names in declared for name in names})
        raise LookupError(
            f"no kernel '{kernel}' here, only {', '.join(known)}" if known else "no Triton-C in it"
        )
    job, kernels = next((pair for pair in chosen if any(use.line for use in pair[0].uses)), chosen[0])
    defines, guessed = defines_of_job(job, kernel)
    others = [name for _, names in declared for name in names if name not in kernels]
    kernels = tuple(str(defines.get(name, name)) for name in kernels)
    place = f"{path}:{job.found.text.line_at(0)}"
    return PrintedText(job.text, place, kernels, {**defines, **given}, guessed, tuple(dict.fromkeys(others)))


def defines_of_job(job: Job, kernel: str | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The defines of the first launch, and which of them are only tried."""
    use = next((use for use in job.uses if use.kernel == kernel), job.uses[0])
    named = use.kernel if kernel is None or kernel in {*use.fixed, *use.swept, *use.open} else kernel
    translations = Translations(Source(job.text), Settings(named, strict_literals=use.strict))

    def translator(values: Mapping[str, Any], _: str | None, __: bool) -> Translation | CompileError:
        return translations(translations.mentioned(values))

    point = next(points_of(use, job.text, translator))
    return dict(translations.mentioned(point)), tuple(name for name in use.open if name in point)
