"""Which candidate serves a call: the only one, the first legal one, a pinned or remembered one, or the fastest.

A call on a sweep asks here once for each *key*: the device, and the values of those arguments that call for new
tuning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import torch

from pytriton.errors import PytritonError
from pytriton.lang.types import PointerType
from pytriton.runtime.arguments import Bound
from pytriton.runtime.candidate import CPU, Candidate
from pytriton.runtime.constants import Constants
from pytriton.runtime.launch import Grid, sizes_of
from pytriton.runtime.levers import best_few, own_points
from pytriton.runtime.locks import Lock
from pytriton.runtime.options import Config
from pytriton.runtime.record import Answer, Question, ask, keep, pin, pinned, recall, replaying
from pytriton.runtime.sweep import Sweep
from pytriton.runtime.tune import Launch, compile_all, may_measure, time_all
from pytriton.runtime.written import Saved, save

__all__ = ["Chooser", "PlanSettings", "grid_of", "written_by"]


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the constructor says beside the text and the sweep."""

    tune_key: tuple[str, ...] = ()
    tune_budget: float | None = None  # seconds
    device: torch.device | None = None  # of a call that passes addresses only
    tune_fully: bool = False  # try pytriton's own points where the user has no sweep, too
    precision: object = "ieee"  # of float @ float; a list is one more axis of the sweep


class Chooser:
    """Chooses among the candidates of a sweep.

    ``timings`` maps each config that was tried to its milliseconds, or to the reason why it has none.
    ``bind`` checks a call's arguments for a candidate; ``key_positions`` says which of them call for new tuning.
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
        """The candidate for a new key; None where the grid has a zero in it."""
        with self._lock:
            if key in self.known:
                return self.known[key]
            if device == CPU:
                chosen = self._sweep.first  # the interpreter's speed says nothing
            else:
                measuring = may_measure()
                question = self._question(key, device) if measuring or replaying() else None
                known = None if question is None else self._known(question, device, arguments)
                if known is None and not measuring:
                    return self._first_that_compiles(device, arguments)
                timed = known or self._measured(device, arguments, grid, question)
                if timed is None:
                    return None
                chosen = timed
            self.known[key] = chosen
            self.best_config = chosen.config
            return chosen

    def _question(self, key: tuple[Any, ...], device: int) -> Question | None:
        """What is asked of earlier processes; None where an address decides, which the next one will not have."""
        asked = [self._sweep.first.binder.parameters[position] for position in self._key_positions]
        if any(isinstance(parameter.type, PointerType) for parameter in asked):
            return None
        arguments = dict(zip([parameter.name for parameter in asked], key[1:], strict=True))
        full = self._settings.tune_fully
        return ask(
            self._sweep.text, self._sweep.first.translation, self._sweep.configs, full, device, arguments
        )

    def _known(self, question: Question, device: int, arguments: Sequence[Any]) -> Candidate | None:
        """The candidate that is pinned, or that an earlier process found to be the best."""
        points = self._sweep.every_point()
        choice = pinned(question, points)
        answer = recall(question, points) if choice is None and may_measure() else None
        choice = choice if answer is None else answer.best
        if choice is None:
            return None
        try:
            found = self._sweep.made(choice)
            found.kernel_on(device, self._bind(found, arguments)[1])
        except PytritonError:
            if answer is None:
                raise  # it is pinned
            return None
        if answer is not None:
            self.timings = MappingProxyType(dict(answer.timings))
            pin(question, choice)
        return found

    def _first_that_compiles(self, device: int, arguments: Sequence[Any]) -> Candidate:
        for candidate in self._sweep.translated():
            _, facts, _ = self._bind(candidate, arguments)
            try:
                candidate.kernel_on(device, facts)
            except PytritonError as error:
                self._sweep.dropped[candidate.config] = error
            else:
                self.best_config = candidate.config
                return candidate
        self._sweep.refuse_all()

    def _measured(
        self, device: int, arguments: Sequence[Any], grid: Any, question: Question | None
    ) -> Candidate | None:
        """Compile, measure and compare all candidates, then pytriton's own variants of the best."""
        first_sizes = grid_of(self._sweep.first, grid)
        if first_sizes is None:
            return None
        asked = {self._sweep.first: first_sizes}
        launches = self._launches(self._sweep.translated(), device, arguments, grid, asked)
        if not launches:
            self._sweep.refuse_all()
        started = time.perf_counter()
        budget = self._settings.tune_budget
        times = self._times(launches, arguments, device, budget)
        few = self._best_few(times)
        own = self._launches(self._own_candidates(few), device, arguments, grid, {})
        if own:
            left = None if budget is None else max(0.0, budget - time.perf_counter() + started)
            again = [launch for launch in launches if launch.candidate in few]
            times |= self._times([*again, *own], arguments, device, left)
        self.timings = MappingProxyType(self._sweep.reasons() | {each.config: t for each, t in times.items()})
        measured = {each: t for each, t in times.items() if isinstance(t, float)}
        if not measured:
            return launches[0].candidate
        best = min(measured, key=measured.__getitem__)
        if question is not None:
            keep(question, Answer(best.config, self.timings))
            pin(question, best.config)
        return best

    def _best_few(self, times: Mapping[Candidate, float | str]) -> Sequence[Candidate]:
        """The points on which pytriton tries its own variants; none where the user has no sweep, unless asked."""
        if len(self._sweep.configs) == 1:
            return [self._sweep.first] if self._settings.tune_fully else []
        return best_few({each: t for each, t in times.items() if isinstance(t, float)})

    def _own_candidates(self, few: Sequence[Candidate]) -> list[Candidate]:
        found = [
            self._sweep.candidate(point)
            for each in few
            for point in own_points(each.config, each.translation)
        ]
        return [each for each in found if each is not None]

    def _launches(
        self,
        candidates: Sequence[Candidate],
        device: int,
        arguments: Sequence[Any],
        grid: Any,
        asked: Mapping[Candidate, Grid],
    ) -> list[Launch]:
        """What can be launched of these candidates, compiled; the others are dropped.

        ``asked``: grids that are known, as a callable is called once a candidate.
        """
        bound = {each: self._bind(each, arguments) for each in candidates}
        jobs: list[tuple[Candidate, Callable[[], object]]] = [
            (each, partial(each.kernel_on, device, facts)) for each, (_, facts, _) in bound.items()
        ]
        launches: list[Launch] = []
        for each, error in compile_all(jobs).items():
            values, facts, _ = bound[each]
            if error is not None:
                self._sweep.dropped[each.config] = error
                continue
            sizes = asked.get(each) or grid_of(each, grid)
            if sizes is not None:
                launches.append(Launch(each, device, sizes, values, facts))
        return launches

    def _times(
        self, launches: Sequence[Launch], arguments: Sequence[Any], device: int, budget: float | None
    ) -> dict[Candidate, float | str]:
        candidates = [launch.candidate for launch in launches]
        if len(launches) == 1:
            return {candidates[0]: "the only one left: not measured"}
        saved = self.save_written(candidates, arguments, device)
        if saved is None:
            return dict.fromkeys(candidates, "not measured: what it writes cannot be restored")
        times = time_all(launches, saved, budget)
        return {each: "over the budget" if t is None else t for each, t in times.items()}

    def save_written(
        self, candidates: Sequence[Candidate], arguments: Sequence[Any], device: int
    ) -> Saved | None:
        written = written_by(candidates, arguments)
        if any(candidate.translation.strays for candidate in candidates):
            return None
        for candidate in candidates:
            for buffer in candidate.binder.buffers:
                if buffer.name in candidate.translation.writes:
                    written.append(self._constants.on(device, buffer.name, buffer.buffer))
        return save(written, device)


def grid_of(candidate: Candidate, grid: Any) -> Grid | None:
    """The three sizes that a user's grid means for a candidate; None where there is nothing to launch."""
    return sizes_of(grid, candidate.options, candidate.translation.kernel)


def written_by(candidates: Sequence[Candidate], arguments: Sequence[Any]) -> list[Any]:
    """The arguments through which one of these candidates writes; constant buffers stand behind them."""
    positions = {
        candidate.binder.position(name) for candidate in candidates for name in candidate.translation.writes
    }
    return [arguments[position] for position in range(len(arguments)) if position in positions]
