"""Choosing the fastest candidate by measuring it on the real arguments.

Candidates are compiled in parallel; one that cannot be compiled or does not fit the device is dropped, with
its reason. Each of the rest is launched once, and one that computes something else than the others is
dropped (``cross_check.py``). Then they are timed with events on the GPU, one by one, the level-2 cache cleared
before each launch. What the kernel writes is put back before each launch, outside the timed stretch, and
once more at the end. Near ties are timed again in turns, as clocks drift from one candidate to the next.
One sweep is measured at a time.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import torch

from pytriton.errors import PytritonError
from pytriton.runtime.launch.device import Grid
from pytriton.runtime.locks import Lock
from pytriton.runtime.sweep.candidate import CPU, Candidate
from pytriton.runtime.tune.cross_check import Agreement, may_compare
from pytriton.runtime.tune.snapshot import Saved

__all__ = ["WRONG", "Launch", "bench", "compile_all", "may_measure", "time_all"]

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
    functions = [compile_ for _, compile_ in jobs]
    workers = max(1, min(len(jobs), os.cpu_count() or 1))
    with ThreadPoolExecutor(workers, thread_name_prefix="pytriton-compile") as pool:
        try:
            outcomes = list(pool.map(attempt, functions))
        except RuntimeError:  # the interpreter shuts down: there are no new threads
            if not sys.is_finalizing() and threading.main_thread().is_alive():
                raise
            outcomes = [attempt(compile_) for compile_ in functions]
    return dict(zip([candidate for candidate, _ in jobs], outcomes, strict=True))


def time_all(
    launches: Sequence[Launch],
    saved: Saved,
    budget: float | None,
    told: Callable[[Candidate, float | str], None] = lambda candidate, found: None,
    users: Callable[[Launch], bool] = lambda launch: True,
) -> dict[Candidate, float | str]:
    """Milliseconds of each launch, or the reason why it has none.

    ``budget`` (seconds) ends the measuring; the first launch is measured in any case. ``told`` hears of
    each as soon as it is measured. ``users`` says which launches are points of the user's, by which the
    others are judged.
    """
    deadline = time.perf_counter() + (float("inf") if budget is None else budget)
    with _measuring, torch.cuda.device(launches[0].device):
        cache = _level_2_cache(launches[0].device)
        try:
            found = _first_launches(launches, saved, deadline, users)
            for candidate, reason in found.items():
                told(candidate, reason)
            left = [launch for launch in launches if launch.candidate not in found]
            times = _one_by_one(left, saved, cache, deadline, told)
            if len(times) == len(left) and time.perf_counter() <= deadline:
                times |= _in_turns(_near_ties(left, times), saved, cache, min(times.values()))
        finally:
            saved.restore()
    every: dict[Candidate, float | str] = {**found, **times}
    return {launch.candidate: every.get(launch.candidate, _LATE) for launch in launches}


_measuring: Final = Lock()
WRONG: Final = "TC603"  # the code with which a candidate is dropped that computes something else
_LATE: Final = "over the budget"


def _first_launches(
    launches: Sequence[Launch], saved: Saved, deadline: float, users: Callable[[Launch], bool]
) -> dict[Candidate, str]:
    """Launch each once, which loads its code, and compare what they write; who is out, and why."""

    def run(launch: Launch) -> None:
        saved.restore()
        launch()

    out: dict[Candidate, str] = {}
    agreement: Agreement[Launch] = Agreement(saved, run, may_compare())
    for launch in launches:
        if launch is not launches[0] and time.perf_counter() > deadline:
            out[launch.candidate] = _LATE
        else:
            agreement.add(launch)
    wrong = agreement.wrong(users)
    for launch, differs in wrong.items():
        out[launch.candidate] = f"computes something else than the others: {differs} [{WRONG}]"
    return out


def _one_by_one(
    launches: Sequence[Launch],
    saved: Saved,
    cache: torch.Tensor | None,
    deadline: float,
    told: Callable[[Candidate, float | str], None],
) -> dict[Candidate, float]:
    """The median of each; those that the deadline left unmeasured are missing."""
    times: dict[Candidate, float] = {}
    best = float("inf")
    for launch in launches:
        if times and time.perf_counter() > deadline:
            told(launch.candidate, _LATE)
            continue
        times[launch.candidate] = _median(launch, saved, cache, best)
        best = min(best, times[launch.candidate])
        told(launch.candidate, times[launch.candidate])
    return times


def _near_ties(launches: Sequence[Launch], times: dict[Candidate, float]) -> list[Launch]:
    known = {launch: times[launch.candidate] for launch in launches}
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
    """The median time of a launch that ran once already."""
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
