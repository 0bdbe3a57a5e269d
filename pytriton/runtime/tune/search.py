"""One question of a sweep, answered: by what earlier processes measured, and by measuring what is missing.

The user's points come first; then pytriton tries variants of its own on the best few (``sweep/variants.py``). What
is known already is not measured again, except the best of it, to which the new points are compared in the
same minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch

from pytriton.runtime.errors import warn_once
from pytriton.runtime.launch.descriptors import describes
from pytriton.runtime.options.defines import Config
from pytriton.runtime.sweep.candidate import Candidate
from pytriton.runtime.sweep.sweep import Sweep
from pytriton.runtime.sweep.variants import best_few, own_points
from pytriton.runtime.tune.benchmark import WRONG, Launch
from pytriton.runtime.tune.progress import Progress
from pytriton.runtime.tune.record import Found, Question, code_of, keep, recall

__all__ = ["PlanSettings", "Tuning"]

Launches = Callable[[Sequence[Candidate], Progress], list[Launch]]
Times = Callable[[Sequence[Launch], float | None, Progress], dict[Candidate, float | str]]


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the constructor says beside the text and the sweep."""

    tune_key: tuple[str, ...] = ()
    tune_budget: float | None = None  # seconds
    device: torch.device | None = None  # of a call that passes addresses only
    tune_fully: bool = False  # try pytriton's own points where the user has no sweep, too
    precision: object = "ieee"  # of float @ float; a list is one more axis of the sweep
    strict_promises: bool = False  # refuse launches that break one
    only_named_key: bool = False  # as under torch.compile, where integers alone call for no new tuning
    legacy: bool = False  # made inside a legacy package: launches are no changes for autograd


class Tuning:
    """``launches`` compiles candidates and says how each is launched; those that cannot be are dropped."""

    def __init__(
        self, sweep: Sweep, settings: PlanSettings, question: Question | None, launches: Launches
    ) -> None:
        self._sweep = sweep
        self._settings = settings
        self._question = question
        self._launches = launches
        self._found: dict[Config, Found] = {}
        self._unkept: dict[Config, str] = {}  # reasons that may not hold the next time
        self._launched: list[Launch] = []
        if question is not None:
            self._found = self._recalled(question)

    def is_answered(self) -> bool:
        """Whether nothing is left to be measured."""
        return bool(self._times()) and not self._missing() and not self._missing_variants()

    def best(self) -> Config:
        """The fastest point that is known; there must be one."""
        times = self._times()
        return min(times, key=times.__getitem__)

    def timings(self) -> dict[Config, float | str]:
        """Each point that was tried: its milliseconds, or the reason why it has none."""
        measured = {config: found.time for config, found in self._found.items()}
        return {**self._sweep.reasons(), **measured, **self._unkept}

    def any_launched(self) -> Candidate:
        """What serves where nothing could be measured."""
        return self._launched[0].candidate

    def measure(self, times: Times) -> Config | None:
        """Measure what is missing, and keep it; None if nothing can be measured. Raises TuneError."""
        started, budget = time.perf_counter(), self._settings.tune_budget
        progress = Progress(self._sweep.first.translation.kernel, self._sweep.configs)
        first = self._missing() or list(self._sweep.configs)
        if len(self._sweep.configs) == 1:
            first += self._missing_variants()
        self._measure(first, times, budget, progress)
        variants = self._missing_variants() if len(self._sweep.configs) > 1 else []
        if variants:
            left = None if budget is None else max(0.0, budget - time.perf_counter() + started)
            self._measure(variants, times, left, progress)
        if self._question is not None:
            self._keep(self._question)
        if not self._times():
            return None
        best = self.best()
        progress.end(best, self._times()[best], self._question)
        return best

    def _measure(
        self, configs: Iterable[Config], times: Times, budget: float | None, progress: Progress
    ) -> None:
        """Measure these points beside the best few of those that are known."""
        known = [self._sweep.made(config) for config in best_few(self._times())]
        new = [made for config in configs if (made := self._sweep.candidate(config)) is not None]
        launches = self._launches([*known, *(each for each in new if each not in known)], progress)
        if not launches:
            if self._launched:
                return
            self._sweep.refuse_all()
        self._launched += launches
        for config in self._sweep.dropped:
            self._found.pop(config, None)
        launched = {launch.candidate for launch in launches}
        for each in new:
            if each not in launched and each.config not in self._sweep.dropped:
                self._found[each.config] = Found("it launches nothing: a zero in its grid")
        if not launched.difference(known):
            return
        for candidate, found in times(launches, budget, progress).items():
            if isinstance(found, float) or found.endswith(f"[{WRONG}]"):
                self._found[candidate.config] = Found(found, code_of(candidate.translation.text))
                if isinstance(found, str):
                    warn_once(f"{candidate.translation.kernel}: {candidate.config} is dropped: it {found}")
            elif candidate.config not in self._found:
                self._unkept[candidate.config] = found

    # What is known.

    def _recalled(self, question: Question) -> dict[Config, Found]:
        """What earlier processes found, if the best of it is still the code that it was."""
        found = recall(question, self._sweep.every_point())
        times = {config: one.time for config, one in found.items() if isinstance(one.time, float)}
        if times:
            best = min(times, key=times.__getitem__)
            made = self._sweep.candidate(best)
            if made is None or code_of(made.translation.text) != found[best].code:
                return {}
        return found

    def _keep(self, question: Question) -> None:
        dropped = {
            config: Found(why)
            for config, why in self._sweep.reasons().items()
            if isinstance(why, str) and self._sweep.is_lasting(config)
        }
        found = {**dropped, **self._found}
        if found:
            keep(question, found)

    def _times(self) -> dict[Config, float]:
        return {config: one.time for config, one in self._found.items() if isinstance(one.time, float)}

    def _missing(self) -> list[Config]:
        """The user's points of which nothing is known."""
        return [config for config in self._sweep.configs if not self._is_known(config)]

    def _missing_variants(self) -> list[Config]:
        """Pytriton's own variants of the best few points, as far as nothing is known of them."""
        users = frozenset(self._sweep.configs)
        if len(users) == 1:
            few: Sequence[Config] = self._sweep.configs if self._settings.tune_fully else ()
        else:
            few = best_few({config: found for config, found in self._times().items() if config in users})
        wanted = (point for config in few for point in self._variants(config))
        return [point for point in wanted if not self._is_known(point)]

    def _variants(self, config: Config) -> list[Config]:
        translation = self._sweep.made(config).translation
        points = own_points(config, translation, translation.traits.pipelined and describes())
        return [point for point in points if not point.descriptors or self._gains(point)]

    def _gains(self, point: Config) -> bool:
        """Whether descriptors may make a point faster. The programs' order does not enter that."""
        if self._is_known(point):
            return True
        made = self._sweep.candidate(replace(point, remap=0))
        return made is not None and any(each.feeds for each in made.translation.traits.described)

    def _is_known(self, config: Config) -> bool:
        return config in self._found
