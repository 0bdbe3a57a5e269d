"""The sweep that one set of defines means, and the way of a call through it.

A kernel object makes one plan for each set of defines, ``num_warps`` and ``num_stages`` that it is called
with, and keeps it. A call on a known plan binds its arguments, picks the candidate (the only one, or the one
that was tuned for these argument values), evaluates the grid and launches.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NoReturn

import torch

from pytriton.errors import CompileError, PytritonError, TuneError
from pytriton.lang.types import PointerType, ScalarType
from pytriton.pipeline import Translation
from pytriton.runtime.arguments import Binder, Bound
from pytriton.runtime.candidate import CPU, Candidate
from pytriton.runtime.constants import Constants
from pytriton.runtime.launch import Grid, sizes_of
from pytriton.runtime.levers import best_few, own_points
from pytriton.runtime.options import Config, Options
from pytriton.runtime.origin import warn_once
from pytriton.runtime.record import Answer, Question, ask, keep, pin, pinned, recall, replaying
from pytriton.runtime.refusals import headline, refusal
from pytriton.runtime.text import KernelText
from pytriton.runtime.tune import Launch, bench, compile_all, may_measure, time_all
from pytriton.runtime.written import Saved, save

__all__ = ["Plan", "PlanSettings"]


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the constructor says beside the text and the sweep."""

    tune_key: tuple[str, ...] = ()
    tune_budget: float | None = None  # seconds
    device: torch.device | None = None  # of a call that passes addresses only
    tune_fully: bool = False  # try pytriton's own points where the user has no sweep, too
    precision: object = "ieee"  # of float @ float; a list is one more axis of the sweep


class Plan:
    """All candidates for one set of defines.

    ``timings`` maps each config that was tried to its milliseconds, or to the reason why it has none.
    """

    def __init__(
        self,
        text: KernelText,
        configs: Sequence[Config],
        settings: PlanSettings,
        constants: Constants | None = None,
    ) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can."""
        self._text = text
        self._constants = constants or Constants()
        self._settings = settings
        self._lock = threading.RLock()
        self._binders: dict[tuple[Any, ...], Binder] = {}
        self._best: dict[tuple[Any, ...], Candidate] = {}
        self._dropped: dict[Config, PytritonError] = {}
        self.first = self._first_legal(configs)
        for warning in self.first.translation.warnings:
            warn_once(warning.render())
        self.configs = _distinct(configs, self.first)
        self._candidates = {self.first.config: self.first}
        self._only = self.first if len(self.configs) == 1 and not settings.tune_fully else None
        self._key_positions = self._positions_of_key()
        self.best_config: Config | None = self.first.config if self._only else None
        self.timings: Mapping[Config, float | str] = MappingProxyType(self._reasons())

    def call(self, arguments: Sequence[Any], grid: Any, repetitions: int = 0) -> int | None:
        """Launch once; with ``repetitions`` also measure, and give the best in nanoseconds."""
        values, facts, device = self._bind(self.first, arguments)
        if device is None:
            device = self._device_without_tensors()
        candidate = self._only
        if candidate is None:
            key = (device, *(values[position] for position in self._key_positions))
            candidate = self._best.get(key) or self._choose(key, device, arguments, grid)
            if candidate is None:
                return None
            if candidate.binder is not self.first.binder:
                values, facts, _ = self._bind(candidate, arguments)
        sizes = _sizes(candidate, grid)
        if sizes is None:
            return None
        if repetitions:
            launch = Launch(candidate, device, sizes, values, facts)
            return bench(launch, self._save_written([candidate], arguments, device), repetitions)
        candidate.launch(device, sizes, values, facts)
        return None

    @property
    def chosen(self) -> Candidate:
        """What the last sweep chose; the first candidate where nothing was chosen yet."""
        return self.first if self.best_config is None else self._candidates[self.best_config]

    def written(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments through which the first candidate writes."""
        return _written([self.first], arguments)

    @cached_property
    def written_positions(self) -> tuple[int, ...]:
        """Where the parameters stand through which some candidate writes; constant buffers are none."""
        names = {name for candidate in self._translated() for name in candidate.translation.writes}
        own = self.first.binder.own.parameters
        return tuple(at for at, parameter in enumerate(own) if parameter.name in names)

    def every_candidate(self) -> list[Candidate]:
        """All candidates; raises CompileError if one cannot be translated."""
        found = self._translated()
        if len(found) < len(self.configs):
            raise next(error for error in self._dropped.values() if isinstance(error, CompileError))
        return found

    # Translating.

    def _first_legal(self, configs: Sequence[Config]) -> Candidate:
        for config in configs:
            try:
                return Candidate(self._text, config, self._binder_for)
            except CompileError as error:
                self._dropped[config] = error
        if len({str(error) for error in self._dropped.values()}) == 1:
            raise self._dropped[configs[0]]  # what is wrong is not the sweep
        self._refuse_all()

    def _binder_for(self, translation: Translation) -> Binder:
        key = (translation.kernel, translation.parameters)
        if key not in self._binders:
            self._binders[key] = Binder(translation.kernel, translation.parameters)
        return self._binders[key]

    def _translated(self) -> list[Candidate]:
        """Every candidate that can be translated; the others are dropped."""
        for config in self.configs:
            if config not in self._candidates and config not in self._dropped:
                self._candidate(config)
        return [self._candidates[config] for config in self.configs if config in self._candidates]

    def _candidate(self, config: Config) -> Candidate | None:
        """The candidate of a point; None if it cannot be translated, so that it is dropped."""
        try:
            return self._made(config)
        except CompileError as error:
            self._dropped[config] = error
            return None

    def _made(self, config: Config) -> Candidate:
        """The candidate of a point; raises CompileError. A grid sees one of pytriton's own as the user's."""
        if config not in self._candidates:
            made = Candidate(self._text, config, self._binder_for)
            if config not in self.configs:
                plain = replace(config, remap=0)
                users = plain if plain in self.configs else replace(plain, num_stages=None)
                made.options = Options(users)
            self._candidates[config] = made
        return self._candidates[config]

    def _every_point(self) -> list[Config]:
        """The points of the user's sweep, and those that tuning may add."""
        shape = self.first.translation
        return [*self.configs, *(point for config in self.configs for point in own_points(config, shape))]

    def _positions_of_key(self) -> tuple[int, ...]:
        """Which arguments' values call for new tuning: ``__retune`` and autotune_key, else all integers."""
        integers = (at for at, param in enumerate(self.first.binder.parameters) if _is_integer(param.type))
        return self.named_key or tuple(integers)

    @cached_property
    def named_key(self) -> tuple[int, ...]:
        """Where the parameters stand that ``__retune`` and autotune_key name."""
        binder = self.first.binder
        positions = {at for at, param in enumerate(binder.parameters) if param.retune}
        for name in self._settings.tune_key:
            position = binder.position(name)
            if position is None:
                known = ", ".join(parameter.name for parameter in binder.parameters)
                raise refusal(
                    f"{binder.kernel}: autotune_key names '{name}', which is no parameter",
                    "TC516",
                    f"it has {known}",
                )
            positions.add(position)
        return tuple(sorted(positions))

    # Choosing.

    def _choose(
        self, key: tuple[Any, ...], device: int, arguments: Sequence[Any], grid: Any
    ) -> Candidate | None:
        """The candidate for a new key; None where the grid has a zero in it."""
        with self._lock:
            if key in self._best:
                return self._best[key]
            if device == CPU:
                chosen = self.first  # the interpreter's speed says nothing
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
            self._best[key] = chosen
            self.best_config = chosen.config
            return chosen

    def _question(self, key: tuple[Any, ...], device: int) -> Question | None:
        """What is asked of earlier processes; None where an address decides, which the next one will not have."""
        asked = [self.first.binder.parameters[position] for position in self._key_positions]
        if any(isinstance(parameter.type, PointerType) for parameter in asked):
            return None
        arguments = dict(zip([parameter.name for parameter in asked], key[1:], strict=True))
        full = self._settings.tune_fully
        return ask(self._text, self.first.translation, self.configs, full, device, arguments)

    def _known(self, question: Question, device: int, arguments: Sequence[Any]) -> Candidate | None:
        """The candidate that is pinned, or that an earlier process found to be the best."""
        points = self._every_point()
        choice = pinned(question, points)
        answer = recall(question, points) if choice is None and may_measure() else None
        choice = choice if answer is None else answer.best
        if choice is None:
            return None
        try:
            found = self._made(choice)
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
        for candidate in self._translated():
            _, facts, _ = self._bind(candidate, arguments)
            try:
                candidate.kernel_on(device, facts)
            except PytritonError as error:
                self._dropped[candidate.config] = error
            else:
                self.best_config = candidate.config
                return candidate
        self._refuse_all()

    def _measured(
        self, device: int, arguments: Sequence[Any], grid: Any, question: Question | None
    ) -> Candidate | None:
        """Compile, measure and compare all candidates, then pytriton's own variants of the best."""
        first_sizes = _sizes(self.first, grid)
        if first_sizes is None:
            return None
        asked = {self.first: first_sizes}
        launches = self._launches(self._translated(), device, arguments, grid, asked)
        if not launches:
            self._refuse_all()
        started = time.perf_counter()
        budget = self._settings.tune_budget
        times = self._times(launches, arguments, device, budget)
        few = self._best_few(times)
        own = self._launches(self._own_candidates(few), device, arguments, grid, {})
        if own:
            left = None if budget is None else max(0.0, budget - time.perf_counter() + started)
            again = [launch for launch in launches if launch.candidate in few]
            times |= self._times([*again, *own], arguments, device, left)
        self.timings = MappingProxyType(self._reasons() | {each.config: t for each, t in times.items()})
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
        if len(self.configs) == 1:
            return [self.first] if self._settings.tune_fully else []
        return best_few({each: t for each, t in times.items() if isinstance(t, float)})

    def _own_candidates(self, few: Sequence[Candidate]) -> list[Candidate]:
        found = [
            self._candidate(point) for each in few for point in own_points(each.config, each.translation)
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
                self._dropped[each.config] = error
                continue
            sizes = asked.get(each) or _sizes(each, grid)
            if sizes is not None:
                launches.append(Launch(each, device, sizes, values, facts))
        return launches

    def _times(
        self, launches: Sequence[Launch], arguments: Sequence[Any], device: int, budget: float | None
    ) -> dict[Candidate, float | str]:
        candidates = [launch.candidate for launch in launches]
        if len(launches) == 1:
            return {candidates[0]: "the only one left: not measured"}
        saved = self._save_written(candidates, arguments, device)
        if saved is None:
            return dict.fromkeys(candidates, "not measured: what it writes cannot be restored")
        times = time_all(launches, saved, budget)
        return {each: "over the budget" if t is None else t for each, t in times.items()}

    def _save_written(
        self, candidates: Sequence[Candidate], arguments: Sequence[Any], device: int
    ) -> Saved | None:
        written = _written(candidates, arguments)
        if any(candidate.translation.strays for candidate in candidates):
            return None
        for candidate in candidates:
            for buffer in candidate.binder.buffers:
                if buffer.name in candidate.translation.writes:
                    written.append(self._constants.on(device, buffer.name, buffer.buffer))
        return save(written, device)

    def _bind(self, candidate: Candidate, arguments: Sequence[Any]) -> Bound:
        """The arguments checked, with the constant buffers of the call's device behind them."""
        binder = candidate.binder
        if not binder.buffers:
            return binder.bind(arguments)
        device = binder.own.bind(arguments)[2]
        if device is None:
            device = self._device_without_tensors()
        supplied = [self._constants.on(device, each.name, each.buffer).data_ptr() for each in binder.buffers]
        values, facts, _ = binder.bind([*arguments, *supplied])
        return values, facts, device

    def _reasons(self) -> dict[Config, float | str]:
        return {config: str(error).split("\n")[0] for config, error in self._dropped.items()}

    def _refuse_all(self) -> NoReturn:
        listed = "\n".join(f"  {config}: {why}" for config, why in self._reasons().items())
        raise TuneError(
            headline(f"no candidate of the sweep is left\n{listed}", "TC601", "try smaller tiles")
        )

    def _device_without_tensors(self) -> int:
        """Where a call runs that passes no tensor: the constructor's device, else the current GPU."""
        device = self._settings.device
        if device is not None and device.type == "cpu":
            return CPU
        if device is not None and device.index is not None:
            return device.index
        return torch.cuda.current_device() if torch.cuda.is_available() else CPU


def _sizes(candidate: Candidate, grid: Any) -> Grid | None:
    return sizes_of(grid, candidate.options, candidate.translation.kernel)


def _is_integer(type_: ScalarType | PointerType) -> bool:
    return isinstance(type_, ScalarType) and type_.kind in ("int", "uint")


def _written(candidates: Sequence[Candidate], arguments: Sequence[Any]) -> list[Any]:
    positions = {
        candidate.binder.position(name) for candidate in candidates for name in candidate.translation.writes
    }
    given = range(len(arguments))  # constant buffers stand behind
    return [arguments[position] for position in given if position in positions]


def _distinct(configs: Sequence[Config], first: Candidate) -> tuple[Config, ...]:
    """The configs less those that differ only in defines that the text does not mention."""
    mentioned = first.translation.mentioned
    seen: dict[Config, Config] = {}
    for config in (first.config, *configs):
        shown = {name: value for name, value in config.defines.items() if name in mentioned}
        seen.setdefault(Config(shown, config.num_warps, config.num_stages), config)
    order = {config: index for index, config in enumerate(configs)}
    return tuple(sorted(seen.values(), key=order.__getitem__))
