"""Which candidate of a sweep serves a call: the only one, a pinned or remembered one, or the fastest.

Input: a call whose *key* is new, that is the device, and the values of those arguments that call for new
tuning. Output: the candidate that serves this key from now on, and ``timings``, what was found of each point. The
first of these that answers decides: ``PYTRITON_REPLAY``, the other ranks, what earlier processes measured, a
measurement.

A measurement takes the user's points first; then pytriton tries variants of its own on the best few
(``sweep/variants.py``). What is known already is not measured again, except the best of it, to which the new
points are compared in the same minute.

Invariants: one key is tuned at a time, and once; where measuring is forbidden, what serves instead is not
remembered. A point that cannot be translated, compiled or launched is in ``Sweep.dropped``; any other that was
tried is in the ``Record``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from pytriton.errors import PytritonError
from pytriton.lang.tree.types import PointerType
from pytriton.runtime.compile.triton_cache import usable_cache
from pytriton.runtime.errors import warn_once
from pytriton.runtime.launch.arguments import Bound
from pytriton.runtime.launch.constants import Constants
from pytriton.runtime.launch.descriptors import describes
from pytriton.runtime.locks import Lock, check_not_forked
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import PlanSettings
from pytriton.runtime.sweep.candidate import CPU, Candidate
from pytriton.runtime.sweep.sweep import Sweep
from pytriton.runtime.sweep.variants import best_few, own_points
from pytriton.runtime.tune.benchmark import WRONG, may_measure
from pytriton.runtime.tune.measure import Call, grid_of, launches_of, measure
from pytriton.runtime.tune.progress import Progress
from pytriton.runtime.tune.ranks import agree, agreed
from pytriton.runtime.tune.record import Found, Question, ask, code_of, keep, pin, pinned, recall, replaying

__all__ = ["Record", "Tuner"]


@dataclass(slots=True)
class Record:
    """What is known of the points for one key. ``passing`` are reasons that may not hold the next time."""

    found: dict[Config, Found] = field(default_factory=dict)
    passing: dict[Config, str] = field(default_factory=dict)
    launched: Candidate | None = None  # the first that could be: it serves where nothing can be measured

    def times(self) -> dict[Config, float]:
        """The milliseconds of those points that have any."""
        return {config: point.time for config, point in self.found.items() if isinstance(point.time, float)}

    def best(self) -> Config | None:
        """The fastest point that is known."""
        times = self.times()
        return min(times, key=times.__getitem__, default=None)


class Tuner:
    """Chooses among the candidates of a sweep.

    ``timings`` maps each config that was tried to its milliseconds, or to the reason why it has none.
    ``bind`` checks a call's arguments for a candidate; ``key_positions`` says which of them call for new
    tuning.
    """

    def __init__(
        self,
        sweep: Sweep,
        settings: PlanSettings,
        constants: Constants,
        key_positions: Sequence[int],
        bind: Callable[[Candidate, Sequence[Any]], Bound],
    ) -> None:
        self._sweep = sweep
        self._settings = settings
        self._constants = constants
        self._key_positions = key_positions
        self._bind = bind
        self._lock = Lock()
        self.known: dict[tuple[Any, ...], Candidate] = {}
        self.only = sweep.first if len(sweep.configs) == 1 and not settings.tune_fully else None
        self.best_config: Config | None = self.only.config if self.only else None
        self.timings: Mapping[Config, float | str] = MappingProxyType(sweep.reasons())

    def choose(
        self, key: tuple[Any, ...], device: int, arguments: Sequence[Any], grid: Any
    ) -> Candidate | None:
        """The candidate for a new key; None where the grid has a zero in it.

        Raises TuneError where no candidate is left, or where the one that is pinned cannot serve.
        """
        with self._lock:
            if key in self.known:
                return self.known[key]
            chosen: Candidate | None = self._sweep.first
            if device != CPU:  # there the interpreter runs, and its speed says nothing
                check_not_forked(self._sweep.first.translation.kernel)
                usable_cache()
                call = Call(device, arguments, grid, self._constants, self._bind)
                measuring = may_measure() and not self._prints()
                question = self._question(key, call) if measuring or replaying() else None
                chosen = None if question is None else self._pinned(question, call)
                if chosen is None and not measuring:
                    return self._first_that_compiles(call)
                chosen = chosen or self._tuned(question, call)
            if chosen is not None:
                self.known[key] = chosen
                self.best_config = chosen.config
            return chosen

    def _prints(self) -> bool:
        """Whether each launch prints something, so that no point of the sweep is launched to be measured."""
        first = self._sweep.first.translation
        if first.prints:
            warn_once(
                f"{first.kernel} is not tuned, as it calls printf: the first point that compiles serves"
            )
        return bool(first.prints)

    def _question(self, key: tuple[Any, ...], call: Call) -> Question | None:
        """What is asked of earlier processes; None where an address decides, which the next one will not
        have."""
        first = self._sweep.first
        parameters = [first.binder.parameters[position] for position in self._key_positions]
        if any(isinstance(parameter.type, PointerType) for parameter in parameters):
            return None
        values = dict(zip([parameter.name for parameter in parameters], key[1:], strict=True))
        kernel = first.translation.kernel
        specialization = call.specialization(first)
        return ask(self._sweep.text, kernel, self._sweep.configs, call.device, values, specialization)

    def _pinned(self, question: Question, call: Call) -> Candidate | None:
        """The candidate that the user's file pins; raises what stands against launching it."""
        choice = pinned(question, self._sweep.every_point())
        if choice is None:
            return None
        candidate = self._sweep.candidate(choice)
        candidate.kernel_on(call.device, call.specialization(candidate))
        return candidate

    def _first_that_compiles(self, call: Call) -> Candidate:
        for candidate in self._sweep.translated():
            specialization = call.specialization(candidate)
            try:
                candidate.kernel_on(call.device, specialization)
            except PytritonError as error:
                self._sweep.dropped[candidate.config] = error
            else:
                self.best_config = candidate.config
                return candidate
        self._sweep.refuse_all()

    def _tuned(self, question: Question | None, call: Call) -> Candidate | None:
        """The fastest, of what earlier processes measured and of what is measured now; one for all ranks."""
        points = self._sweep.every_point()
        if question is not None:
            common = agreed(question, points)
            if common is not None and self._still_serves(common, call):
                return self._sweep.candidate(common)
        record = Record() if question is None else self._recalled(question)
        best = None if self._missing(record) or self._missing_variants(record) else record.best()
        if best is None or not self._still_serves(best, call):
            first_sizes = grid_of(self._sweep.first, call.grid)
            if first_sizes is None:
                return None
            call.asked[self._sweep.first] = first_sizes
            self._fill(record, question, call)
            best = record.best()
        times = {config: point.time for config, point in record.found.items()}
        self.timings = MappingProxyType({**self._sweep.reasons(), **times, **record.passing})
        if best is None:
            return record.launched
        if question is not None:
            common = agree(question, points, best)
            best = common if self._still_serves(common, call) else best
            pin(question, best)
        return self._sweep.candidate(best)

    def _still_serves(self, config: Config, call: Call) -> bool:
        try:
            candidate = self._sweep.candidate(config)
            candidate.kernel_on(call.device, call.specialization(candidate))
        except PytritonError:
            return False
        return True

    # Measuring.

    def _fill(self, record: Record, question: Question | None, call: Call) -> None:
        """Measure what is missing, and keep it. Raises TuneError where no candidate is left."""
        started, budget = time.perf_counter(), self._settings.tune_budget
        progress = Progress(self._sweep.first.translation.kernel, self._sweep.configs)
        points = self._missing(record) or list(self._sweep.configs)
        if len(self._sweep.configs) == 1:
            points += self._missing_variants(record)
        self._measure(points, record, call, budget, progress)
        variants = self._missing_variants(record) if len(self._sweep.configs) > 1 else []
        if variants:
            left = None if budget is None else max(0.0, budget - time.perf_counter() + started)
            self._measure(variants, record, call, left, progress)
        if question is not None:
            self._keep(question, record)
        best = record.best()
        if best is not None:
            progress.end(best, record.times()[best], question)

    def _measure(
        self, configs: Iterable[Config], record: Record, call: Call, budget: float | None, progress: Progress
    ) -> None:
        """Measure these points beside the best few of those that are known."""
        sweep = self._sweep
        known = [sweep.candidate(config) for config in best_few(record.times())]
        new = [candidate for config in configs if (candidate := sweep.candidate_or_drop(config)) is not None]
        asked = [*known, *(candidate for candidate in new if candidate not in known)]
        launches = launches_of(asked, sweep, call, progress)
        if not launches:
            if record.launched is None:
                sweep.refuse_all()
            return
        record.launched = record.launched or launches[0].candidate
        for config in sweep.dropped:
            record.found.pop(config, None)
        launched = {launch.candidate for launch in launches}
        for candidate in new:
            if candidate not in launched and candidate.config not in sweep.dropped:
                record.found[candidate.config] = Found("it launches nothing: a zero in its grid")
        if not launched.difference(known):
            return
        for candidate, result in measure(launches, sweep, call, budget, progress).items():
            config, translation = candidate.config, candidate.translation
            if isinstance(result, float) or result.endswith(f"[{WRONG}]"):
                record.found[config] = Found(result, code_of(translation.text))
                if isinstance(result, str):
                    warn_once(f"{translation.kernel}: {config} is dropped: it {result}")
            elif config not in record.found:
                record.passing[config] = result

    # What is known, and what is missing.

    def _recalled(self, question: Question) -> Record:
        """What earlier processes found, if the best of it is still the code that it was."""
        record = Record(recall(question, self._sweep.every_point()))
        best = record.best()
        if best is not None:
            candidate = self._sweep.candidate_or_drop(best)
            if candidate is None or code_of(candidate.translation.text) != record.found[best].code:
                return Record()
        return record

    def _keep(self, question: Question, record: Record) -> None:
        dropped = {
            config: Found(reason)
            for config, reason in self._sweep.reasons().items()
            if self._sweep.is_lasting(config)
        }
        if dropped or record.found:
            keep(question, {**dropped, **record.found})

    def _missing(self, record: Record) -> list[Config]:
        """The user's points of which nothing is known."""
        return [config for config in self._sweep.configs if config not in record.found]

    def _missing_variants(self, record: Record) -> list[Config]:
        """Pytriton's own variants of the best few points, as far as nothing is known of them."""
        users = self._sweep.configs
        if len(users) == 1:
            bases: Sequence[Config] = users if self._settings.tune_fully else ()
        else:
            times = record.times()
            bases = best_few({config: times[config] for config in times if config in frozenset(users)})
        variants = (point for config in bases for point in self._variants(config, record))
        return [point for point in variants if point not in record.found]

    def _variants(self, config: Config, record: Record) -> list[Config]:
        translation = self._sweep.candidate(config).translation
        points = own_points(config, translation, translation.traits.pipelined and describes())
        return [point for point in points if not point.descriptors or self._gains(point, record)]

    def _gains(self, point: Config, record: Record) -> bool:
        """Whether descriptors may make a point faster. The programs' order does not enter that."""
        if point in record.found:
            return True
        candidate = self._sweep.candidate_or_drop(replace(point, swizzle=0))
        return candidate is not None and any(tile.feeds for tile in candidate.translation.traits.described)
