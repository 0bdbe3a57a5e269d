"""``python -m tests.fuzz N``: N generated kernels before all judges, on all cores.

Prints what came of them, one line that sums up, and failures as small as they get; exits 1 if there was one.
``--seed`` picks other programs: kernel k of a run is the kernel of seed + k, the same one at the same commit.
``--device c`` asks C, too (native.py): fresh seeds are those from a ``--seed`` that no run had.
``--only`` makes one class of programs, ``--seconds`` ends a run early, ``--json`` writes down what came of it, and
on what it ran.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

from tests.fuzz.choices import Recorded
from tests.fuzz.judge import Verdict, reduced
from tests.fuzz.kernels import CLASSES, OPEN, Options, generate
from tests.fuzz.workers import verdicts
from tests.oracle.judges import show

ROOT = Path(__file__).parent.parent.parent
DIED = ("killed", "hung")  # what this process does not try itself


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", type=int, help="how many kernels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="begin no kernel after that")
    parser.add_argument("--all", action="store_true", help="also what is known to be open")
    parser.add_argument("--only", default="", choices=[about for _, (about, _) in CLASSES], help="one class")
    parser.add_argument("--device", default="cpu", help="cuda: a GPU, not the interpreter; c: C, too")
    parser.add_argument("--show", type=int, default=5, help="how many failures to reduce and print")
    parser.add_argument("--json", type=Path, help="a file for the results")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["PYTRITON_CC"] = "none"  # modules are judged by the interpreter; native.py runs C
    start = time.perf_counter()
    seeds = range(options.seed, options.seed + options.count)
    failures: list[tuple[int, Verdict]] = []
    counts: collections.Counter[str] = collections.Counter()
    about: collections.Counter[str] = collections.Counter()  # kernels of each class, and before which judges
    given = {
        "seconds": options.seconds,
        "everything": options.all,
        "only": options.only,
        "device": options.device,
    }
    given["chunk"] = 10 if options.device != "cuda" else 2  # a compilation takes a second
    for seed, verdict in verdicts(seeds, options.jobs, **given):
        counts[f"{verdict.kind} {verdict.detail}".strip()] += 1
        about.update(verdict.about)
        if verdict.failed:
            failures.append((seed, verdict))
    failures.sort(key=lambda item: item[0])
    seconds = time.perf_counter() - start
    for kind, number in counts.most_common():
        print(f"{number:8d}  {kind}")
    total = counts.total()
    kinds = collections.Counter[str]()
    for kind, number in counts.items():
        kinds[kind if kind.startswith("ok") else kind.split()[0]] += number
    print(
        f"{total} kernels on {options.device}, seeds {seeds.start} to {seeds.start + total - 1}, in {seconds:.0f} s"
        f" on {options.jobs} processes: "
        + ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
        + "; of these "
        + ", ".join(f"{number} {kind}" for kind, number in sorted(about.items(), key=lambda item: -item[1]))
    )
    if about["without gcc"]:
        print("there is no gcc: constants were compared with the evaluator of C in tests/fuzz/c.py alone")
    for seed, verdict in failures[:200]:
        print(
            f"seed {seed}: {verdict.kind} {verdict.detail}: {verdict.message.strip().splitlines()[-1][:150]}"
        )
    if options.json:
        options.json.write_text(
            json.dumps(_written(options, total, seconds, (counts, about), failures), indent=1) + "\n"
        )
    sys.stdout.flush()
    _print(failures, options)
    return 1 if failures else 0


def _written(
    options: argparse.Namespace,
    total: int,
    seconds: float,
    counts: tuple[collections.Counter[str], collections.Counter[str]],
    failures: list[tuple[int, Verdict]],
) -> dict[str, object]:
    """A run as JSON: the command, what it ran on, what came of it."""
    return {
        "command": " ".join(["python -m tests.fuzz", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("torch", "triton", "numpy")},
        "sources": _digest(),
        "first_seed": options.seed,
        "kernels": total,
        "seconds": round(seconds, 1),
        "processes": options.jobs,
        "device": options.device,
        "counts": dict(counts[0].most_common()),
        "of these": dict(counts[1].most_common()),
        "failures": [
            {"seed": seed, "kind": v.kind, "detail": v.detail, "message": v.message[-2000:]}
            for seed, v in failures
        ],
    }


def _digest() -> str:
    """SHA-256 over the translator and its judges: two runs with one digest ran the same kernels."""
    digest = hashlib.sha256()
    for folder in ("grammar", "templates", "pytriton", "tests/oracle", "tests/fuzz"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".lark", ".j2"):
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _print(failures: list[tuple[int, Verdict]], options: argparse.Namespace) -> None:
    """The first failure of each kind, reduced."""
    seen: list[Verdict] = []
    warnings.simplefilter("ignore")
    os.environ["PYTRITON_CACHE_DIR"] = tempfile.mkdtemp()
    forms = replace(Options() if options.all else OPEN, only=options.only)
    for seed, verdict in failures:
        if len(seen) >= options.show or any(verdict.alike(other) for other in seen):
            continue
        seen.append(verdict)
        recorded = Recorded(seed)
        case = generate(recorded, forms)
        print(f"---- seed {seed}: {verdict.kind} {verdict.detail}")
        if verdict.kind not in DIED:
            case, verdict = reduced(recorded.row, forms, options.device)
        print(show(case), verdict.message, sep="\n", flush=True)
