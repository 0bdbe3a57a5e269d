"""From candidates to times, on the real arguments of a call.

Input: candidates, and the call. Output: for each that can be launched its milliseconds, or the reason why it has
none, and the finalists; the others are dropped from the sweep. They are compiled in parallel, and what is compiled
is launched while the rest is still compiled. Invariant: what the kernel writes holds afterwards what it held
before. ``tuner.py`` stores and chooses; the stopwatch is in ``benchmark.py``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pytriton.compat.triton_names import driver
from pytriton.errors import PytritonError
from pytriton.pipeline import Translation
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.arguments import Bound
from pytriton.runtime.launch.buffers import Constants
from pytriton.runtime.launch.candidate import Candidate, Launch, grid_of
from pytriton.runtime.launch.device import Grid
from pytriton.runtime.options.defines import Config
from pytriton.tuning.benchmark import Measured, time_all
from pytriton.tuning.cross_check import Saved, WrittenArgument, save
from pytriton.tuning.display import Progress
from pytriton.tuning.sweep import Sweep

# Points of a sweep that cannot fit a GPU: found by arithmetic, before the compiler spends seconds on each: 1.3 to
# 6.5 for tiles of 256 x 256 of examples/dot.py, 0.4 to 0.6 for those that fit (sm_90, two cores).
#
# Three bounds, each of which holds for Triton 3.6 to 3.9 on NVIDIA GPUs from sm_80 on
# (tests/tuning/test_feasibility.py compares them with what the compiler allocates):
#
# * a program has ``32 * num_warps`` threads;
# * a loop keeps the tiles that it loads for its matrix products in shared memory, and once more for each stage
#   beyond the second. That it loads them ahead at all is certain for elements of four bytes only;
# * sums of 32-bit products that a loop carries are kept in registers. Where these alone exceed the registers the
#   kernel would spill them and run many times slower; such configs are left out if others remain.


_WARP: Final = 32  # threads
_REGISTERS: Final = 255  # of 32 bits, a thread
_DEFAULT_STAGES: Final = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """What a GPU gives one program: bytes of shared memory, threads."""

    shared: int
    threads: int = 1024


def limits_of(device: int) -> Limits | None:
    """Those of a CUDA device; None where the bounds say nothing."""
    target = driver.active.get_current_target()
    if target.backend != "cuda" or target.arch < 80:
        return None
    return Limits(driver.active.utils.get_device_properties(device)["max_shared_mem"])


def too_large(translation: Translation, config: Config, limits: Limits) -> str:
    """Why a config cannot fit; empty where nothing proves it."""
    threads = _WARP * config.num_warps
    if threads > limits.threads:
        return f"it needs {threads} threads, but the device has {limits.threads}"
    tiles = translation.traits.tiles
    stages = _DEFAULT_STAGES if config.num_stages is None else config.num_stages
    needed = tiles.loaded * (max(1, stages - 1) if tiles.width >= 4 else 1)
    if needed > limits.shared:
        return f"it needs at least {needed} of shared memory, but the device has {limits.shared}"
    return ""


def spills(translation: Translation, config: Config) -> str:
    """Why a config would keep its sums in memory; empty where nothing proves it."""
    needed = translation.traits.tiles.summed // (_WARP * config.num_warps)
    return (
        f"its sums need {needed} registers per thread, but there are {_REGISTERS}"
        if needed > _REGISTERS
        else ""
    )


@dataclass(frozen=True, slots=True)
class TunedCall:
    """A call that needs a choice. ``bind`` checks its arguments for a candidate; ``scratch``: parameters whose
    memory is not compared; ``asked`` caches grids, as a callable is called once per candidate."""

    device: int
    arguments: Sequence[Any]
    grid: Any
    constants: Constants
    bind: Callable[[Candidate, Sequence[Any]], Bound]
    scratch: Collection[str] = ()
    asked: dict[Candidate, Grid] = field(default_factory=dict)

    def specialization(self, candidate: Candidate) -> tuple[int, ...]:
        """What the candidate's code may depend on in these arguments."""
        return self.bind(candidate, self.arguments)[1]

    def compiled(self, candidate: Candidate) -> Candidate:
        """The candidate, compiled for these arguments; raises what stands against that."""
        candidate.kernel_on(self.device, self.specialization(candidate))
        return candidate


def measure(
    candidates: Sequence[Candidate],
    sweep: Sweep,
    call: TunedCall,
    progress: Progress,
    rounds: int,
    over: Callable[[], bool],
) -> Measured:
    """Compile and race these candidates, at most so many rounds. ``over`` as for ``time_all``."""
    progress.expect(len(candidates))
    fitting = _fitting(candidates, sweep, call, progress)
    launches = _launches(fitting, sweep, call, progress)
    saved = None
    if fitting:
        saved = save_written(fitting, call.arguments, call.device, call.constants, call.scratch)
    if saved is None:
        reason = "not measured: what it writes cannot be restored"
        return Measured({launch.candidate: reason for launch in launches})
    users = frozenset(sweep.configs)
    mine = lambda launch: launch.candidate.config in users  # noqa: E731
    return time_all(launches, call.device, saved, rounds, over, mine, progress.racing)


def _launches(
    candidates: Sequence[Candidate], sweep: Sweep, call: TunedCall, progress: Progress
) -> Iterator[Launch]:
    """What can be launched of these candidates, in their order, each as soon as it is compiled; the others are
    dropped from the sweep."""
    bound = {candidate: call.bind(candidate, call.arguments) for candidate in candidates}
    jobs: list[tuple[Candidate, Callable[[], object]]] = [
        (candidate, partial(candidate.kernel_on, call.device, specialization))
        for candidate, (_, specialization, _) in bound.items()
    ]
    for candidate, error in compile_all(jobs):
        values, specialization, _ = bound[candidate]
        if error is not None:
            sweep.dropped[candidate.config] = error
            progress.tell(candidate.config, str(error).split("\n")[0])
            continue
        sizes = call.asked.pop(candidate, None) or grid_of(candidate, call.grid)
        tried = candidate.config.descriptors or candidate.config.packed
        if sizes is not None and tried and not candidate.suits(sizes, values):
            reason = f"{candidate.translation.kernel}: its descriptors or copies do not suit these arguments"
            sweep.dropped[candidate.config] = refusal(reason, "TC531")
            progress.tell(candidate.config, reason)
        elif sizes is not None:
            yield Launch(call.device, sizes, values, specialization, candidate=candidate)


def _fitting(
    candidates: Sequence[Candidate], sweep: Sweep, call: TunedCall, progress: Progress
) -> list[Candidate]:
    """The candidates less those that arithmetic proves too large; those are dropped without compiling."""
    limits = limits_of(call.device)
    if limits is None:
        return list(candidates)
    reasons: dict[Candidate, str] = {}
    spilling: dict[Candidate, str] = {}
    for candidate in candidates:
        reasons[candidate] = too_large(candidate.translation, candidate.config, limits)
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
) -> Iterator[tuple[Candidate, PytritonError | None]]:
    """Compile in threads, from now on; each candidate with None, or with why it must be dropped, in their order."""

    def attempt(compile_: Callable[[], object]) -> PytritonError | None:
        try:
            compile_()
        except PytritonError as error:
            return error
        return None

    jobs = list(work)
    pool = ThreadPoolExecutor(max(1, min(len(jobs), os.cpu_count() or 1)), "pytriton-compile")
    try:
        waiting = [pool.submit(attempt, compile_).result for _, compile_ in jobs]
    except RuntimeError:  # the interpreter shuts down: there are no new threads
        if not sys.is_finalizing() and threading.main_thread().is_alive():
            raise
        waiting = [partial(attempt, compile_) for _, compile_ in jobs]
    finally:
        pool.shutdown(wait=False)  # when all is done
    return ((candidate, wait()) for (candidate, _), wait in zip(jobs, waiting, strict=True))


def save_written(
    candidates: Sequence[Candidate],
    arguments: Sequence[Any],
    device: int,
    constants: Constants,
    scratch: Collection[str] = (),
) -> Saved | None:
    """A copy of all memory that these candidates write; None if some of it cannot be found. What ``scratch``
    names is not compared."""
    if any(candidate.translation.traits.writes_elsewhere for candidate in candidates):
        return None
    parameters = candidates[0].binder.parameters
    positions = sorted({at for candidate in candidates for at in candidate.written})
    written = [WrittenArgument(arguments[at], parameters[at]) for at in positions]
    for candidate in candidates:
        for buffer in candidate.binder.buffers:
            if buffer.name in candidate.translation.writes:
                written.append(WrittenArgument(constants.on(device, buffer.name, buffer.buffer), buffer))
    return save(written, device, scratch)
