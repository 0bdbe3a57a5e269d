"""The stopwatch: launches, all decided, in; the milliseconds of each, or the reason why it has none, out.

Each launch runs once, and one that computes something else than the others is out (``cross_check.py``). Then
they are timed with events on the GPU, one by one, the level-2 cache cleared before each launch. What the kernel
writes is put back before each launch, outside the timed stretch, and once more at the end. Near ties are timed
again in rounds, as clocks drift from one candidate to the next. One sweep is measured at a time.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.launch.device import Grid
from pytriton.runtime.locks import Lock
from pytriton.runtime.sweep.candidate import CPU, Candidate
from pytriton.runtime.testing import milliseconds_on_gpu
from pytriton.runtime.tune.cross_check import disagreeing
from pytriton.runtime.tune.snapshot import Saved

__all__ = ["WRONG", "Launch", "bench", "may_measure", "time_all"]

NO_TUNE_VARIABLE: Final = "PYTRITON_NO_TUNE"

WRONG: Final = "TC603"  # the code with which a candidate is dropped that computes something else

_LATE: Final = "over the budget"
# One candidate is measured for about so long, but at least and at most so often.
_MILLISECONDS: Final = 30.0
_MIN_LAUNCHES: Final = 5
_MAX_LAUNCHES: Final = 100
# A candidate whose first time is so many times the best is not measured again.
_HOPELESS: Final = 2.0
# Candidates within this factor of the best are near ties: at most so many of them are timed in so many rounds.
_NEAR: Final = 1.06
_MAX_FINALISTS: Final = 6
_ROUNDS: Final = 5

_measuring: Final = Lock()


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One launch, all decided."""

    candidate: Candidate
    device: int
    grid: Grid
    values: Sequence[Any]
    specialization: tuple[int, ...]
    memory: Memory | None = None  # what it may reach, if that is checked

    def __call__(self) -> None:
        self.candidate.launch(self.device, self.grid, self.values, self.specialization, self.memory)


def may_measure() -> bool:
    """Whether timing is allowed now: not where the user forbids it, nor while a CUDA graph is captured."""
    forbidden = os.environ.get(NO_TUNE_VARIABLE, "") not in ("", "0")
    return not forbidden and not torch.cuda.is_current_stream_capturing()


def time_all(
    launches: Sequence[Launch],
    saved: Saved,
    budget: float | None,
    tell: Callable[[Candidate, float | str], None] = lambda candidate, result: None,
    users: Callable[[Launch], bool] = lambda launch: True,
) -> dict[Candidate, float | str]:
    """Milliseconds of each launch, or the reason why it has none.

    ``budget`` (seconds) ends the measuring; the first launch is measured in any case. ``tell`` hears of
    each as soon as it is measured. ``users`` says which launches are points of the user's, by which the
    others are judged.
    """
    deadline = time.perf_counter() + (float("inf") if budget is None else budget)
    with _measuring, torch.cuda.device(launches[0].device):
        cache = _level_2_cache(launches[0].device)
        try:
            excluded = _first_launches(launches, saved, deadline, users)
            for candidate, reason in excluded.items():
                tell(candidate, reason)
            left = [launch for launch in launches if launch.candidate not in excluded]
            times = _one_by_one(left, saved, cache, deadline, tell)
            if len(times) == len(left) and time.perf_counter() <= deadline:
                times |= _in_rounds(_finalists(left, times), saved, cache, min(times.values()))
        finally:
            saved.restore()
    results: dict[Candidate, float | str] = {**excluded, **times}
    return {launch.candidate: results.get(launch.candidate, _LATE) for launch in launches}


def _first_launches(
    launches: Sequence[Launch], saved: Saved, deadline: float, users: Callable[[Launch], bool]
) -> dict[Candidate, str]:
    """Launch each once, which loads its code, and compare what they write; who is out, and why."""

    def run(launch: Launch) -> None:
        saved.restore()
        launch()

    excluded: dict[Candidate, str] = {}

    def in_time() -> Iterator[Launch]:
        for launch in launches:
            if launch is not launches[0] and time.perf_counter() > deadline:
                excluded[launch.candidate] = _LATE
            else:
                yield launch

    for launch, differs in disagreeing(in_time(), saved, run, users).items():
        excluded[launch.candidate] = f"computes something else than the others: {differs} [{WRONG}]"
    return excluded


def _one_by_one(
    launches: Sequence[Launch],
    saved: Saved,
    cache: torch.Tensor | None,
    deadline: float,
    tell: Callable[[Candidate, float | str], None],
) -> dict[Candidate, float]:
    """The median of each; those that the deadline left unmeasured are missing."""
    times: dict[Candidate, float] = {}
    best = float("inf")
    for launch in launches:
        if times and time.perf_counter() > deadline:
            tell(launch.candidate, _LATE)
            continue
        times[launch.candidate] = _median(launch, saved, cache, best)
        best = min(best, times[launch.candidate])
        tell(launch.candidate, times[launch.candidate])
    return times


def _finalists(launches: Sequence[Launch], times: dict[Candidate, float]) -> list[Launch]:
    """The near ties, fastest first."""
    near = _NEAR * min(times.values())
    tied = [launch for launch in launches if times[launch.candidate] <= near]
    return sorted(tied, key=lambda launch: times[launch.candidate])[:_MAX_FINALISTS]


def _in_rounds(
    launches: Sequence[Launch], saved: Saved, cache: torch.Tensor | None, best: float
) -> dict[Candidate, float]:
    """The medians of some launches that take turns; nothing where only one is left."""
    if len(launches) < 2:
        return {}
    times: dict[Candidate, list[float]] = {launch.candidate: [] for launch in launches}
    count = _launches_within(best) // _ROUNDS + 1
    for _ in range(_ROUNDS):
        for launch in launches:
            times[launch.candidate] += _milliseconds(launch, saved, cache, count)
    return {candidate: statistics.median(measured) for candidate, measured in times.items()}


def _median(launch: Launch, saved: Saved, cache: torch.Tensor | None, best: float) -> float:
    """The median time of a launch that ran once already."""
    first = min(_milliseconds(launch, saved, cache, 2))
    if first > _HOPELESS * best:
        return first
    return statistics.median(_milliseconds(launch, saved, cache, _launches_within(first)))


def _launches_within(milliseconds: float) -> int:
    """How often a launch that takes so long is measured."""
    return min(_MAX_LAUNCHES, max(_MIN_LAUNCHES, int(_MILLISECONDS / max(milliseconds, 1e-3))))


def _milliseconds(launch: Launch, saved: Saved, cache: torch.Tensor | None, count: int) -> list[float]:
    """Times of ``count`` launches on the current device."""

    def prepare() -> None:
        saved.restore()
        if cache is not None:
            cache.zero_()

    return milliseconds_on_gpu(launch, prepare, count)


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
    if launch.device == CPU:
        return _bench_on_cpu(launch, saved, repetitions)
    with torch.cuda.device(launch.device):
        launch.candidate.kernel_on(launch.device, launch.specialization)
        if saved is None:
            times = _milliseconds(launch, Saved(()), None, 1)
        else:
            times = _milliseconds(launch, saved, None, max(10, min(repetitions, _MAX_LAUNCHES)))
    return max(1, round(min(times) * 1e6))


def _bench_on_cpu(launch: Launch, saved: Saved | None, repetitions: int) -> int:
    best = float("inf")
    for _ in range(1 if saved is None else max(1, min(repetitions, 3))):
        if saved is not None:
            saved.restore()
        start = time.perf_counter_ns()
        launch()
        best = min(best, time.perf_counter_ns() - start)
    return max(1, int(best))
