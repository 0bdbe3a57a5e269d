"""Files and the launches of a run -> the ported kernels of each source in them.

Input: texts with their launches (read/extract.py) and the launches of a run (run/observations.py). Output: for
each text its ``PortedText``: the ported kernels, what could not be ported and why. A text that is put together
at run time cannot be read: each text that the run made of it is ported in its place. What the run launched and
reading did not find becomes a text of its own; a launch of some kernels of a file
(``triton.read(path, kernel_names=...)``) is one of the file's text, with the name of the kernel.

Texts are ported on all processors. Each is translated hundreds of times in pure Python, so threads would not help:
child processes are forked, which have the texts already, and only results travel back.
"""

from __future__ import annotations

import copyreg
import gc
import itertools
import multiprocessing
import os
import re
import threading
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pytriton.legacy.sources import kernels_of, read
from pytriton.pipeline import Translation
from pytriton.port.jobs.folds import Failure, Unportable
from pytriton.port.jobs.gather import WORDS, Job, gather
from pytriton.port.jobs.integer_arguments import integer_arguments
from pytriton.port.jobs.points import points_of
from pytriton.port.jobs.translations import Translations, normal, products
from pytriton.port.kernels import DefineSet, PortedKernel, constants, known_defines, port_kernel
from pytriton.port.read.extract import HOLE, UNREAD, Found, extract, is_part, text_of_file
from pytriton.port.run.observations import Observation, Seen, strangers
from pytriton.settings import Settings
from pytriton.source import Source

MAX_POINTS: Final = 2400  # of one launch

Sets = dict[str | None, list[DefineSet]]  # by the kernel that a launch names


@dataclass(frozen=True, eq=False)
class PortedText:
    """One kernel source. ``failures``: for each kernel that is not ported, why its define sets cannot be
    translated.

    ``observed`` are the launches of it in a run.
    """

    extracted: Found
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
        """The source."""
        return Source(self.job.text, self.extracted.path.name)


def provable() -> bool:
    """Whether kernels can be verified: only that requires torch and triton."""
    return find_spec("triton") is not None and find_spec("torch") is not None


def port_texts(
    texts: Sequence[Seen], overrides: Mapping[str, Any], simplify: bool = False
) -> Iterator[PortedText]:
    """The kernels of the sources, in their order. ``overrides`` are defines of the command line.

    ``simplify``: a define for which the code of all launches has the same number is not a parameter.
    """
    _work[:] = [lambda seen: port_text(seen[0], seen[1], overrides, simplify), texts]
    try:
        for (extracted, observed), (kernels, failures) in zip(texts, _map_texts(len(texts)), strict=True):
            yield PortedText(extracted, gather(extracted, overrides), kernels, failures, observed)
    finally:
        _work.clear()


def port_text(
    extracted: Found, observed: Sequence[Observation], overrides: Mapping[str, Any], simplify: bool
) -> tuple[tuple[PortedKernel, ...], dict[str, tuple[Failure, ...]]]:
    """The kernels of a source, verified where Triton is installed, and the failures of the others."""
    job = gather(extracted, overrides)
    kernels: dict[str, PortedKernel] = {}
    failures: dict[str, tuple[Failure, ...]] = {}
    if HOLE in job.text:
        return (), failures
    translations = _OfKernels(Source(job.text, extracted.path.name), _is_strict(job, observed))
    sets = _sets(job, translations, observed, overrides)
    written = [{*use.fixed} for use in job.uses if use.line]
    simple = set.intersection(*written) if simplify and written else set[str]()
    pending = list(sets)
    while pending:
        name = pending.pop(0)
        try:
            ported = _proved(extracted, sets[name], translations[name], simple)
        except Unportable as error:
            failures[name or ""] = error.failures
            continue
        kernels.setdefault(name or ported.kernel or "", ported)
        for other in _other_kernels(ported):
            if other not in sets and other not in kernels:
                sets[other] = [member for some in sets.values() for member in some]
                pending.append(other)
    return tuple(kernels.values()), failures


def _is_strict(job: Job, observed: Sequence[Observation]) -> bool:
    return any(use.strict for use in job.uses) or any(
        observation.options["strict"] for observation in observed
    )


class _OfKernels(dict[str | None, Translations]):
    """The translations of one source, by the kernel that a launch names."""

    def __init__(self, source: Source, strict: bool) -> None:
        super().__init__()
        self.source = source
        self._strict = strict

    def __missing__(self, kernel: str | None) -> Translations:
        self[kernel] = Translations(self.source, Settings(kernel, strict_literals=self._strict))
        return self[kernel]


def _proved(
    extracted: Found, sets: Sequence[DefineSet], own: Translations, simple: Collection[str]
) -> PortedKernel:
    """One kernel of a source; narrowed to the verified define sets where possible. Raises Unportable.

    ``simple``: the defines that are not parameters if all sets give them alike.
    """
    function = f"{re.sub(r'[^0-9A-Za-z]+', '_', extracted.path.stem)}_kernel"
    known = [member.defines for member in known_defines(sets, own)]
    fixed = own.with_constants(constants(known, own, simple)) if simple else own
    ported = partial(port_kernel, fixed, sets, function)
    if not provable():
        return ported()
    prove_kernel = import_module("pytriton.port.prove").prove_kernel
    arguments = integer_arguments(known, fixed)
    if arguments is not None:
        general: PortedKernel = prove_kernel(ported(arguments), own)
        if not (general.proof and general.proof.wrong):
            return general
    proved: PortedKernel = prove_kernel(ported(), own)
    return proved


def _other_kernels(ported: PortedKernel) -> Iterator[str]:
    """The other kernels of the source."""
    translations = [variant.translation for variant in ported.variants]
    own = {translation.kernel for translation in translations}
    yield from sorted({name for translation in translations for name in translation.kernels} - own)


def _sets(
    job: Job, translations: _OfKernels, observed: Sequence[Observation], overrides: Mapping[str, Any]
) -> Sets:
    """The define sets of all launches, read and observed, by the kernel that they name."""
    sets: Sets = {}
    seen = [defines for observation in observed for defines in observed_defines(observation)]
    shown = {
        n: value for defines in reversed(seen) for n, value in defines.items() if not isinstance(value, list)
    }
    for use in job.uses:
        if observed and not use.line:
            continue
        own = translations[use.kernel]
        points = points_of(use, job.text, own, shown if observed else None)
        for point in itertools.islice(points, MAX_POINTS):
            if observed and not isinstance(own(point), Translation):
                continue  # no program takes this path
            swept = len(use.points) > 1 or any(len(values) > 1 for values in use.swept.values())
            sets.setdefault(use.kernel, []).append(DefineSet(point, "read", swept))
    for observation in observed:
        options = observation.options
        swept = len(options["points"]) > 1 or isinstance(options["num_warps"], list)
        for defines in observed_defines(observation):
            members = sets.setdefault(options["kernel"], [])
            members.append(DefineSet(defines, "observed", swept))
            if overrides:
                members.append(DefineSet({**defines, **overrides}, "read", swept))
    return _resolved(sets, translations)


def _resolved(sets: Sets, translations: _OfKernels) -> Sets:
    """The sets that name no kernel, with those that name the first one."""
    if len(sets) > 1:
        for member in sets.get(None, ()):
            translation = translations[None](next(products(normal(member.defines))))
            if isinstance(translation, Translation) and translation.kernel in sets:
                sets[translation.kernel] += sets.pop(None)
                break
    return sets


def observed_defines(observation: Observation) -> Iterator[dict[str, Any]]:
    """The defines of an observed launch; for a sweep, those of each config."""
    defines = {name: _value(value) for name, value in observation.options["defines"].items()}
    points = [point for point, _ in observation.options["points"]] or [{}]
    for point in points:
        yield {name: _value(value) for name, value in point.items()} | defines


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return WORDS[value["dtype"]]
    return [_value(item) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- the texts of the files and of a run


def found_texts(paths: Sequence[Path], root: Path, seen: Sequence[Observation], program: str) -> list[Seen]:
    """All sources in these files, and those that were only observed in a run."""
    founds = list(_merged(extracted for path in paths for extracted in extract(path, root)))
    return list(_observed_texts(founds, list(_of_whole_files(paths, seen)), program))


def _merged(founds: Iterable[Found]) -> Iterator[Found]:
    """Each source once, with the launches of all files; preferably from the file that launches it."""
    groups: dict[str, Found] = {}
    for extracted in founds:
        key = str(extracted.text).strip()
        first = groups.setdefault(key, extracted)
        if first is not extracted:
            groups[key] = kept = min(first, extracted, key=lambda text: not text.launches)
            other = extracted if kept is first else first
            kept.launches = [*kept.launches, *other.launches]
    yield from groups.values()


def _of_whole_files(paths: Sequence[Path], seen: Sequence[Observation]) -> Iterator[Observation]:
    """The launches, with the source of the whole file where only some of its kernels were read."""
    wholes: dict[str, tuple[str, str]] = {}
    for path in paths:
        text = text_of_file(path)
        if text is not None:
            for kernel in kernels_of(text):
                wholes[read(path, [kernel]).strip()] = text, kernel
    for observation in seen:
        whole = wholes.get(observation.text.strip())
        named = (
            whole is not None and whole[1] in observation.options["defines"]
        )  # by a define: it is the only one
        if whole is None or named or observation.options["kernel"] is not None:
            yield observation
        else:
            options = {**observation.options, "text": whole[0], "kernel": whole[1]}
            yield replace(observation, text=whole[0], options=options)


def _observed_texts(founds: Sequence[Found], seen: Sequence[Observation], program: str) -> Iterator[Seen]:
    """The sources to port, each with its observed launches; see the head of this file."""
    for extracted in founds:
        if extracted.problem == UNREAD and seen:
            continue  # the run replaces reading
        text = str(extracted.text).strip()
        own = tuple(observation for observation in seen if observation.text.strip() == text)
        if own or extracted.launches or not any(is_part(text, other.text) for other in seen):
            yield extracted, own
    yield from strangers(seen, founds, program)


# ---------------------------------------------------------------- on all processors

_work: Final[list[Any]] = []  # the function and the texts, for children to find


def _proxy(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


copyreg.pickle(MappingProxyType, lambda proxy: (_proxy, (dict(proxy),)))  # translations have some


def _map_texts(texts: int) -> Iterator[Any]:
    """Apply the function to each source; in this process without ``fork``, with other threads, or for one
    source.
    """
    count = min(texts, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="triton")  # its own warnings
        if count < 2 or not forks:
            yield from map(_apply, range(texts))
            return
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork with native threads
        # what a child makes hardly has cycles: they are looked for less often
        with multiprocessing.get_context("fork").Pool(count, gc.set_threshold, [50_000]) as pool:
            yield from pool.imap(_apply, range(texts), chunksize=1)


def _apply(number: int) -> Any:
    function, texts = _work
    return function(texts[number])
