"""Runs everything that needs a GPU, and leaves a record for docs/verified.md.

    python tests/programs/gpu_check.py [tests] [examples] [matmul]

`tests` are those marked gpu, `examples` every program in examples/, `matmul` the benchmark; all
three where none is named. summary.md, one log for each and the benchmark's matmul.json go to the
folder that the environment names in OUT (else ./gpu-check). Needs what pytriton needs, and pytest;
with pytest-xdist the tests, whose time goes into compiling, run eight at a time.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import torch
import triton

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("OUT", "gpu-check")).absolute()
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
EIGHT = ["-n", "8"] if importlib.util.find_spec("xdist") else []
PYTEST = ["-m", "pytest", "-m", "gpu", "-q", "-p", "no:cacheprovider", "--durations=15", *EIGHT]
BENCHMARK = ["-m", "benchmarks.matmul", "--json", str(OUT / "matmul.json")]

# what -> (log, arguments of Python, seconds it may take)
JOBS: dict[str, list[tuple[str, list[str], int]]] = {
    "tests": [("tests", [*PYTEST, str(ROOT / "tests" / "programs")], 540)],
    "examples": [(name, [str(ROOT / "examples" / f"{name}.py")], 180) for name in EXAMPLES],
    "matmul": [("benchmark", BENCHMARK, 420)],
}


def run(arguments: list[str], seconds: int, log: Path) -> tuple[bool, str]:
    """One command, its output at the end of the log: whether it succeeded, and its last line."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    with log.open("a") as stream:
        print(f"$ python {' '.join(arguments)}", file=stream, flush=True)
        try:
            good = not subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            good = False
            print(f"stopped after {seconds} s", file=stream)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return good, lines[-1].strip()


def main() -> int:
    chosen = sys.argv[1:] or list(JOBS)
    OUT.mkdir(parents=True, exist_ok=True)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no CUDA device"
    summary = [
        f"{datetime.datetime.now():%Y-%m-%d %H:%M}, {device}, Python {sys.version.split()[0]}, "
        f"torch {torch.__version__}, Triton {triton.__version__}",
        "",
        "| what | result | seconds | last line |",
        "|---|---|---|---|",
    ]
    failed = 0
    for group in chosen:
        for name, arguments, seconds in JOBS[group]:
            start = time.perf_counter()
            good, last = run(arguments, seconds, OUT / f"{group}.txt")
            failed += not good
            took = time.perf_counter() - start
            summary.append(f"| {name} | {'passed' if good else 'FAILED'} | {took:.0f} | {last} |")
            print(summary[-1], flush=True)
            # written after every step, so that a run cut short leaves what it knows
            (OUT / "summary.md").write_text("\n".join(summary) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
