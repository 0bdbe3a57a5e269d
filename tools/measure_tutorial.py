"""``python -m tools.measure_tutorial > docs/tutorial/measured.json``: the kernels of the tutorial on a GPU.

Beside torch's own operation, in the same process, medians of Triton's do_bench. Out: JSON with date, machine and
versions, and for each page its unit and rows of (case, ours, torch's).
"""

from __future__ import annotations

import datetime
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
from triton.testing import do_bench

TUTORIAL = Path(__file__).resolve().parent.parent / "docs" / "tutorial"


def page(name: str) -> dict[str, Any]:
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        return runpy.run_path(str(TUTORIAL / f"{name}.py"))
    finally:
        sys.stdout = stdout


def median(call: Callable[[], object]) -> float:
    """Milliseconds."""
    call()  # tunes
    return float(do_bench(call, warmup=25, rep=100, return_mode="median"))


def vector_add() -> list[tuple[str, float, float]]:
    """GB/s."""
    add = page("vector_add")["add"]
    rows = []
    for exponent in (20, 22, 24, 26, 28):
        x, y = torch.rand(2, 1 << exponent, device="cuda")
        volume = 3 * x.numel() * 4 / 1e6
        times = median(lambda: add(x, y)), median(lambda: x + y)  # noqa: B023
        rows.append((f"2^{exponent}", volume / times[0], volume / times[1]))
    return rows


def softmax() -> list[tuple[str, float, float]]:
    """GB/s."""
    ours = page("softmax")["softmax"]
    rows = []
    for n in (256, 1000, 2048, 4096, 8192):
        x = torch.randn(8192, n, device="cuda", dtype=torch.float16)
        volume = 2 * x.numel() * 2 / 1e6
        times = median(lambda: ours(x)), median(lambda: x.softmax(dim=1))  # noqa: B023
        rows.append((f"8192 x {n}", volume / times[0], volume / times[1]))
    return rows


def matmul() -> list[tuple[str, float, float]]:
    """TFLOP/s."""
    ours = page("matmul")["matmul"]
    rows = []
    for n in (1024, 2048, 4096, 8192):
        a, b = torch.randn(2, n, n, device="cuda", dtype=torch.float16)
        work = 2 * n**3 / 1e9
        times = median(lambda: ours(a, b)), median(lambda: a @ b)  # noqa: B023
        rows.append((str(n), work / times[0], work / times[1]))
    return rows


if __name__ == "__main__":
    report = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "pages": {
            measure.__name__: {
                "unit": (measure.__doc__ or "").strip("."),
                "rows": [(case, round(ours, 1), round(theirs, 1)) for case, ours, theirs in measure()],
            }
            for measure in (vector_add, softmax, matmul)
        },
    }
    print(json.dumps(report, indent=1))
