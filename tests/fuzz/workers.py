"""Many programs in several processes, so that a program which kills its process, or never ends, is only counted.

``verdicts(seeds, jobs, ...)`` yields ``(seed, Verdict)`` in no order. Seeds are given out in order, a few at a
time; a worker says when it begins one, so that its death names the seed. Triton's C++ ends a process with an
assertion, and an illegal address on a GPU spoils whatever follows there: both cost one worker. No process runs
for ever (modules stay loaded), and none after ``seconds``: what was given out by then is finished, nothing more is
begun, so a run is always the seeds from the first to the last one given out.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import connection, get_context
from typing import Any

from tests.fuzz.judge import Verdict

__all__ = ["verdicts"]

RENEWED = 4000  # seeds that one process takes at most
PATIENCE = 120.0  # seconds for one program


def verdicts(
    seeds: range,
    jobs: int,
    *,
    seconds: float | None = None,
    everything: bool = False,
    only: str = "",
    device: str = "cpu",
    chunk: int = 10,
) -> Iterator[tuple[int, Verdict]]:
    """The verdicts on the kernels of these seeds; fewer where ``seconds`` end before."""
    end = None if seconds is None else time.monotonic() + seconds
    given, left = seeds.start, deque[range]()  # what was never given out; what dead workers left
    workers: list[_Worker] = []
    options = (everything, only, device)

    def work() -> range:
        nonlocal given
        if left:
            return left.popleft()
        if end is not None and time.monotonic() >= end:
            return range(0)
        start, given = given, min(given + chunk, seeds.stop)
        return range(start, given)

    try:
        for _ in range(max(1, min(jobs, -(-len(seeds) // chunk)))):
            workers.append(_Worker(options))
            workers[-1].take(work())
        while any(worker.busy for worker in workers):
            for worker in [w for w in workers if w.busy and w.overdue()]:
                worker.process.kill()
            connection.wait([worker.pipe for worker in workers if worker.busy], 1.0)
            for at, worker in enumerate(workers):
                yield from worker.said()
                if worker.gone:
                    if worker.rest:
                        left.append(worker.rest)
                    workers[at] = worker = _Worker(options)
                if not worker.busy:
                    worker.take(work())
    finally:
        for worker in workers:
            worker.process.kill()


class _Worker:
    """One process, from outside."""

    def __init__(self, options: tuple[bool, str, str]) -> None:
        context = get_context("spawn")
        self.pipe, inner = context.Pipe()
        self.process = context.Process(target=_serve, args=(inner, *options), daemon=True)
        self.process.start()
        inner.close()
        self.rest = range(0)  # what it has still to do
        self.running: int | None = None
        self.heard = time.monotonic()
        self.done = 0
        self.gone = False

    @property
    def busy(self) -> bool:
        return bool(self.rest) or self.running is not None

    def overdue(self) -> bool:
        return time.monotonic() - self.heard > PATIENCE

    def take(self, seeds: range) -> None:
        if not seeds:
            return
        self.rest, self.heard = seeds, time.monotonic()
        self.pipe.send(seeds)

    def said(self) -> Iterator[tuple[int, Verdict]]:
        """What came of seeds since it was asked last; ``gone`` if there will be no more."""
        try:
            while self.busy and self.pipe.poll():
                seed, verdict = self.pipe.recv()
                self.heard = time.monotonic()
                if verdict is None:
                    self.running, self.rest = seed, range(seed + 1, self.rest.stop)
                    continue
                self.running = None
                self.done += 1
                yield seed, verdict
        except (EOFError, ConnectionError):
            self.gone = True
            self.process.join(5)
            seed, self.running = self.running, None
            if seed is not None:
                code = self.process.exitcode
                kind = "hung" if self.overdue() else "killed"
                yield seed, Verdict(kind, f"exit {code}", f"{kind}: its process ended with {code}")
        if not self.busy and not self.gone and self.done >= RENEWED:
            self.gone = True
        if self.gone:
            self.process.kill()


# ---------------------------------------------------------------- inside


def _serve(pipe: Any, everything: bool, only: str, device: str) -> None:
    """A process: seeds in, verdicts out."""
    import torch

    from tests.fuzz.choices import Recorded
    from tests.fuzz.judge import judged
    from tests.fuzz.kernels import OPEN, Options, generate

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    inspect.getblock = _block(inspect.getblock)  # type: ignore[attr-defined]
    options = replace(Options() if everything else OPEN, only=only)
    with tempfile.TemporaryDirectory() as caches:
        os.environ["PYTRITON_CACHE_DIR"] = caches
        os.environ["TRITON_CACHE_DIR"] = os.path.join(caches, "triton")
        while True:
            try:
                seeds = pipe.recv()
            except EOFError:
                return
            for seed in seeds:
                pipe.send((seed, None))
                verdict = judged(generate(Recorded(seed), options), device=device)
                pipe.send((seed, verdict))
                if "CUDA error" in verdict.message:
                    return  # nothing that follows in this process could be trusted


def _block(real: Any) -> Any:
    """``inspect.getblock``, quicker: it finds where a function ends with the tokenizer, a sixth of a run's time.

    A generated module holds functions alone, so one ends where the next begins.
    """

    def block(lines: list[str]) -> list[str]:
        if not lines or lines[0] != "@triton.jit\n":
            return real(lines)
        ends = (at for at, line in enumerate(lines) if at and line == "@triton.jit\n")
        return lines[: next(ends, len(lines))]

    return block
