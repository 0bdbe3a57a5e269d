"""A folder -> a line for each kernel in its files: what its backward derives, or the code that refuses it.

The defines are those of the first launch that the Python shows, as ``jobs/printed.py`` finds them. Launches have
rules of their own (TC750 and on): a line says what can be said of a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytriton.errors import CompileError
from pytriton.gradient.derive.derive import derivable
from pytriton.port.jobs.gather import gather
from pytriton.port.jobs.printed import DECLARED, defines_of_job
from pytriton.port.package.gather import found_texts
from pytriton.port.read.scan import files
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["derived_kernels"]


def derived_kernels(folder: Path, given: Mapping[str, Any]) -> Iterator[str]:
    """The lines, and last how many kernels derive; each text stands once, where it is launched."""
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for found, _ in found_texts(list(files([folder])), folder.resolve(), [], ""):
        job = gather(found, given)
        place = f"{found.path}:{found.text.line_at(0)}"
        for name in ["a text"] if job.problem else DECLARED.findall(job.text):
            verdict, code = "its source is only known at run time", "not known"
            if job.problem is None:
                defines, _ = defines_of_job(job, name)
                name = str(defines.get(name, name))
                settings = Settings(name, strict_literals=job.uses[0].strict)
                verdict, code = _verdict(job.text, {**defines, **given}, settings)
            line = f"{place}: {name}: {verdict}"
            if line not in seen:
                seen.add(line)
                counts[code] += 1
                yield line
    codes = [f"{code}: {count}" for code, count in sorted(counts.items()) if code != "derive"]
    yield ", ".join([f"{counts.total()} kernels", f"derive: {counts['derive']}", *codes])


def _verdict(text: str, defines: Mapping[str, Any], settings: Settings) -> tuple[str, str]:
    """What is said of a kernel, and the code that refuses it."""
    single = {name: value[0] if isinstance(value, list) else value for name, value in defines.items()}
    try:
        forward = derivable(Source(text), single, settings)
    except CompileError as error:
        first = error.diagnostics[0]
        return f"{first.code}: {first.message}", first.code
    names = [", ".join(symbol.name for symbol in some) for some in (forward.inputs, forward.outputs)]
    return f"derives {names[1]} by {names[0]}", "derive"
