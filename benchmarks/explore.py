"""What lies outside a user's lists: a wide random search for each question of regret.py.

    python -m benchmarks.regret --explore [--points N] [--questions NAME,NAME] [--from NAME] [--budget SECONDS]

For a question N points are drawn: each swept define from half of the least listed value to twice the greatest,
warps likewise, 1 to 5 stages. All are compiled and timed a few times. The best few are tried with what tuning may
add to them (orders, descriptors), and the best of all these take turns with the choice of a cold sweep, under the
oracle of regret.py. *Exploration regret* is by what factor the sweep's choice is slower than the best of them. A
point that computes something else than the choice is left out.

Asked: 1.03 in the geometric mean.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

import pytriton
from benchmarks.host import caches
from benchmarks.questions import Question
from pytriton.errors import PytritonError
from pytriton.runtime.options.defines import Config
from pytriton.tuning.benchmark import milliseconds_on_gpu
from pytriton.tuning.sweep import ordered

GOAL = 1.03
BEST = 4  # points that are tried in other orders and with descriptors
FINALISTS = 8  # points that the oracle judges
STAGES = (1, 2, 3, 4, 5)
MAX_REGISTERS = 256
TOLERANCE = 1e-2  # relative, of halves that are summed in another order
HEADS = ("question", "points", "exploration regret", "error", "chosen", "best", "seconds")

Oracle = Callable[..., tuple[dict[Any, float], float, int]]


def drawn(question: Question, count: int, draw: random.Random) -> list[Config]:
    """Random points around the user's lists, each once; none of the lists' own."""
    axes = {name: _around(question.defines[name], 16) for name in question.shown}
    warps = _around(question.warps, 1)
    points: dict[Config, None] = {}
    for _ in range(20 * count):
        defines = {**question.defines, **{name: draw.choice(values) for name, values in axes.items()}}
        point = Config(defines, min(32, draw.choice(warps)), draw.choice(STAGES))
        if _registers(point) <= MAX_REGISTERS:
            points[point] = None
        if len(points) == count:
            break
    return [*points]


def _registers(point: Config) -> int:
    """About how many registers of a thread the largest block takes: the compiler works on more for minutes."""
    sizes = sorted(value for value in point.defines.values() if type(value) is int)
    return math.prod(sizes[-2:]) // (32 * point.num_warps)


def _around(listed: Sequence[int], least: int) -> list[int]:
    """Powers of two from half of the least to twice the greatest."""
    low, high = max(least, min(listed) // 2), 2 * max(listed)
    return [1 << power for power in range(low.bit_length() - 1, high.bit_length())]


class Trials:
    """One question with its arguments on the GPU: compiles points, checks what they compute, and times them."""

    def __init__(self, question: Question, source: str, arguments: Sequence[Any]) -> None:
        self.question, self.source, self.arguments = question, source, arguments
        self._calls: dict[Config, Callable[[], object]] = {}
        self._cache = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

    def compiled(self, points: Sequence[Config]) -> list[Config]:
        """Those that can be compiled and launched, with a result each."""
        new = [point for point in points if point not in self._calls]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for point, call in zip(new, pool.map(self._call, new), strict=True):
                if call is not None:
                    self._calls[point] = call
        return [point for point in points if point in self._calls]

    def _call(self, point: Config) -> Callable[[], object] | None:
        kernel = pytriton.kernel(self.source, autotune_configs=[point], kernel=self.question.kernel)

        def call() -> object:
            return kernel(*self.arguments, grid=self.question.grid)

        try:
            call()
        except PytritonError:
            return None
        return call

    def alike(self, points: Sequence[Config], reference: Config) -> list[Config]:
        """Those that leave in the tensors what the reference does."""
        want = self._results(reference)
        return [point for point in points if _close(self._results(point), want)]

    def _results(self, point: Config) -> list[torch.Tensor]:
        tensors = [x for x in self.arguments if isinstance(x, torch.Tensor)]
        before = [x.clone() for x in tensors]
        self._calls[point]()
        after = [x.double() for x in tensors]
        for x, old in zip(tensors, before, strict=True):
            x.copy_(old)
        return after

    def timed(self, point: Config, count: int) -> list[float]:
        """Milliseconds of so many launches."""
        return milliseconds_on_gpu(self._calls[point], self._cache.zero_, count)

    def best(self, points: Sequence[Config], count: int) -> list[Config]:
        """The fastest of a few launches each, the fastest first."""
        times = {point: statistics.median(self.timed(point, 3)) for point in points}
        return sorted(times, key=times.__getitem__)[:count]

    def others(self, points: Sequence[Config]) -> Iterator[Config]:
        """These in other orders, and with descriptors."""
        for point in points:
            translation = pytriton.translate(self.source, dict(point.defines), kernel=self.question.kernel)
            yield from ordered(point, translation, describes=True)


def _close(got: Sequence[torch.Tensor], want: Sequence[torch.Tensor]) -> bool:
    norms = [(float((x - y).norm()), float(y.norm())) for x, y in zip(got, want, strict=True)]
    return all(difference <= TOLERANCE * size for difference, size in norms)


def row(
    question: Question,
    options: argparse.Namespace,
    choice_of: Callable[[Question, str, Sequence[Any]], Config],
    oracle: Oracle,
    words: Callable[[Question, Any], str],
) -> tuple[str, float]:
    """A line of the table, and the exploration regret of a question."""
    start = time.perf_counter()
    torch.manual_seed(0)
    arguments = question.arguments("cuda")
    source = f"// {time.time_ns()}\n{question.source}"
    with tempfile.TemporaryDirectory() as folder, caches(Path(folder)):
        chosen = choice_of(question, source, arguments)
        trials = Trials(question, source, arguments)
        trials.compiled([chosen])
        tried = trials.compiled(drawn(question, options.points, random.Random(0)))
        best = trials.best(tried, BEST)
        tried += trials.compiled([*trials.others(best)])
        finalists = trials.alike(trials.best(tried, FINALISTS), chosen)
        points = [chosen, *(point for point in finalists if point != chosen)]
        behind, error, _ = oracle(points, [chosen], trials.timed, options.seconds)
    regret = math.exp(behind[chosen] - min(behind.values()))
    fastest = min(behind, key=behind.__getitem__)
    seconds = time.perf_counter() - start
    shown = (words(question, chosen), words(question, fastest))
    cells = (question.name, len(tried), f"{regret:.4f}", f"±{error:.2%}", *shown, f"{seconds:.0f}")
    return f"| {' | '.join(map(str, cells))} |", regret


def mean(regrets: Sequence[float]) -> str:
    """What is asked of all questions together."""
    geometric = statistics.geometric_mean(regrets)
    return f"exploration regret: {geometric:.4f} (asked {GOAL}), worst {max(regrets):.4f}, {len(regrets)} questions"
