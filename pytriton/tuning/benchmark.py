"""The stopwatch: launches, all decided, in; the milliseconds of each, or the reason why it has none, out.

Each launch runs once as soon as it is compiled, beside the compilation of the next, and one that computes something
else than the others is out (``cross_check.py``). When all are compiled they race (``race.py``). Nothing else runs
then: a thread that waits for Python's lock between two events would look like a slow kernel. A turn is timed
with events on the GPU, the level-2 cache cleared before each launch. What the kernel writes is put back before each
launch, outside the timed stretch, and once more at the end. One sweep is measured at a time on a GPU.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import torch

from pytriton.runtime.launch.buffers import CPU
from pytriton.runtime.launch.candidate import Candidate, Launch
from pytriton.runtime.locks import Lock
from pytriton.tuning.cross_check import Saved, disagreeing
from pytriton.tuning.race import race

NO_TUNE_VARIABLE: Final = "PYTRITON_NO_TUNE"

WRONG: Final = "TC603"  # the code with which a candidate is dropped that computes something else

_LATE: Final = "over the budget"
_ONLY: Final = "the only one left: not measured"
_MAX_LAUNCHES: Final = 100  # of ``bench``


@cache
def _measuring(device: int) -> Lock:
    """Held while a sweep is measured on a GPU."""
    return Lock()


def may_measure() -> bool:
    """Whether timing is allowed now: not where the user forbids it, nor while a CUDA graph is captured."""
    forbidden = os.environ.get(NO_TUNE_VARIABLE, "") not in ("", "0")
    return not forbidden and not torch.cuda.is_current_stream_capturing()


@dataclass(slots=True)
class Measured:
    """``results``: milliseconds of each launch, or the reason why it has none; ``field``: those of the finalists,
    the choice first."""

    results: dict[Candidate, float | str] = field(default_factory=dict)
    field: dict[Candidate, float] = field(default_factory=dict)


class Deadline:
    """Whether so many seconds (None: no limit) have passed since this was asked first."""

    def __init__(self, budget: float | None) -> None:
        self._budget = float("inf") if budget is None else budget
        self._end: float | None = None

    def __call__(self) -> bool:
        now = time.perf_counter()
        if self._end is None:
            self._end = now + self._budget
        return now > self._end


def time_all(
    launches: Iterable[Launch],
    device: int,
    saved: Saved,
    rounds: int,
    over: Callable[[], bool],
    users: Callable[[Launch], bool] = lambda launch: True,
    tell: Callable[[int, float], None] = lambda left, best: None,
) -> Measured:
    """Race these launches, at most so many rounds; ``launches`` may still be compiled while the first run.

    ``over`` reports when to end; the first launch is measured in any case. ``tell`` is called after each round with
    the number left and the time of the best. ``users`` selects the launches of the user's own configs, against
    which the others are checked.
    """
    with _measuring(device), torch.cuda.device(device):
        try:
            launched, measured = _first_launches(launches, saved, over, users)
            if len(launched) + len(measured.results) == 1:
                return Measured(dict.fromkeys(launched, _ONLY))
            if not launched:
                return measured
            cache = _level_2_cache(device)
            outcome = race(
                list(launched),
                lambda candidate, count: _milliseconds(launched[candidate], saved, cache, count),
                lambda candidate: _cost(candidate, device),
                over,
                rounds,
                tell,
            )
        finally:
            saved.restore()
    measured.results |= {candidate: outcome.times.get(candidate, _LATE) for candidate in launched}
    measured.field = {candidate: outcome.times[candidate] for candidate in outcome.field}
    return measured


def _cost(candidate: Candidate, device: int) -> tuple[int, int]:
    """What a config takes from whatever else runs: warps, and bytes of shared memory."""
    return candidate.config.num_warps, candidate.shared_memory(device) or 0


def _first_launches(
    launches: Iterable[Launch], saved: Saved, over: Callable[[], bool], users: Callable[[Launch], bool]
) -> tuple[dict[Candidate, Launch], Measured]:
    """Launch each once, which loads its code, and compare what they write: those that may race, and why the
    others may not."""
    launched: dict[Candidate, Launch] = {}
    measured = Measured()

    def run(launch: Launch) -> None:
        saved.restore()
        launch()

    def in_time() -> Iterator[Launch]:
        for launch in launches:
            if over() and launched:
                measured.results[launch.candidate] = _LATE
            else:
                launched[launch.candidate] = launch
                yield launch

    for launch, differs in disagreeing(in_time(), saved, run, users).items():
        del launched[launch.candidate]
        measured.results[launch.candidate] = (
            f"computes a different result from the others: {differs} [{WRONG}]"
        )
    return launched, measured


def _milliseconds(launch: Launch, saved: Saved, cache: torch.Tensor | None, count: int) -> list[float]:
    """Times of ``count`` launches on the current device."""

    def prepare() -> None:
        saved.restore()
        if cache is not None:
            cache.zero_()

    return milliseconds_on_gpu(launch, prepare, count)


def milliseconds_on_gpu(fn: Callable[[], Any], prepare: Callable[[], Any], count: int) -> list[float]:
    """The time of each of some calls on the current device. All are queued before the first is read."""
    new_event: Callable[..., torch.cuda.Event] = torch.cuda.Event
    pairs = []
    for _ in range(count):
        prepare()
        start, end = new_event(enable_timing=True), new_event(enable_timing=True)
        start.record()
        fn()
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    return [start.elapsed_time(end) for start, end in pairs]


def _level_2_cache(device: int) -> torch.Tensor | None:
    """Memory as large as the level-2 cache, twice: writing it evicts everything else. None where none is
    left."""
    size = 2 * torch.cuda.get_device_properties(device).L2_cache_size
    try:
        return torch.empty(max(size, 1 << 25), dtype=torch.uint8, device=f"cuda:{device}")
    except torch.cuda.OutOfMemoryError:
        return None


def bench(launch: Launch, saved: Saved | None, repetitions: int) -> int:
    """Nanoseconds of the best of some launches, at least 1; their effect is that of one launch.

    Where the written memory could not be saved there is only one launch.
    """
    memory, on_cpu = saved or Saved(()), launch.device == CPU
    most = max(1, min(repetitions, 3)) if on_cpu else max(10, min(repetitions, _MAX_LAUNCHES))
    count = 1 if saved is None else most
    if on_cpu:
        return max(1, min(_nanoseconds(launch, memory) for _ in range(count)))
    with torch.cuda.device(launch.device):
        launch.candidate.kernel_on(launch.device, launch.specialization)
        return max(1, round(min(_milliseconds(launch, memory, None, count)) * 1e6))


def _nanoseconds(launch: Launch, saved: Saved) -> int:
    """The time of a launch on the CPU."""
    saved.restore()
    start = time.perf_counter_ns()
    launch()
    return time.perf_counter_ns() - start
