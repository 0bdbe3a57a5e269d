"""How good are the tuner's choices? Sweeps from nothing, judged by an oracle that takes its time.

    python -m benchmarks.regret [--questions NAME,NAME] [--from NAME] [--budget SECONDS] [--seconds N] [--sweeps N]
                                [--again N] [--autotune NAME,NAME]
    python -m benchmarks.regret --means LOG LOG
    python -m benchmarks.regret --explore [--points N]

The last command compares the choice with points outside of the user's lists (explore.py).

A question is a kernel, its sizes and a sweep (questions.py; `--list` names them). For each, on a CUDA GPU:

* *sweeps*: first calls with empty caches, three of them, timed by the wall clock, and of that the races alone;
* `triton.autotune` over the user's points (not those that pytriton adds), caches empty, timed once;
* *the oracle*: all points that any sweep timed, compiled before, take turns for N seconds, in an order that is
  drawn anew each round; those that are 15 % behind after three rounds stay out, unless they were chosen. What
  counts is the mean of the logarithms.

*Selection regret* is by what factor the chosen point is slower than the best that its sweep timed, in the oracle's
eyes, whose own error makes it larger, never smaller. (pytriton adds points of its own to a sweep, not always the
same: *missed* is by what factor the best of a sweep is slower than the best of all sweeps.) `--again N` asks two
rules N times more, on the oracle's launches: the race, and the rule until 2026-11-22 (one point after the other for
30 ms, near ties again in turns, the least of all these times).

A line is printed for each question as soon as it is answered, the means at the end. Asked: 1.005 in the geometric
mean, 1.02 at worst, 0.4 of the time.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import triton

import pytriton
from benchmarks import explore
from benchmarks.host import _seconds, caches, modern
from benchmarks.questions import QUESTIONS, Question
from pytriton.tuning import benchmark
from pytriton.tuning.benchmark import milliseconds_on_gpu
from pytriton.tuning.race import race

Timed = Callable[[Any, int], list[float]]

BEHIND = 0.15  # logarithm: who is so far behind is not the best
BURST = 8.0  # milliseconds of one turn under the oracle
ROUNDS = 20  # of the oracle at least: 8 of them were off by 1 % at 8192 cubed


@dataclass
class Sweep:
    """One cold sweep."""

    seconds: float
    raced: float  # of these
    choice: Any
    points: list[Any]


@dataclass
class Answer:
    """What is known of one question."""

    name: str
    sweeps: list[Sweep] = field(default_factory=list)
    autotune: float | None = None
    regrets: list[float] = field(default_factory=list)
    missed: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)  # regrets of more races
    error: float = 0.0  # of the oracle
    rounds: int = 0
    best: str = ""

    @property
    def share(self) -> float | None:
        """The time of a sweep, of that of `triton.autotune`."""
        return (
            None
            if self.autotune is None
            else statistics.median(s.seconds for s in self.sweeps) / self.autotune
        )

    def row(self) -> str:
        """A line of the table."""
        share = "" if self.share is None else f"{self.share:.2f} of {self.autotune:.1f} s"
        seconds = " ".join(f"{sweep.seconds:.2f} ({sweep.raced:.2f})" for sweep in self.sweeps)
        every = [self.regrets, self.missed, self.again]
        cells = [
            *(self.name, len(self.sweeps[0].points), *map(_shown, every)),
            *(f"±{self.error:.2%}, {self.rounds}", seconds, share, self.best),
        ]
        return f"| {' | '.join(map(str, cells))} |"


HEADS = (
    *("question", "points", "regret of each sweep", "missed", "of races again"),
    *("oracle: error, rounds", "seconds (of races)", "of triton.autotune", "best"),
)


def _shown(regrets: Sequence[float]) -> str:
    return " ".join(f"{regret:.4f}" for regret in regrets)


# Sweeps.

_racing = [0.0]


def _timed_race(*given: Any) -> Any:
    start = time.perf_counter()
    try:
        return race(*given)
    finally:
        _racing[0] += time.perf_counter() - start


def sweep(question: Question, source: str, arguments: Sequence[Any]) -> Sweep:
    """A first call of a text that no cache knows."""
    kernel = pytriton.kernel(
        source, question.defines, question.warps, num_stages=question.stages, kernel=question.kernel
    )
    _racing[0] = 0.0
    seconds = _seconds(lambda: kernel(*arguments, grid=question.grid))
    points = [config for config, time in kernel.timings.items() if isinstance(time, float)]
    return Sweep(seconds, _racing[0], kernel.best_config, points)


def autotuned(question: Question, arguments: Sequence[Any]) -> float:
    """Seconds of a first call of the same text under `triton.autotune`, over the user's points."""
    lists = {name: question.defines[name] for name in question.shown}
    first = {**question.defines, **{name: values[0] for name, values in lists.items()}}
    kernel = pytriton.kernel(f"// {time.time_ns()}\n{question.source}", kernel=question.kernel)
    jit, constexprs = modern(kernel, first)
    configs = [
        triton.Config({**constexprs, **point}, num_warps=warps, num_stages=stages)
        for point in _product(lists)
        for warps in question.warps
        for stages in question.stages or [3]
    ]
    keys = [name for name in jit.arg_names if name not in constexprs][-1:]
    with tempfile.TemporaryDirectory() as folder, caches(Path(folder)):
        tuned = triton.autotune(configs, keys)(jit)
        return _seconds(lambda: tuned[question.grid](*arguments))


def _product(lists: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    if not lists:
        yield {}
        return
    (name, values), *rest = lists.items()
    for value in values:
        for point in _product(dict(rest)):
            yield {name: value, **point}


# The oracle.


def timed_by(question: Question, source: str, arguments: Sequence[Any], points: Sequence[Any]) -> Timed:
    """A stopwatch for these points, all compiled."""
    cache = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

    def call_of(point: Any) -> Callable[[], object]:
        kernel = pytriton.kernel(source, autotune_configs=[point], kernel=question.kernel)
        kernel(*arguments, grid=question.grid)
        return lambda: kernel(*arguments, grid=question.grid)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        calls = dict(zip(points, pool.map(call_of, points), strict=True))
    torch.cuda.synchronize()
    return lambda point, count: milliseconds_on_gpu(calls[point], cache.zero_, count)


def oracle(
    points: Sequence[Any], chosen: Sequence[Any], timed: Timed, seconds: float
) -> tuple[dict[Any, float], float, int]:
    """The logarithm by which each point is behind the best (only of those that may be, and were chosen), the error
    of the smallest of these, and how many rounds there were."""
    rounds: list[dict[Any, float]] = []
    draw, field_, count = random.Random(1), list(points), 3
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rounds) < ROUNDS:
        turns = {
            point: math.log(statistics.median(timed(point, count)))
            for point in draw.sample(field_, len(field_))
        }
        rounds.append(turns)
        best = min(turns.values())
        count = max(3, min(40, round(BURST / math.exp(best))))
        if len(rounds) == 3:
            behind = _behind(rounds, field_)
            field_ = [point for point in field_ if behind[point] < BEHIND or point in chosen]
    behind = _behind(rounds[3:], field_)
    best = min(behind, key=behind.__getitem__)
    others = sorted(field_, key=behind.__getitem__)[1:2] or [best]
    ratios = [turns[others[0]] - turns[best] for turns in rounds[3:]]
    error = statistics.stdev(ratios) / math.sqrt(len(ratios)) if len(ratios) > 1 else 0.0
    return behind, error, len(rounds)


def _behind(rounds: Sequence[Mapping[Any, float]], points: Sequence[Any]) -> dict[Any, float]:
    means = {point: statistics.fmean(turns[point] for turns in rounds) for point in points}
    best = min(means.values())
    return {point: mean - best for point, mean in means.items()}


def warm_up(question: Question) -> None:
    """Load what both sides load once a process, which is not a question of tuning."""
    arguments = question.arguments("cuda")
    with tempfile.TemporaryDirectory() as folder, caches(Path(folder)):
        sweep(question, question.source, arguments)
    autotuned(question, arguments)


def answer(question: Question, options: argparse.Namespace) -> Answer:
    """Sweep, and judge."""
    torch.manual_seed(0)
    arguments = question.arguments("cuda")
    found = Answer(question.name)
    if question.name in options.autotune:
        found.autotune = autotuned(question, arguments)
    with tempfile.TemporaryDirectory() as folder:
        for at in range(options.sweeps):
            source = f"// {time.time_ns()}\n{question.source}"
            with caches(Path(folder, str(at))):
                found.sweeps.append(sweep(question, source, arguments))
        points = list(dict.fromkeys(point for each in found.sweeps for point in each.points))
        with caches(Path(folder, str(at))):
            timed = timed_by(question, source, arguments, points)
    chosen = [each.choice for each in found.sweeps]
    again = [race(points, timed, lambda point: point.num_warps).field[0] for _ in range(options.again)]
    behind, found.error, found.rounds = oracle(points, [*chosen, *again], timed, options.seconds)
    found.again += [math.exp(behind[choice]) for choice in again]
    for each in found.sweeps:
        best_of_it = min(behind[point] for point in each.points if point in behind)
        found.missed.append(math.exp(best_of_it))
        found.regrets.append(math.exp(behind[each.choice] - best_of_it))
    best = min(behind, key=behind.__getitem__)
    others = [choice for choice in dict.fromkeys(chosen) if choice != best]
    found.best = "; chosen ".join(_words(question, point) for point in (best, *others))
    return found


def _words(question: Question, point: Any) -> str:
    """A point of a sweep."""
    shown = "x".join(str(point.defines[name]) for name in question.shown)
    extras = (("warps", point.num_warps), ("stages", point.num_stages), ("swizzle", point.swizzle))
    shown += "".join(f" {name}={value}" for name, value in extras if value)
    return shown.strip() + " descriptors" * point.descriptors


def means(rows: Sequence[Sequence[str]]) -> str:
    """What is asked of all questions together, from the cells of their rows."""
    lines = []
    for name, cell in (("regret of sweeps", 2), ("missed", 3), ("regret of races again", 4)):
        every = [float(regret) for row in rows for regret in row[cell].split()]
        if every:
            lines.append(
                f"{name}: {statistics.geometric_mean(every):.4f} (asked 1.005), worst {max(every):.4f} "
                f"(asked 1.02), {len(every)} choices of {len(rows)} questions"
            )
    shares = [float(row[7].split()[0]) for row in rows if row[7]]
    if shares:
        lines.append(
            f"time of a cold sweep, of triton.autotune's: {statistics.geometric_mean(shares):.2f}, "
            f"worst {max(shares):.2f} (asked 0.4)"
        )
    return "\n".join(lines)


def cells(line: str) -> list[str]:
    """Those of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def logged(paths: Sequence[Path]) -> list[list[str]]:
    """The rows that earlier runs printed."""
    names = {question.name for question in QUESTIONS}
    lines = [line for path in paths for line in path.read_text().splitlines() if line.startswith("| ")]
    return [row for row in map(cells, lines) if row[0] in names]


def ask(questions: Sequence[Question], options: argparse.Namespace) -> list[Answer]:
    """The answers to as many questions as the budget lets begin, each printed at once."""
    start = time.perf_counter()
    answers: list[Answer] = []
    for question in questions:
        if time.perf_counter() - start > options.budget:
            print(f"to go on: --from {question.name}")
            break
        answers.append(answer(question, options))
        print(answers[-1].row(), flush=True)
        if options.json:
            options.json.write_text(
                json.dumps([asdict(each) for each in answers], default=repr, indent=1) + "\n"
            )
        gc.collect()
        torch.cuda.empty_cache()
    print(f"{time.perf_counter() - start:.0f} s")
    return answers


def options_of(names: Sequence[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.regret", description=__doc__.partition("\n")[0]
    )

    def listed(text: str) -> list[str]:
        if unknown := set(text.split(",")).difference(names):
            parser.error(f"no question is named {', '.join(unknown)}: there are {', '.join(names)}")
        return text.split(",")

    parser.add_argument("--questions", type=listed, default=names, metavar="NAME,NAME")
    parser.add_argument("--from", type=listed, default=names[:1], dest="first", metavar="NAME")
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--seconds", type=float, default=8.0, help="of the oracle, a question")
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument(
        "--autotune", type=listed, default=names, metavar="NAME,NAME", help="where it is timed"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--means", type=Path, nargs="+", metavar="LOG", help="of what earlier runs printed")
    parser.add_argument("--explore", action="store_true", help="search outside of the lists (explore.py)")
    parser.add_argument("--points", type=int, default=40, metavar="N", help="that --explore draws a question")
    parser.add_argument("--list", action="store_true", help="name the questions and end")
    return parser.parse_args()


def main() -> None:
    names = [question.name for question in QUESTIONS]
    options = options_of(names)
    if options.list or options.means:
        print("\n".join(names) if options.list else means(logged(options.means)))
        return
    if not torch.cuda.is_available():
        sys.exit("benchmarks.regret needs a CUDA GPU; there is none")
    os.environ["PYTRITON_PROGRESS"] = "0"
    setattr(benchmark, "race", _timed_race)  # noqa: B010 (it is imported there, not exported)
    torch.backends.cuda.matmul.allow_tf32 = False
    warm_up(next(question for question in QUESTIONS if question.name == "softmax-1024"))
    print(f"{torch.cuda.get_device_name()}, {os.cpu_count()} cores, triton {triton.__version__}")
    rest = QUESTIONS[names.index(options.first[0]) :]
    asked = [question for question in rest if question.name in options.questions]
    if options.explore:
        print_explored(asked, options)
        return
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}", flush=True)
    answers = ask(asked, options)
    print(f"\n{means([cells(each.row()) for each in answers])}")


def print_explored(questions: Sequence[Question], options: argparse.Namespace) -> None:
    """The table of explore.py, for as many questions as the budget lets begin."""
    print(f"| {' | '.join(explore.HEADS)} |\n|{'---|' * len(explore.HEADS)}", flush=True)
    start, regrets = time.perf_counter(), []
    for question in questions:
        if time.perf_counter() - start > options.budget:
            print(f"to go on: --from {question.name}")
            break
        line, regret = explore.row(question, options, lambda *asked: sweep(*asked).choice, oracle, _words)
        regrets.append(regret)
        print(line, flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    print(f"\n{explore.mean(regrets)}")


if __name__ == "__main__":
    main()
