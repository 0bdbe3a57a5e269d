"""Chooses the candidate of a sweep for a call: the only one, a pinned or stored one, or the fastest.

Input: a call whose *key* is new: the device, and the values of those arguments that require new tuning. Output:
the candidate for this key from now on, and ``timings``, the result of each config. The first of these that has
an answer decides: ``PYTRITON_REPLAY``, the other ranks, what earlier processes measured, a
measurement.

A measurement is a race (``race.py``). Where pytriton has variants of its own to try (``tuning/sweep.py``), there
are three: a short one of the user's configs, a short one of its finalists and of the best with other stages, and
one of the finalists of that and of the best in other orders. Known results are not measured again, except the best
of them, which race against the new configs. The last race alone chooses.

Invariants: one key is tuned at a time, and once; where measuring is forbidden, the replacement is not
remembered. A config that cannot be translated, compiled or launched is in ``Sweep.dropped``; any other that was
tried is in the ``Record``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from pytriton.errors import PytritonError
from pytriton.lang.tree.types import PointerType
from pytriton.runtime.compile.compiler import usable_cache
from pytriton.runtime.errors import LOG, remark, warn_once
from pytriton.runtime.launch.buffers import CPU, Constants
from pytriton.runtime.launch.candidate import Bind, Candidate, Launch, grid_of
from pytriton.runtime.launch.device import describes
from pytriton.runtime.locks import Lock, check_not_forked
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText, PlanSettings
from pytriton.tuning.benchmark import WRONG, Deadline, bench, may_measure
from pytriton.tuning.display import Progress
from pytriton.tuning.measure import TunedCall, measure, save_written
from pytriton.tuning.race import MAX_ROUNDS, SCREENING
from pytriton.tuning.record import (
    Question,
    Record,
    Timing,
    agreed,
    ask,
    code_of,
    keep,
    pin,
    pinned,
    recall,
    replaying,
)
from pytriton.tuning.sweep import (
    BEST_FEW,
    HOPELESS,
    LEAST_COPIED,
    STAGED,
    Sweep,
    copied,
    fastest,
    ordered,
    own_points,
    staged,
)

_NOTHING: Final = "it launches nothing: a zero in its grid"


class Tuner:
    """Chooses among the candidates of a sweep.

    ``timings`` maps each config that was tried to its milliseconds (``Time``), or to the reason why it has none.
    ``bind`` checks a call's arguments for a candidate; ``key_positions`` are those that require new
    tuning.
    """

    def __init__(
        self,
        sweep: Sweep,
        settings: PlanSettings,
        constants: Constants,
        key_positions: Sequence[int],
        bind: Bind,
    ) -> None:
        self._sweep = sweep
        self._settings = settings
        self._constants = constants
        self._key_positions = key_positions
        self._bind = bind
        self._lock = Lock()
        self.chosen: dict[tuple[Any, ...], Candidate] = {}
        self.only = sweep.first if len(sweep.configs) == 1 and not settings.tune_fully else None
        self.best_config: Config | None = self.only.config if self.only else None
        self.timings: Mapping[Config, float | str] = MappingProxyType(sweep.reasons())

    def choose(
        self, key: tuple[Any, ...], device: int, arguments: Sequence[Any], grid: Any
    ) -> Candidate | None:
        """The candidate for a new key; None where the grid has a zero in it.

        Raises TuneError where no candidate is left, or where the pinned one cannot be launched.
        """
        with self._lock:
            if key in self.chosen:
                return self.chosen[key]
            chosen: Candidate | None = self._sweep.first
            if device != CPU:  # there the interpreter runs, and its speed is irrelevant
                check_not_forked(self._sweep.first.translation.kernel)
                usable_cache()
                call = TunedCall(device, arguments, grid, self._constants, self._bind, self._settings.scratch)
                measuring = may_measure() and not self._prints()
                question = self._question(key, call) if measuring or replaying() else None
                chosen = None if question is None else self._pinned(question, call)
                if chosen is None and not measuring:
                    return self._first_that_compiles(call)
                chosen = chosen or self._tuned(question, call)
            if chosen is not None:
                self.chosen[key] = chosen
                self.best_config = chosen.config
                LOG.info("%s: %s, for %s", chosen.translation.kernel, chosen.config, key)
            return chosen

    def bench(self, launch: Launch, arguments: Sequence[Any], repetitions: int) -> int:
        """Launch once, and measure: the best time in nanoseconds."""
        saved = save_written([launch.candidate], arguments, launch.device, self._constants)
        return bench(launch, saved, repetitions)

    def _prints(self) -> bool:
        """Whether each launch prints something, so that no config of the sweep is launched to be measured."""
        first = self._sweep.first.translation
        if first.prints:
            warn_once(
                remark(
                    f"{first.kernel} is not tuned, as it calls printf: the first config that compiles is used",
                    "TC604",
                )
            )
        return bool(first.prints)

    def _question(self, key: tuple[Any, ...], call: TunedCall) -> Question | None:
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

    def _pinned(self, question: Question, call: TunedCall) -> Candidate | None:
        """The candidate that the user's file pins; raises what stands against launching it."""
        choice = pinned(question, self._sweep.every_point())
        return None if choice is None else call.compiled(self._sweep.candidate(choice))

    def _first_that_compiles(self, call: TunedCall) -> Candidate:
        for candidate in self._sweep.translated():
            try:
                call.compiled(candidate)
            except PytritonError as error:
                self._sweep.dropped[candidate.config] = error
            else:
                self.best_config = candidate.config
                return candidate
        self._sweep.refuse_all()

    def _tuned(self, question: Question | None, call: TunedCall) -> Candidate | None:
        """The fastest, of what earlier processes measured and of what is measured now; one for all ranks."""
        points = self._sweep.every_point()
        if question is not None:
            common = agreed(question, points)
            if common is not None and self._still_serves(common, call):
                return self._sweep.candidate(common)
        record = Record() if question is None else self._recalled(question)
        if record.finalists and not self._still_serves(record.finalists[0], call):
            record.finalists.clear()
        if not record.finalists:
            first_sizes = grid_of(self._sweep.first, call.grid)
            if first_sizes is None:
                return None
            call.asked[self._sweep.first] = first_sizes
            self._fill(record, question, call)
        self.timings = MappingProxyType({**self._sweep.reasons(), **record.timings()})
        if not record.finalists:
            return record.launched
        best = record.finalists[0]
        if question is not None:
            common = agreed(question, points, best)
            best = common if common and self._still_serves(common, call) else best
            pin(question, best)
        return self._sweep.candidate(best)

    def _still_serves(self, config: Config, call: TunedCall) -> bool:
        try:
            call.compiled(self._sweep.candidate(config))
        except PytritonError:
            return False
        return True

    # Measuring.

    def _fill(self, record: Record, question: Question | None, call: TunedCall) -> None:
        """Decide the sweep, and keep what was found. Raises TuneError where no candidate is left."""
        users, over = self._sweep.configs, Deadline(self._settings.tune_budget)
        progress = Progress(self._sweep.first.translation.kernel, users)

        def race(configs: Sequence[Config], rounds: int) -> None:
            """Nothing happens where the finalists of an earlier race have no rival, or no time."""
            if configs and not (record.finalists and (len(configs) == 1 or over())):
                self._race(configs, rounds, record, call, progress, over)

        copies = self._on_copies(call)
        missing = self._missing([*users, *copies], record)
        entrants = [*record.best(), *missing] or list(users)
        if len(users) == 1:
            own = [point for point in self._own(self._sweep.first) if copies or not point.packed]
            entrants += self._missing(own, record)
        elif any(map(self._own, self._sweep.translated())):
            for of_best in (self._other_stages, self._other_orders):
                race(entrants, SCREENING)
                entrants = [*record.finalists, *self._missing(of_best(record), record)]
        race(entrants, MAX_ROUNDS)
        if question is not None:
            self._keep(question, record, complete=not (record.passing or over()))
        if record.finalists:
            progress.end(record.finalists, record.times(), question)

    def _race(
        self,
        configs: Sequence[Config],
        rounds: int,
        record: Record,
        call: TunedCall,
        progress: Progress,
        over: Callable[[], bool],
    ) -> None:
        """Race these configs: their times and the finalists are in the record afterwards.

        Raises TuneError where no candidate of any race is left.
        """
        sweep = self._sweep
        drafted = map(sweep.candidate_or_drop, configs)
        entrants: list[Candidate] = [candidate for candidate in drafted if candidate is not None]
        measured = measure(entrants, sweep, call, progress, rounds, over)
        for config in sweep.dropped:
            record.measured.pop(config, None)
        remaining = [candidate for candidate in entrants if candidate.config not in sweep.dropped]
        results = {candidate: measured.results.get(candidate, _NOTHING) for candidate in remaining}
        launched = [candidate for candidate in remaining if results[candidate] != _NOTHING]
        if not launched and record.launched is None:
            sweep.refuse_all()
        record.launched = record.launched or launched[0]
        timed = {candidate.config: results[candidate] for candidate in measured.field}
        record.decide({config: time for config, time in timed.items() if isinstance(time, float)})
        for candidate, result in results.items():
            self._note(record, candidate, result)
        for candidate in launched:
            config = candidate.config
            progress.tell(config, results[candidate], rounds > SCREENING and config in timed)

    def _note(self, record: Record, candidate: Candidate, result: float | str) -> None:
        """Record the result of a candidate."""
        config, translation = candidate.config, candidate.translation
        if isinstance(result, float) or result == _NOTHING or result.endswith(f"[{WRONG}]"):
            record.measured[config] = Timing(result, "" if result == _NOTHING else code_of(translation.text))
        elif config not in record.measured:
            record.passing[config] = result
        if isinstance(result, str) and result.endswith(f"[{WRONG}]"):
            reason = result.removesuffix(f" [{WRONG}]")
            warn_once(remark(f"{translation.kernel}: {config} is dropped: it {reason}", WRONG))

    # Stored and missing measurements.

    def _recalled(self, question: Question) -> Record:
        """The stored record, if the code of its best config is unchanged."""
        record = recall(question, self._sweep.configs, self._sweep.every_point())
        for config in record.best()[:1]:
            candidate = self._sweep.candidate_or_drop(config)
            if candidate is None or code_of(candidate.translation.text) != record.measured[config].code:
                return Record()
        return record

    def _keep(self, question: Question, record: Record, complete: bool) -> None:
        """Store the record; the finalists only if no config remains to be tried."""
        reasons = self._sweep.reasons()
        lasting = {config: Timing(why) for config, why in reasons.items() if self._sweep.is_lasting(config)}
        complete = complete and len(lasting) == len(reasons)
        timings = {**lasting, **record.measured}
        if timings:
            keep(question, timings, self._sweep.configs, record.finalists if complete else ())

    def _missing(self, points: Iterable[Config], record: Record) -> list[Config]:
        """The configs without a measurement that are worth measuring."""
        return [
            point
            for point in points
            if point not in record.measured and (not point.descriptors or self._gains(point))
        ]

    def _own(self, candidate: Candidate) -> Sequence[Config]:
        """All of pytriton's own variants of a config."""
        return own_points(candidate.config, candidate.translation, describes())

    def _on_copies(self, call: TunedCall) -> list[Config]:
        """The user's configs on copies of operands, if the call supports them and they are worth measuring."""
        first, grid = self._sweep.first, call.asked.get(self._sweep.first)
        for point in copied(first.config, first.translation):
            candidate = self._sweep.candidate(point)
            values = call.bind(candidate, call.arguments)[0]
            if grid is not None and candidate.copied(grid, values) >= LEAST_COPIED:
                candidates = self._sweep.translated()
                return [own for other in candidates for own in copied(other.config, other.translation)]
        return []

    def _other_stages(self, record: Record) -> Iterator[Config]:
        """The best of the user's configs with other stages, on copies too."""
        users = frozenset(self._sweep.configs)
        plain = {config: replace(config, packed=False) for config in record.times()}
        times = {config: time for config, time in record.times().items() if plain[config] in users}
        for config in fastest(times, STAGED, HOPELESS):
            yield from staged(config, self._sweep.candidate(config).translation)

    def _other_orders(self, record: Record) -> Iterator[Config]:
        """The best of these in other orders, and with descriptors."""
        times = record.times()
        plain = {config: times[config] for config in times if not config.swizzle and not config.descriptors}
        for config in fastest(plain, BEST_FEW, HOPELESS):
            yield from ordered(config, self._sweep.candidate(config).translation, describes())

    def _gains(self, point: Config) -> bool:
        """Whether descriptors may make a config faster. The programs' order does not enter that."""
        candidate = self._sweep.candidate_or_drop(replace(point, swizzle=0))
        return candidate is not None and any(tile.feeds for tile in candidate.translation.traits.described)


def composed(
    text: KernelText, configs: Sequence[Config], settings: PlanSettings, constants: Constants
) -> tuple[Sweep, Callable[[Sequence[int], Bind], Tuner]]:
    """The candidates of a plan, and what makes the tuner that chooses among them."""
    sweep = Sweep(text, configs)
    return sweep, partial(Tuner, sweep, settings, constants)
