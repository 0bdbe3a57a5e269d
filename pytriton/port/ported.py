"""A text that was found -> its ported kernels, for all define sets that were read in the code or observed in a run.

Input: texts with their launches (read/extract.py) and the launches of a run (run/observations.py). Output: for
each text its ``PortedText``: the ported kernels, what could not be ported and why. A text with holes cannot be
translated as it was read: each text that the run made of it is ported in its place. What the run launched and
nothing read becomes a text of its own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytriton.errors import CompileError
from pytriton.fold.join import RULES
from pytriton.pipeline import Translation
from pytriton.port.jobs.gather import WORDS, Job, Use, gather
from pytriton.port.jobs.points import points_of
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, Failure, PortedKernel, Unportable, port_kernel
from pytriton.port.read.extract import Found
from pytriton.port.run.observations import Observation, completed, strangers
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["PortedText", "observed_defines", "observed_texts", "port_text"]

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
    given: Mapping[str, Any] = field(default_factory=dict)  # defines of the command line

    @property
    def source(self) -> Source:
        """The text with a name in place of each hole."""
        return Source(self.job.text, self.found.path.name)


def port_text(
    found: Found,
    given: Mapping[str, Any],
    observed: Sequence[Observation] = (),
    rules: Collection[str] = RULES,
) -> PortedText:
    """The kernels of a text. ``given`` are defines of the command line; ``observed`` launches of this text.

    ``rules``: what Triton is trusted to drop where it changes nothing (fold/join.py).
    """
    job = gather(found, given)
    if job.problem is not None and not job.uses:
        return PortedText(found, job, (), {}, tuple(observed), given)
    translator = _Translator(Source(job.text, found.path.name), any(use.strict for use in job.uses))
    sets = _sets(job, translator, observed)
    function = f"{re.sub(r'[^0-9A-Za-z]+', '_', found.path.stem)}_kernel"
    kernels: dict[str, tuple[PortedKernel, ...]] = {}
    failures: dict[str, tuple[Failure, ...]] = {}
    pending = list(sets)
    while pending:
        name = pending.pop(0)
        try:
            ported = port_kernel(
                translator.source,
                name,
                sets[name],
                function=function,
                translations=translator.of(name),
                rules=rules,
            )
        except Unportable as error:
            failures[name or ""] = error.failures
            continue
        kernels.setdefault(name or ported[0].kernel or "", ported)
        for other in _other_kernels(ported):
            if other not in sets and other not in kernels:
                sets[other] = [one for some in sets.values() for one in some]
                pending.append(other)
    return PortedText(found, job, tuple(itertools.chain(*kernels.values())), failures, tuple(observed), given)


def _other_kernels(ported: Sequence[PortedKernel]) -> Iterator[str]:
    """The kernels of the text that these are not."""
    translations = [variant.translation for kernel in ported for variant in kernel.variants]
    own = {translation.kernel for translation in translations}
    yield from sorted({name for translation in translations for name in translation.kernels} - own)


def _sets(job: Job, translator: _Translator, observed: Sequence[Observation]) -> Sets:
    """The define sets of all launches, read and observed, by the kernel that they name."""
    sets: Sets = {}
    for use in job.uses:
        if observed and (not use.line or _guessed(use)):
            continue  # the run has shown what reading could only guess
        for point in itertools.islice(points_of(use, job.text, translator), MAX_POINTS):
            swept = len(use.points) > 1 or any(len(values) > 1 for values in use.swept.values())
            sets.setdefault(use.kernel, []).append(DefineSet(point, "read", swept))
    for observation in observed:
        said = observation.said
        swept = len(said["points"]) > 1 or isinstance(said["num_warps"], list)
        for defines in observed_defines(observation):
            sets.setdefault(said["kernel"], []).append(DefineSet(defines, "observed", swept))
    return _resolved(sets, translator)


def _guessed(use: Use) -> bool:
    """Whether some of the defines of a launch, beside types, can only be tried."""
    return use.dark is not None or any(value.kind != "dtype" for value in use.open.values())


class _Translator:
    """The translations of one text, by the kernel that is asked for."""

    def __init__(self, source: Source, strict: bool) -> None:
        self.source = source
        self.strict = strict
        self._of: dict[str | None, Translations] = {}

    def of(self, kernel: str | None) -> Translations:
        if kernel not in self._of:
            settings = Settings(kernel, strict_literals=self.strict)
            self._of[kernel] = Translations(self.source, settings)
        return self._of[kernel]

    def __call__(
        self, values: Mapping[str, Any], kernel: str | None, strict: bool
    ) -> Translation | CompileError:
        translations = self.of(kernel)
        return translations(translations.mentioned(values))


def _resolved(sets: Sets, translator: _Translator) -> Sets:
    """The sets that name no kernel, with those that name the first one."""
    named = [name for name in sets if name is not None]
    if None not in sets or not named:
        return sets
    for one in sets[None]:
        values = {name: _first(value) for name, value in one.defines.items()}
        translation = translator(values, None, False)
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


# ---------------------------------------------------------------- what a run adds


def observed_texts(
    founds: Sequence[Found], seen: Sequence[Observation], program: str
) -> Iterator[tuple[Found, tuple[Observation, ...]]]:
    """The texts to port, each with the launches that were seen of it; see the head of this file."""
    known: list[Observation] = []
    completed_texts: dict[str, Found] = {}
    for found in founds:
        if "\ue000" in found.text:
            for filled in completed(found, seen, program):
                completed_texts.setdefault(str(filled.text), filled)
    made = [str(text) for text in completed_texts]
    for found in founds:
        text = str(found.text).strip()
        own = tuple(one for one in seen if one.text.strip() == text)
        known += own
        if "\ue000" in found.text and completed(found, seen, program):
            continue
        if not own and not found.launches and any(text in other.text for other in seen):
            continue  # a part of a text that was launched
        yield found, own
    for found in completed_texts.values():
        own = tuple(one for one in seen if one.text == str(found.text))
        known += own
        yield found, own
    for found in strangers(
        [one for one in seen if one not in known and one.text not in made], founds, program
    ):
        yield found, tuple(one for one in seen if one.text == str(found.text))
