"""All measurements of one GPU in one table: ``python -m benchmarks``.

    python -m benchmarks [--only NAME ...] [--json FILE] [--quick] [--smoke] [--budget SECONDS]

The table goes to standard output; progress to standard error; the figures go to FILE (``build/benchmarks.json``)
after each row, and a picture to FILE with the suffix .png where matplotlib is there. ``--smoke`` runs every row at
a tiny size on the CPU, checks the results and times nothing.

This process measures nothing. It starts a worker (worker.py), with empty caches, and listens: a row that
hangs longer than the limit, or takes the process or the GPU down, is named in the table, and another worker
goes on with the benchmarks that are left.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.table import markdown, picture

ROOT = Path(__file__).resolve().parents[1]

# In this order; the first is what everybody asks for, and what may break a compiler comes late.
NAMES = (
    *("dot", "wide", "ragged", "launch", "streams", "softmax", "attention", "dot_float", "block_sparse"),
    *("tuning", "layer_norm", "batch_norm", "cross_entropy", "ported"),
)
ENDED = "the process ended; see standard error"
ROW_LIMIT = 75.0  # seconds without a word from the worker


class Run:
    """One report in the making."""

    def __init__(self, options: argparse.Namespace, environment: Mapping[str, str]) -> None:
        self.options, self.environment = options, environment
        self.start = time.perf_counter()
        self.report: dict[str, Any] = {
            "date": datetime.date.today().isoformat(),
            "seconds": 0.0,
            "rows": [],
        }

    def all(self, names: Sequence[str]) -> None:
        """Run the benchmarks, in as many workers as it takes."""
        left = list(names)
        while left:
            left = self._one_worker(left)

    def _one_worker(self, names: list[str]) -> list[str]:
        """What is still to be run when the worker has ended."""
        flags = [flag for flag in ("--smoke", "--quick") if getattr(self.options, flag[2:])]
        worker = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", *names, *flags],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=dict(self.environment),
        )
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_listen, args=(worker, lines), daemon=True).start()
        left, current = list(names), ""
        try:
            while left or current:
                message = self._next(lines)
                if isinstance(message, str):
                    if not current and len(left) < len(names) and message == ENDED:
                        return left  # it gave the rest up, having lost the GPU
                    self._fail(current or left[0], message)
                    return (
                        [] if "budget" in message else [name for name in left if name != (current or left[0])]
                    )
                self.report |= message.get("machine", {})
                if "begin" in message:
                    current = message["begin"]
                    print(f"{self._seconds():6.1f} s  {current}", file=sys.stderr, flush=True)
                elif "row" in message:
                    self._keep(message["row"])
                elif "end" in message:
                    left.remove(current)
                    current = ""
        finally:
            worker.kill()
            worker.wait()
        return []

    def _next(self, lines: queue.Queue[str | None]) -> dict[str, Any] | str:
        """The worker's next message, or why there is none."""
        over = self.options.budget - self._seconds()
        try:
            line = lines.get(timeout=max(0.01, min(ROW_LIMIT, over)))
        except queue.Empty:
            if over <= ROW_LIMIT:
                return (
                    f"the budget of {self.options.budget:.0f} s is spent; this and what follows did not run"
                )
            return f"no result within {ROW_LIMIT:.0f} s"
        if line is None:
            return ENDED
        message: dict[str, Any] = json.loads(line)
        return message

    def _seconds(self) -> float:
        return time.perf_counter() - self.start

    def _fail(self, name: str, why: str) -> None:
        self._keep({"program": name, "case": "", "error": why})

    def _keep(self, row: dict[str, Any]) -> None:
        row["at"] = round(self._seconds(), 1)
        self.report["rows"].append(row)
        self.report["seconds"] = self._seconds()
        print(f"{row['at']:6.1f} s    {row['program']} {row['case']}", file=sys.stderr, flush=True)
        self.options.json.write_text(json.dumps(self.report, indent=1) + "\n")


def _listen(worker: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        lines.put(line)
    lines.put(None)


def environment(caches: Path, smoke: bool) -> dict[str, str]:
    """Empty caches, so that every run measures the same; the interpreter where there is to be no GPU."""
    found = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    for variable in ("TRITON_CACHE_DIR", "PYTRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        place = caches / variable
        place.mkdir(mode=0o700)
        found[variable] = str(place)
    for variable in ("PYTRITON_NO_TUNE", "PYTRITON_REPLAY", "PYTRITON_FORCE_TUNE"):
        found.pop(variable, None)
    if smoke:
        found |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; 0, or 1 if a row or a contender failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES)
    )
    parser.add_argument("--json", type=Path, metavar="FILE", default=ROOT / "build" / "benchmarks.json")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes on the CPU, checked and not timed")
    parser.add_argument(
        "--budget", type=float, default=400.0, metavar="SECONDS", help="of wall clock for all"
    )
    options = parser.parse_args(arguments)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pytriton-benchmarks-") as caches:
        run = Run(options, environment(Path(caches), options.smoke))
        run.all([name for name in NAMES if name in options.only])
    run.report["seconds"] = run._seconds()
    print(markdown(run.report))
    options.json.write_text(json.dumps(run.report, indent=1) + "\n")
    if not options.smoke and not picture(run.report, options.json.with_suffix(".png")):
        print("no picture: pip install matplotlib", file=sys.stderr)
    return int(any("error" in row or row.get("failed") for row in run.report["rows"]))


if __name__ == "__main__":
    sys.exit(main())
