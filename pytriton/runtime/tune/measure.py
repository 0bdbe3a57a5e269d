"""From candidates to times, on the real arguments of a call.

Input: candidates, and the call. ``launches_of`` compiles them in parallel and drops those that cannot be
compiled or do not fit the device; ``measure`` gives each of the others its milliseconds, or the reason why it has
none. Invariant: what the kernel writes holds afterwards what it held before. What is stored, shared between ranks
or chosen is the business of ``tuner.py``, and the stopwatch stands in ``benchmark.py``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytriton.errors import PytritonError
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.arguments import Bound
from pytriton.runtime.launch.constants import Constants
from pytriton.runtime.launch.device import Grid, sizes_of
from pytriton.runtime.sweep.candidate import Candidate
from pytriton.runtime.sweep.feasibility import limits_of, spills, too_large
from pytriton.runtime.sweep.sweep import Sweep
from pytriton.runtime.tune.benchmark import Launch, time_all
from pytriton.runtime.tune.progress import Progress
from pytriton.runtime.tune.snapshot import Saved, Written, save

__all__ = ["Call", "grid_of", "launches_of", "measure", "save_written", "written_by"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that needs a choice. ``bind`` checks its arguments for a candidate; ``asked`` are grids that are
    known, as a callable is called once a candidate."""

    device: int
    arguments: Sequence[Any]
    grid: Any
    constants: Constants
    bind: Callable[[Candidate, Sequence[Any]], Bound]
    asked: dict[Candidate, Grid] = field(default_factory=dict)

    def specialization(self, candidate: Candidate) -> tuple[int, ...]:
        """What the candidate's code may depend on in these arguments."""
        return self.bind(candidate, self.arguments)[1]


def grid_of(candidate: Candidate, grid: Any) -> Grid | None:
    """The three sizes that a user's grid means for a candidate; None where there is nothing to launch."""
    return sizes_of(grid, candidate.options, candidate.translation.kernel)


def launches_of(
    candidates: Sequence[Candidate], sweep: Sweep, call: Call, progress: Progress
) -> list[Launch]:
    """What can be launched of these candidates, compiled; the others are dropped from the sweep."""
    progress.expect(len(candidates))
    fitting = _fitting(candidates, sweep, call, progress)
    bound = {candidate: call.bind(candidate, call.arguments) for candidate in fitting}
    jobs: list[tuple[Candidate, Callable[[], object]]] = [
        (candidate, partial(candidate.kernel_on, call.device, specialization))
        for candidate, (_, specialization, _) in bound.items()
    ]
    launches: list[Launch] = []
    for candidate, error in compile_all(jobs).items():
        values, specialization, _ = bound[candidate]
        if error is not None:
            sweep.dropped[candidate.config] = error
            progress.tell(candidate.config, str(error).split("\n")[0])
            continue
        sizes = call.asked.pop(candidate, None) or grid_of(candidate, call.grid)
        if sizes is not None and not candidate.suits(sizes, values):
            reason = f"{candidate.translation.kernel}: its descriptors do not suit these arguments"
            sweep.dropped[candidate.config] = refusal(reason, "TC531")
            progress.tell(candidate.config, reason)
        elif sizes is not None:
            launches.append(Launch(candidate, call.device, sizes, values, specialization))
    return launches


def _fitting(
    candidates: Sequence[Candidate], sweep: Sweep, call: Call, progress: Progress
) -> list[Candidate]:
    """The candidates less those that arithmetic proves too large; those are dropped without compiling."""
    limits = limits_of(call.device)
    if limits is None:
        return list(candidates)
    compiled = sweep.shared_memory(call.device)
    reasons: dict[Candidate, str] = {}
    spilling: dict[Candidate, str] = {}
    for candidate in candidates:
        reasons[candidate] = too_large(candidate.translation, candidate.config, limits, compiled)
        spilling[candidate] = spills(candidate.translation, candidate.config)
    if any(not reasons[candidate] and not spilling[candidate] for candidate in candidates):
        reasons = {candidate: reason or spilling[candidate] for candidate, reason in reasons.items()}
    for candidate, reason in reasons.items():
        if reason:
            sweep.dropped[candidate.config] = refusal(f"{candidate.translation.kernel}: {reason}", "TC531")
            progress.tell(candidate.config, f"{reason} [TC531]")
    return [candidate for candidate, reason in reasons.items() if not reason]


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


def measure(
    launches: Sequence[Launch], sweep: Sweep, call: Call, budget: float | None, progress: Progress
) -> dict[Candidate, float | str]:
    """Milliseconds of each launch, or the reason why it has none. ``budget`` (seconds) as for ``time_all``."""
    candidates = [launch.candidate for launch in launches]
    if len(launches) == 1:
        return {candidates[0]: "the only one left: not measured"}
    saved = save_written(candidates, call.arguments, call.device, call.constants)
    if saved is None:
        return dict.fromkeys(candidates, "not measured: what it writes cannot be restored")
    users = frozenset(sweep.configs)
    return time_all(
        launches,
        saved,
        budget,
        lambda candidate, result: progress.tell(candidate.config, result),
        lambda launch: launch.candidate.config in users,
    )


def save_written(
    candidates: Sequence[Candidate], arguments: Sequence[Any], device: int, constants: Constants
) -> Saved | None:
    """A copy of all memory that these candidates write; None if some of it cannot be found."""
    if any(candidate.translation.traits.strays for candidate in candidates):
        return None
    written = written_by(candidates, arguments)
    for candidate in candidates:
        for buffer in candidate.binder.buffers:
            if buffer.name in candidate.translation.writes:
                written.append(Written(constants.on(device, buffer.name, buffer.buffer), buffer))
    return save(written, device)


def written_by(candidates: Sequence[Candidate], arguments: Sequence[Any]) -> list[Written]:
    """The arguments through which one of these candidates writes; constant buffers are none."""
    positions = {
        candidate.binder.position(name) for candidate in candidates for name in candidate.translation.writes
    }
    pairs = zip(arguments, candidates[0].binder.parameters, strict=False)
    return [Written(argument, parameter) for at, (argument, parameter) in enumerate(pairs) if at in positions]
