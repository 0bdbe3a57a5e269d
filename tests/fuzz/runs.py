"""``python -m tests.fuzz N``: N generated kernels before all judges, on all cores.

Prints what came of them, and every failure as small as it gets; exits 1 if there was one. ``--seed`` picks other
programs: kernel k of a run is the kernel of seed + k, always the same one.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import sys
import tempfile
import time
import warnings

from tests.fuzz.choices import Recorded
from tests.fuzz.judge import Verdict, judged, reduced
from tests.fuzz.kernels import OPEN, Options, generate
from tests.oracle.judges import show


def _batch(job: tuple[int, int, bool, str]) -> tuple[list[tuple[int, Verdict]], collections.Counter[str]]:
    """The failures among a batch of seeds, and how many came out how."""
    start, count, everything, device = job
    options = Options() if everything else OPEN
    failures, counts = [], collections.Counter[str]()
    with tempfile.TemporaryDirectory() as caches, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["PYTRITON_CACHE_DIR"] = caches
        for seed in range(start, start + count):
            verdict = judged(generate(Recorded(seed), options), device=device)
            counts[f"{verdict.kind} {verdict.detail}".strip()] += 1
            if not verdict.ok:
                failures.append((seed, verdict))
    return failures, counts


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", type=int, help="how many kernels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="also what is known to be open")
    parser.add_argument("--device", default="cpu", help="cuda: on a GPU instead of the interpreter")
    parser.add_argument("--show", type=int, default=5, help="how many failures to reduce and print")
    options = parser.parse_args()
    start = time.perf_counter()
    step = 50
    jobs = [
        (options.seed + at, min(step, options.count - at), options.all, options.device)
        for at in range(0, options.count, step)
    ]
    failures: list[tuple[int, Verdict]] = []
    counts: collections.Counter[str] = collections.Counter()
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for found, counted in pool.imap_unordered(_batch, jobs):
            failures += found
            counts += counted
    seconds = time.perf_counter() - start
    for kind, number in counts.most_common():
        print(f"{number:8d}  {kind}")
    print(f"{options.count} kernels from seed {options.seed} in {seconds:.0f} s, {len(failures)} failures")
    _print(failures, options)
    return 1 if failures else 0


def _print(failures: list[tuple[int, Verdict]], options: argparse.Namespace) -> None:
    """The first failure of each kind, reduced."""
    seen: list[Verdict] = []
    warnings.simplefilter("ignore")
    os.environ["PYTRITON_CACHE_DIR"] = tempfile.mkdtemp()
    for seed, verdict in sorted(failures, key=lambda item: item[0]):
        print(f"seed {seed}: {verdict.kind} {verdict.detail}: {verdict.message.splitlines()[-1][:150]}")
        if len(seen) < options.show and not any(verdict.alike(other) for other in seen):
            seen.append(verdict)
            forms = Options() if options.all else OPEN
            recorded = Recorded(seed)
            generate(recorded, forms)
            case, smaller = reduced(recorded.row, forms, options.device)
            print(show(case), smaller.message, sep="\n")
    sys.stdout.flush()
