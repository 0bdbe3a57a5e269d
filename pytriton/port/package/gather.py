"""The texts of a package, each once, with all that is known of its launches: what is ported.

Input: the files of a package and the launches of a run. Output: a ``PortedText`` for each text. A launch of some
kernels of a file (``triton.read(path, kernel_names=...)``) is one of the file's text, with the name of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytriton.legacy.extract import kernels_of, read
from pytriton.port.package.texts import text_of_file
from pytriton.port.ported import PortedText, observed_texts, port_text
from pytriton.port.read.extract import Found, extract
from pytriton.port.run.observations import Observation

__all__ = ["ported_texts"]


def ported_texts(
    paths: Sequence[Path], root: Path, seen: Sequence[Observation], program: str, given: Mapping[str, Any]
) -> list[PortedText]:
    """All texts in these files."""
    founds = list(_merged(found for path in paths for found in extract(path, root)))
    whole = list(_of_whole_files(paths, seen))
    return [port_text(found, given, observed) for found, observed in observed_texts(founds, whole, program)]


def _merged(founds: Iterable[Found]) -> Iterator[Found]:
    """Each text once, with the launches of all files."""
    groups: dict[str, Found] = {}
    for found in founds:
        first = groups.setdefault(str(found.text).strip(), found)
        if first is not found:
            first.launches = [*first.launches, *found.launches]
            first.holes = first.holes or found.holes
    yield from groups.values()


def _of_whole_files(paths: Sequence[Path], seen: Sequence[Observation]) -> Iterator[Observation]:
    """The launches, with the text of the whole file where only some of its kernels were read."""
    wholes: dict[str, tuple[str, str]] = {}
    for path in paths:
        text = text_of_file(path)
        if text is not None:
            for kernel in kernels_of(text):
                wholes[read(path, [kernel]).strip()] = text, kernel
    for observation in seen:
        found = wholes.get(observation.text.strip())
        if found is None or observation.said["kernel"] is not None:
            yield observation
        else:
            said = {**observation.said, "text": found[0], "kernel": found[1]}
            yield replace(observation, text=found[0], said=said)
