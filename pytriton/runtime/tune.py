"""Choosing the fastest candidate by measuring it on the real arguments.

Candidates are compiled in parallel; one that cannot be compiled or does not fit the device is dropped, with
its reason. The rest are timed with events on the GPU, the level-2 cache cleared before each launch. What the
kernel writes is put back before each launch, outside the timed stretch, and once more at the end. Near ties
are timed again in turns, as clocks drift from one candidate to the next.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import torch

from pytriton.errors import PytritonError
from pytriton.runtime.candidate import CPU, Candidate
from pytriton.runtime.launch import Grid
from pytriton.runtime.written import Saved

__all__ = ["Launch", "bench", "compile_all", "may_measure", "time_all"]

NO_TUNE_VARIABLE: Final = "PYTRITON_NO_TUNE"

# One candidate is measured for about so long, but at least and at most so often.
_SECONDS: Final = 0.03
_FEWEST, _MOST = 5, 100
# A candidate whose first time is so many times the best is not measured again.
_HOPELESS: Final = 2.0
# Candidates within this factor of the best are near ties: at most so many of them are timed in so many turns.
_NEAR: Final = 1.06
_TIED, _TURNS = 6, 5


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One launch, all decided."""

    candidate: Candidate
    device: int
    grid: Grid
    values: Sequence[Any]
    facts: tuple[int, ...]

    def __call__(self) -> None:
        self.candidate.launch(self.device, self.grid, self.values, self.facts)


def may_measure() -> bool:
    """Whether timing is allowed now: not where the user forbids it, nor while a CUDA graph is captured."""
    forbidden = os.environ.get(NO_TUNE_VARIABLE, "") not in ("", "0")
    return not forbidden and not torch.cuda.is_current_stream_capturing()


def compile_all(
    work: Iterable[tuple[Candidate, Callable[[], object]]],
) -> dict[Candidate, PytritonError | None]:
    """Run each candidate's compilation in a thread; None, or why it must be dropped."""

    def attempt(compile_: Callable[[], object]) -> PytritonError | None:
        try:
            compile_()
        except PytritonError as error:
            return error
        return None

    jobs = list(work)
    workers = max(1, min(len(jobs), os.cpu_count() or 1))
    with ThreadPoolExecutor(workers, thread_name_prefix="pytriton-compile") as pool:
        outcomes = pool.map(attempt, [compile_ for _, compile_ in jobs])
        return dict(zip([candidate for candidate, _ in jobs], outcomes, strict=True))


def time_all(launches: Sequence[Launch], saved: Saved, budget: float | None) -> dict[Candidate, float | None]:
    """Milliseconds of each launch; None for what the budget (seconds) left unmeasured."""
    times: dict[Candidate, float | None] = {}
    best = float("inf")
    deadline = time.perf_counter() + (float("inf") if budget is None else budget)
    with torch.cuda.device(launches[0].device):
        cache = _level_2_cache(launches[0].device)
        try:
            for launch in launches:
                if times and time.perf_counter() > deadline:
                    times[launch.candidate] = None
                    continue
                found = _median(launch, saved, cache, best)
                times[launch.candidate] = found
                best = min(best, found)
            if time.perf_counter() <= deadline:
                times |= _in_turns(_near_ties(launches, times), saved, cache, best)
        finally:
            saved.restore()
    return times


def _near_ties(launches: Sequence[Launch], times: dict[Candidate, float | None]) -> list[Launch]:
    known = {launch: t for launch in launches if (t := times[launch.candidate]) is not None}
    best = min(known.values())
    return sorted((each for each, t in known.items() if t <= _NEAR * best), key=known.__getitem__)[:_TIED]


def _in_turns(
    launches: Sequence[Launch], saved: Saved, cache: torch.Tensor | None, best: float
) -> dict[Candidate, float]:
    """The medians of some launches that take turns; nothing where only one is left."""
    if len(launches) < 2:
        return {}
    times: dict[Candidate, list[float]] = {launch.candidate: [] for launch in launches}
    count = min(_MOST, max(_FEWEST, int(_SECONDS * 1000 / max(best, 1e-3))) // _TURNS + 1)
    for _ in range(_TURNS):
        for launch in launches:
            times[launch.candidate] += _milliseconds(launch, saved, cache, count)
    return {candidate: statistics.median(found) for candidate, found in times.items()}


def _median(launch: Launch, saved: Saved, cache: torch.Tensor | None, best: float) -> float:
    """The median time of a launch; a first, untimed one loads code and warms up."""
    saved.restore()
    launch()
    first = min(_milliseconds(launch, saved, cache, 2))
    if first > _HOPELESS * best:
        return first
    count = int(_SECONDS * 1000 / max(first, 1e-3))
    return statistics.median(_milliseconds(launch, saved, cache, min(_MOST, max(_FEWEST, count))))


def _milliseconds(launch: Launch, saved: Saved, cache: torch.Tensor | None, count: int) -> list[float]:
    """Times of ``count`` launches on the current device. All are queued before the first is read."""
    pairs = []
    for _ in range(count):
        saved.restore()
        if cache is not None:
            cache.zero_()
        start, end = _event(), _event()
        start.record()
        launch()
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    return [start.elapsed_time(end) for start, end in pairs]


def _event() -> torch.cuda.Event:
    make: Callable[..., torch.cuda.Event] = torch.cuda.Event
    return make(enable_timing=True)


def _level_2_cache(device: int) -> torch.Tensor | None:
    """Memory as large as the level-2 cache, twice: writing it evicts everything else. None where none is left."""
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
        launch.candidate.kernel_on(launch.device, launch.facts)
        if saved is None:
            times = _milliseconds(launch, Saved(()), None, 1)
        else:
            times = _milliseconds(launch, saved, None, max(10, min(repetitions, _MOST)))
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
