"""Sources in Python files, for the commands ``translate`` and ``gradient``, with defines from their launches.

``printed_text`` is the first source that a file launches, or the one that declares a kernel; of a sweep the first
values. What the file leaves open (``TYPE=x.dtype``) is what ``port`` would try first, and ``guessed`` names it.
``derived_kernels`` has a line for each kernel of a folder: what its backward derives, or the code that refuses it.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytriton.errors import CompileError
from pytriton.gradient.derive.derive import derivable
from pytriton.port.jobs.gather import Job, gather
from pytriton.port.jobs.points import points_of
from pytriton.port.jobs.translations import Translations
from pytriton.port.ported import found_texts
from pytriton.port.read.extract import HOLE, UNREAD, extract, files
from pytriton.settings import Settings
from pytriton.source import Source

_DECLARED: Final = re.compile(r"\bvoid\s+(\w+)\s*\(")


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
        """The chosen defines as command-line options."""
        pairs = [name if value is True else f"{name}={value}" for name, value in self.defines.items()]
        options = " ".join(f"-D {shlex.quote(pair)}" for pair in pairs)
        shown = f"the text of {', '.join(self.kernels)}" if self.kernels else "this text"
        note = f"{self.place}: note: {shown}, with {options or 'no defines'}"
        if self.guessed:
            note += f"; the file leaves {' and '.join(self.guessed)} open"
        return note + (f"; --kernel also knows {', '.join(self.others)}" if self.others else "")


def printed_text(path: Path, kernel: str | None, overrides: Mapping[str, Any]) -> PrintedText:
    """The source in a file that declares this kernel, else the first.

    Raises OSError where the file cannot be read, and LookupError, with a message, where it has no such source.
    """
    jobs = [gather(extracted, overrides) for extracted in extract(path, path.parent)]
    declared = [(job, tuple(_DECLARED.findall(job.text))) for job in jobs]
    chosen = [pair for pair in declared if kernel in pair[1]] if kernel else declared
    if not chosen:
        available = sorted({name for _, names in declared for name in names})
        raise LookupError(
            f"no kernel '{kernel}' here, only {', '.join(available)}" if available else "no Triton-C in it"
        )
    job, kernels = next((pair for pair in chosen if any(use.line for use in pair[0].uses)), chosen[0])
    defines, guessed = _defines_of_job(job, kernel)
    others = [name for _, names in declared for name in names if name not in kernels]
    kernels = tuple(str(defines.get(name, name)) for name in kernels)
    place = f"{path}:{job.extracted.text.line_at(0)}"
    return PrintedText(
        job.text, place, kernels, {**defines, **overrides}, guessed, tuple(dict.fromkeys(others))
    )


def _defines_of_job(job: Job, kernel: str | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The defines of the first launch, and which of them are guesses."""
    use = next((use for use in job.uses if use.kernel == kernel), job.uses[0])
    named = use.kernel if kernel is None or kernel in {*use.fixed, *use.swept, *use.open} else kernel
    translations = Translations(Source(job.text), Settings(named, strict_literals=use.strict))
    point = next(points_of(use, job.text, translations))
    return dict(translations.mentioned(point)), tuple(name for name in use.open if name in point)


def derived_kernels(folder: Path, overrides: Mapping[str, Any]) -> Iterator[str]:
    """The lines, and last how many kernels derive; each source occurs once, where it is launched."""
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for extracted, _ in found_texts(list(files([folder])), folder.resolve(), [], ""):
        if extracted.problem == UNREAD:
            continue  # a launch, of a source that is listed by itself
        job = gather(extracted, overrides)
        place = f"{extracted.path}:{extracted.text.line_at(0)}"
        for name in ["a text"] if HOLE in job.text else _DECLARED.findall(job.text):
            verdict, code = "its source is only known at run time", "not known"
            if HOLE not in job.text:
                defines, _ = _defines_of_job(job, name)
                name = str(defines.get(name, name))
                settings = Settings(name, strict_literals=job.uses[0].strict)
                verdict, code = _verdict(job.text, {**defines, **overrides}, settings)
            line = f"{place}: {name}: {verdict}"
            if line not in seen:
                seen.add(line)
                counts[code] += 1
                yield line
    codes = [f"{code}: {count}" for code, count in sorted(counts.items()) if code != "derive"]
    yield ", ".join([f"{counts.total()} kernels", f"derive: {counts['derive']}", *codes])


def _verdict(text: str, defines: Mapping[str, Any], settings: Settings) -> tuple[str, str]:
    """The gradients that a kernel derives, or why not; and the code of the refusal."""
    single = {name: value[0] if isinstance(value, list) else value for name, value in defines.items()}
    try:
        forward = derivable(Source(text), single, settings)
    except CompileError as error:
        first = error.diagnostics[0]
        return f"{first.code}: {first.message}", first.code
    names = [", ".join(symbol.name for symbol in some) for some in (forward.inputs, forward.outputs)]
    return f"differentiates {names[1]} with respect to {names[0]}", "derive"
