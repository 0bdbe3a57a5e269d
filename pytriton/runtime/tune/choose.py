"""Which candidate serves a call: the only one, the first legal one, a pinned or remembered one, or the
fastest.

A call on a sweep asks here once for each *key*: the device, and the values of those arguments that call for
new tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from pytriton.errors import PytritonError
from pytriton.lang.tree.types import PointerType
from pytriton.runtime.compile.triton_cache import usable_cache
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.arguments import Bound
from pytriton.runtime.launch.constants import Constants
from pytriton.runtime.launch.device import Grid, sizes_of
from pytriton.runtime.locks import Lock, check_not_forked
from pytriton.runtime.options.defines import Config
from pytriton.runtime.sweep.candidate import CPU, Candidate
from pytriton.runtime.sweep.feasibility import limits_of, spills, too_large
from pytriton.runtime.sweep.sweep import Sweep
from pytriton.runtime.tune.benchmark import Launch, compile_all, may_measure, time_all
from pytriton.runtime.tune.progress import Progress
from pytriton.runtime.tune.ranks import agree, agreed
from pytriton.runtime.tune.record import Question, ask
from pytriton.runtime.tune.replay import pin, pinned, replaying
from pytriton.runtime.tune.search import PlanSettings, Tuning
from pytriton.runtime.tune.snapshot import Saved, Written, save

__all__ = ["Chooser", "PlanSettings", "grid_of", "written_by"]


class Chooser:
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
        """The candidate for a new key; None where the grid has a zero in it."""
        with self._lock:
            if key in self.known:
                return self.known[key]
            call = _Call(key, device, arguments, grid)
            if device == CPU:
                chosen = self._sweep.first  # the interpreter's speed says nothing
            else:
                check_not_forked(self._sweep.first.translation.kernel)
                usable_cache()
                measuring = may_measure()
                question = self._question(call) if measuring or replaying() else None
                pinned_one = None if question is None else self._pinned(question, call)
                if pinned_one is None and not measuring:
                    return self._first_that_compiles(call)
                timed = pinned_one or self._tuned(question, call)
                if timed is None:
                    return None
                chosen = timed
            self.known[key] = chosen
            self.best_config = chosen.config
            return chosen

    def _question(self, call: _Call) -> Question | None:
        """What is asked of earlier processes; None where an address decides, which the next one will not
        have."""
        first = self._sweep.first
        asked = [first.binder.parameters[position] for position in self._key_positions]
        if any(isinstance(parameter.type, PointerType) for parameter in asked):
            return None
        values = dict(zip([parameter.name for parameter in asked], call.key[1:], strict=True))
        facts = self._bind(first, call.arguments)[1]
        kernel = first.translation.kernel
        return ask(self._sweep.text, kernel, self._sweep.configs, call.device, values, facts)

    def _pinned(self, question: Question, call: _Call) -> Candidate | None:
        """The candidate that the user's file pins; raises what stands against launching it."""
        choice = pinned(question, self._sweep.every_point())
        if choice is None:
            return None
        found = self._sweep.made(choice)
        found.kernel_on(call.device, self._bind(found, call.arguments)[1])
        return found

    def _first_that_compiles(self, call: _Call) -> Candidate:
        for candidate in self._sweep.translated():
            _, facts, _ = self._bind(candidate, call.arguments)
            try:
                candidate.kernel_on(call.device, facts)
            except PytritonError as error:
                self._sweep.dropped[candidate.config] = error
            else:
                self.best_config = candidate.config
                return candidate
        self._sweep.refuse_all()

    # Tuning.

    def _tuned(self, question: Question | None, call: _Call) -> Candidate | None:
        """The fastest, of what earlier processes measured and of what is measured now; one for all ranks."""
        points = self._sweep.every_point()
        common = None if question is None else agreed(question, points)
        if common is not None and self._still_serves(common, call):
            return self._sweep.made(common)
        tuning = Tuning(self._sweep, self._settings, question, partial(self._launches, call))
        best: Config | None = tuning.best() if tuning.is_answered() else None
        if best is None or not self._still_serves(best, call):
            first_sizes = grid_of(self._sweep.first, call.grid)
            if first_sizes is None:
                return None
            call.asked[self._sweep.first] = first_sizes
            best = tuning.measure(partial(self._times, call))
        self.timings = MappingProxyType(tuning.timings())
        if best is not None and question is not None:
            common = agree(question, points, best)
            best = common if self._still_serves(common, call) else best
            pin(question, best)
        return self._sweep.made(best) if best is not None else tuning.any_launched()

    def _still_serves(self, config: Config, call: _Call) -> bool:
        try:
            found = self._sweep.made(config)
            found.kernel_on(call.device, self._bind(found, call.arguments)[1])
        except PytritonError:
            return False
        return True

    def _launches(self, call: _Call, candidates: Sequence[Candidate], progress: Progress) -> list[Launch]:
        """What can be launched of these candidates, compiled; the others are dropped."""
        progress.expect(len(candidates))
        fitting = self._fitting(call, candidates, progress)
        bound = {each: self._bind(each, call.arguments) for each in fitting}
        jobs: list[tuple[Candidate, Callable[[], object]]] = [
            (each, partial(each.kernel_on, call.device, facts)) for each, (_, facts, _) in bound.items()
        ]
        launches: list[Launch] = []
        for each, error in compile_all(jobs).items():
            values, facts, _ = bound[each]
            if error is not None:
                self._sweep.dropped[each.config] = error
                progress.tell(each.config, str(error).split("\n")[0])
                continue
            sizes = call.asked.pop(each, None) or grid_of(each, call.grid)
            if sizes is not None and not each.suits(sizes, values):
                why = f"{each.translation.kernel}: its descriptors do not suit these arguments"
                self._sweep.dropped[each.config] = refusal(why, "TC531")
                progress.tell(each.config, why)
            elif sizes is not None:
                launches.append(Launch(each, call.device, sizes, values, facts))
        return launches

    def _fitting(self, call: _Call, candidates: Sequence[Candidate], progress: Progress) -> list[Candidate]:
        """The candidates less those that arithmetic proves too large; those are dropped without compiling."""
        limits = limits_of(call.device)
        if limits is None:
            return list(candidates)
        compiled = self._sweep.shared_memory(call.device)
        reasons = {each: too_large(each.translation, each.config, limits, compiled) for each in candidates}
        if any(not why and not spills(each.translation, each.config) for each, why in reasons.items()):
            reasons = {each: why or spills(each.translation, each.config) for each, why in reasons.items()}
        for each, why in reasons.items():
            if why:
                kernel = each.translation.kernel
                self._sweep.dropped[each.config] = refusal(f"{kernel}: {why}", "TC531")
                progress.tell(each.config, f"{why} [TC531]")
        return [each for each, why in reasons.items() if not why]

    def _times(
        self, call: _Call, launches: Sequence[Launch], budget: float | None, progress: Progress
    ) -> dict[Candidate, float | str]:
        candidates = [launch.candidate for launch in launches]
        if len(launches) == 1:
            return {candidates[0]: "the only one left: not measured"}
        saved = self.save_written(candidates, call.arguments, call.device)
        if saved is None:
            return dict.fromkeys(candidates, "not measured: what it writes cannot be restored")
        users = frozenset(self._sweep.configs)
        return time_all(
            launches,
            saved,
            budget,
            lambda candidate, found: progress.tell(candidate.config, found),
            lambda launch: launch.candidate.config in users,
        )

    def save_written(
        self, candidates: Sequence[Candidate], arguments: Sequence[Any], device: int
    ) -> Saved | None:
        """A copy of all memory that these candidates write; None if some of it cannot be found."""
        if any(candidate.translation.traits.strays for candidate in candidates):
            return None
        written = _written_by(candidates, arguments)
        for candidate in candidates:
            for buffer in candidate.binder.buffers:
                if buffer.name in candidate.translation.writes:
                    memory = self._constants.on(device, buffer.name, buffer.buffer)
                    written.append(Written(memory, buffer))
        return save(written, device)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that needs a choice. ``asked``: grids that are known, as a callable is called once a
    candidate."""

    key: tuple[Any, ...]
    device: int
    arguments: Sequence[Any]
    grid: Any
    asked: dict[Candidate, Grid] = field(default_factory=dict)


def grid_of(candidate: Candidate, grid: Any) -> Grid | None:
    """The three sizes that a user's grid means for a candidate; None where there is nothing to launch."""
    return sizes_of(grid, candidate.options, candidate.translation.kernel)


def written_by(candidates: Sequence[Candidate], arguments: Sequence[Any]) -> list[Any]:
    """The arguments through which one of these candidates writes; constant buffers stand behind them."""
    return [one.argument for one in _written_by(candidates, arguments)]


def _written_by(candidates: Sequence[Candidate], arguments: Sequence[Any]) -> list[Written]:
    positions = {
        candidate.binder.position(name) for candidate in candidates for name in candidate.translation.writes
    }
    parameters = candidates[0].binder.parameters
    given = zip(arguments, parameters, strict=False)
    return [Written(argument, one) for at, (argument, one) in enumerate(given) if at in positions]
