"""Files and the launches of a run -> the ported kernels of each source in them.

Input: texts with their launches (read/extract.py) and the launches of a run (run/observations.py). Output: for
each text its ``PortedText``: the ported kernels, what could not be ported and why. A text with holes cannot be
translated as it was read: each text that the run made of it is ported in its place. What the run launched and
reading did not find becomes a text of its own; a launch of some kernels of a file
(``triton.read(path, kernel_names=...)``) is one of the file's text, with the name of the kernel.

Texts are ported on all processors. Each is translated hundreds of times in pure Python, so threads would not help:
child processes are forked, which have the texts already, and only results travel back.
"""

from __future__ import annotations

import copyreg
import itertools
import multiprocessing
import os
import re
import threading
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pytriton.fold.join import RULES
from pytriton.legacy.sources import kernels_of, read
from pytriton.pipeline import Translation
from pytriton.port.jobs.folds import Failure, Unportable
from pytriton.port.jobs.gather import WORDS, Job, Use, gather
from pytriton.port.jobs.points import points_of
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.port.read.extract import Found, extract, text_of_file
from pytriton.port.run.observations import Observation, Seen, completed, strangers
from pytriton.settings import Settings
from pytriton.source import Source

MAX_POINTS: Final = 2400  # of one launch

Sets = dict[str | None, list[DefineSet]]  # by the kernel that a launch names


@dataclass(frozen=True, eq=False)
class PortedText:
    """One text. ``failures``: for each kernel that is not ported, why its define sets cannot be translated.

    ``observed`` are the launches of a run that were of this text.
    """

    found: Found
    job: Job
    kernels: tuple[PortedKernel, ...]
    failures: Mapping[str, tuple[Failure, ...]]
    observed: tuple[Observation, ...] = ()

    @property
    def strict(self) -> bool:
        """Whether its literals without a suffix are doubles."""
        return _is_strict(self.job, self.observed)

    @property
    def source(self) -> Source:
        """The text with a name in place of each hole."""
        return Source(self.job.text, self.found.path.name)


def provable() -> bool:
    """Whether kernels can be proved: that needs torch and triton, all else does not."""
    return find_spec("triton") is not None and find_spec("torch") is not None


def port_texts(texts: Sequence[Seen], given: Mapping[str, Any]) -> Iterator[PortedText]:
    """The kernels of the texts, in their order. ``given`` are defines of the command line."""
    _work[:] = [lambda seen: port_text(seen[0], seen[1], given), texts]
    try:
        for (found, observed), (kernels, failures) in zip(texts, _each(len(texts)), strict=True):
            yield PortedText(found, gather(found, given), kernels, failures, observed)
    finally:
        _work.clear()


def port_text(
    found: Found, observed: Sequence[Observation], given: Mapping[str, Any]
) -> tuple[tuple[PortedKernel, ...], dict[str, tuple[Failure, ...]]]:
    """The kernels of a text, proved where Triton is installed, and the failures of the others."""
    job = gather(found, given)
    kernels: dict[str, tuple[PortedKernel, ...]] = {}
    failures: dict[str, tuple[Failure, ...]] = {}
    if job.problem is not None and not job.uses:
        return (), failures
    translations = _OfKernels(Source(job.text, found.path.name), _is_strict(job, observed))
    sets = _sets(job, translations, observed, given)
    pending = list(sets)
    while pending:
        name = pending.pop(0)
        try:
            ported = _proved(found, sets[name], name, translations)
        except Unportable as error:
            failures[name or ""] = error.failures
            continue
        kernels.setdefault(name or ported[0].kernel or "", ported)
        for other in _other_kernels(ported):
            if other not in sets and other not in kernels:
                sets[other] = [one for some in sets.values() for one in some]
                pending.append(other)
    return tuple(itertools.chain(*kernels.values())), failures


def _is_strict(job: Job, observed: Sequence[Observation]) -> bool:
    return any(use.strict for use in job.uses) or any(one.said["strict"] for one in observed)


class _OfKernels(dict[str | None, Translations]):
    """The translations of one text, by the kernel that a launch names."""

    def __init__(self, source: Source, strict: bool) -> None:
        super().__init__()
        self.source = source
        self._strict = strict

    def __missing__(self, kernel: str | None) -> Translations:
        self[kernel] = Translations(self.source, Settings(kernel, strict_literals=self._strict))
        return self[kernel]


def _proved(
    found: Found, sets: Sequence[DefineSet], name: str | None, translations: _OfKernels
) -> tuple[PortedKernel, ...]:
    """One kernel of a text; narrowed to what is proved, if that can be. Raises Unportable."""
    function = f"{re.sub(r'[^0-9A-Za-z]+', '_', found.path.stem)}_kernel"
    own = translations[name]

    def ported(rules: Collection[str]) -> tuple[PortedKernel, ...]:
        return port_kernel(translations.source, name, sets, function=function, translations=own, rules=rules)

    if not provable():
        return ported(RULES)
    proved: tuple[PortedKernel, ...] = import_module("pytriton.port.prove").proved_kernels(ported, own)
    return proved


def _other_kernels(ported: Sequence[PortedKernel]) -> Iterator[str]:
    """The kernels of the text that these are not."""
    translations = [variant.translation for kernel in ported for variant in kernel.variants]
    own = {translation.kernel for translation in translations}
    yield from sorted({name for translation in translations for name in translation.kernels} - own)


def _sets(
    job: Job, translations: _OfKernels, observed: Sequence[Observation], given: Mapping[str, Any]
) -> Sets:
    """The define sets of all launches, read and observed, by the kernel that they name."""
    sets: Sets = {}
    for use in job.uses:
        if observed and (not use.line or _guessed(use)):
            continue  # the run has shown what reading could only guess
        for point in itertools.islice(points_of(use, job.text, translations[use.kernel]), MAX_POINTS):
            swept = len(use.points) > 1 or any(len(values) > 1 for values in use.swept.values())
            sets.setdefault(use.kernel, []).append(DefineSet(point, "read", swept))
    for observation in observed:
        said = observation.said
        swept = len(said["points"]) > 1 or isinstance(said["num_warps"], list)
        for defines in observed_defines(observation):
            own = sets.setdefault(said["kernel"], [])
            own.append(DefineSet(defines, "observed", swept))
            if given:
                own.append(DefineSet({**defines, **given}, "read", swept))
    return _resolved(sets, translations)


def _guessed(use: Use) -> bool:
    """Whether some of the defines of a launch, beside types, can only be tried."""
    return use.dark is not None or any(value.kind != "dtype" for value in use.open.values())


def _resolved(sets: Sets, translations: _OfKernels) -> Sets:
    """The sets that name no kernel, with those that name the first one."""
    named = [name for name in sets if name is not None]
    if None not in sets or not named:
        return sets
    for one in sets[None]:
        values = {name: _first(value) for name, value in one.defines.items()}
        translation = translations[None](values)
        if isinstance(translation, Translation) and translation.kernel in named:
            sets[translation.kernel] += sets.pop(None)
            break
    return sets


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) and value else value


def observed_defines(observation: Observation) -> Iterator[dict[str, Any]]:
    """The defines of a launch that was seen; of a sweep over configs, those of each."""
    defines = {name: _value(value) for name, value in observation.said["defines"].items()}
    points = [point for point, _ in observation.said["points"]] or [{}]
    for point in points:
        yield {name: _value(value) for name, value in point.items()} | defines


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return WORDS[value["dtype"]]
    return [_value(item) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- the texts of the files and of a run


def found_texts(paths: Sequence[Path], root: Path, seen: Sequence[Observation], program: str) -> list[Seen]:
    """All texts in these files, and those that only a run showed."""
    founds = list(_merged(found for path in paths for found in extract(path, root)))
    return list(_observed_texts(founds, list(_of_whole_files(paths, seen)), program))


def _merged(founds: Iterable[Found]) -> Iterator[Found]:
    """Each text once, with the launches of all files; as that of the file that launches it."""
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


def _observed_texts(founds: Sequence[Found], seen: Sequence[Observation], program: str) -> Iterator[Seen]:
    """The texts to port, each with the launches that were seen of it; see the head of this file."""
    made: dict[str, Seen] = {}
    for found in founds:
        text = str(found.text).strip()
        own = tuple(one for one in seen if one.text.strip() == text)
        filled = completed(found, seen, program) if "\ue000" in found.text else []
        for one in filled:
            made.setdefault(str(one[0].text), one)
        part = not own and not found.launches and any(text in other.text for other in seen)
        if not filled and not part:
            yield found, own
    for one in strangers(seen, founds, program):
        made.setdefault(str(one[0].text), one)
    yield from made.values()


# ---------------------------------------------------------------- on all processors

_work: Final[list[Any]] = []  # the function and the texts, for children to find


def _proxy(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


copyreg.pickle(MappingProxyType, lambda proxy: (_proxy, (dict(proxy),)))  # translations have some


def _each(texts: int) -> Iterator[Any]:
    """The function of each text; here where there is no ``fork``, other threads are running, or one text only."""
    count = min(texts, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    if count < 2 or not forks:
        yield from map(_one, range(texts))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside native threads
        with multiprocessing.get_context("fork").Pool(count) as pool:
            yield from pool.imap(_one, range(texts), chunksize=1)


def _one(number: int) -> Any:
    function, texts = _work
    return function(texts[number])
