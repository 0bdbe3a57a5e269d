"""The texts of a code base, each once, with all that is known of its launches: ported and proved.

Input: files and the launches of a run. Output: a ``ProvedText`` for each text, as soon as it is done. A launch of
some kernels of a file (``triton.read(path, kernel_names=...)``) is one of the file's text, with the name of the
kernel. Texts are ported on all processors; without Triton they are ported and not proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytriton.legacy.extract import kernels_of, read
from pytriton.port.jobs.gather import gather
from pytriton.port.package.texts import text_of_file
from pytriton.port.parallel import each
from pytriton.port.ported import PortedText, observed_texts, port_text
from pytriton.port.read.extract import Found, extract
from pytriton.port.run.observations import Observation

if TYPE_CHECKING:
    from pytriton.port.proof import ProvedKernel

__all__ = ["ProvedText", "found_texts", "provable", "proved_texts"]

Seen = tuple[Found, tuple[Observation, ...]]  # a text, and the launches of a run that were of it


class ProvedText(NamedTuple):
    """A text, and what is known of each of its kernels; nothing where Triton is not installed."""

    text: PortedText
    proofs: tuple[ProvedKernel, ...]


def provable() -> bool:
    """Whether kernels can be proved: that needs torch and triton, all else does not."""
    return find_spec("triton") is not None and find_spec("torch") is not None


def proved_texts(texts: Sequence[Seen], given: Mapping[str, Any]) -> Iterator[ProvedText]:
    """The kernels of the texts, in their order."""

    def work(seen: Seen) -> tuple[Any, ...]:
        text = port_text(seen[0], given, seen[1])
        proofs: tuple[ProvedKernel, ...] = ()
        if provable():
            text, proofs = import_module("pytriton.port.proof").prove_text(text)
        return text.kernels, text.failures, proofs

    for (found, observed), (kernels, failures, proofs) in zip(texts, each(work, texts), strict=True):
        job = gather(found, given)
        yield ProvedText(PortedText(found, job, kernels, failures, observed, given), proofs)


def found_texts(paths: Sequence[Path], root: Path, seen: Sequence[Observation], program: str) -> list[Seen]:
    """All texts in these files, and those that only a run showed."""
    founds = list(_merged(found for path in paths for found in extract(path, root)))
    return list(observed_texts(founds, list(_of_whole_files(paths, seen)), program))


def _merged(founds: Iterable[Found]) -> Iterator[Found]:
    """Each text once, with the launches of all files; it is told to stand where it is launched."""
    groups: dict[str, Found] = {}
    for found in founds:
        key = str(found.text).strip()
        first = groups.setdefault(key, found)
        if first is not found:
            groups[key] = kept = min(first, found, key=_rank)
            other = found if kept is first else first
            kept.launches = [*kept.launches, *other.launches]
            kept.holes = kept.holes or other.holes
    yield from groups.values()


def _rank(found: Found) -> bool:
    """A text that is launched comes before one that is not."""
    return not found.launches


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
