"""A probe of small products, for one GPU run; not to be kept."""

from __future__ import annotations

import sys
import time
from itertools import product
from typing import Any

import torch
import triton

import pytriton
import pytriton.passes
from benchmarks.measure import ROOT

import matmul_grouped as grouped  # isort: skip

PASSES = pytriton.passes.PASSES


def rate(n: int, milliseconds: float) -> int:
    return round(2e-9 * n**3 / milliseconds)


def shown(kernel: Any, n: int, count: int = 4) -> None:
    times = sorted((time, str(point)) for point, time in kernel.timings.items() if isinstance(time, float))
    for milliseconds, point in times[:count]:
        print("   ", rate(n, milliseconds), point[-110:])


def mm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> float:
    found = triton.testing.do_bench(lambda: torch.mm(a, b, out=c), rep=200, return_mode="median")
    return float(found)


def masked(n: int, peels: bool) -> None:
    a, b = torch.randn(2, n, n, device="cuda").half()
    c = torch.empty_like(a)
    print(n, "grouped, peel" if peels else "grouped, no peel", "torch.mm", rate(n, mm(a, b, c)))
    pytriton.passes.PASSES = PASSES if peels else tuple(p for p in PASSES if p.name != "peel")
    points = [
        pytriton.config({"TYPE": "half", "TM": x, "TN": y, "TK": z, "GROUP": 8}, w)
        for x, y, z, w in product((64, 128), (64, 128), (64, 128), (4, 8))
    ]
    kernel = pytriton.kernel(grouped.SOURCE + "\n" * peels, autotune_configs=points, autotune_key=["M"])
    grid = lambda opt: (pytriton.cdiv(n, opt.TM) * pytriton.cdiv(n, opt.TN),)  # noqa: E731
    kernel(a, b, c, n, n, n, n, 1, n, 1, n, grid=grid)
    shown(kernel, n)
    pytriton.passes.PASSES = PASSES


def host() -> None:
    m, n, k = 515, 389, 261
    a, b = torch.randn(m, k, device="cuda").half(), torch.randn(k, n, device="cuda").half()
    c = torch.empty(m, n, device="cuda", dtype=torch.half)
    for packed in (False, True):
        point = pytriton.config({"TYPE": "half", "TM": 64, "TN": 64, "TK": 32, "GROUP": 4}, 4, packed=packed)
        kernel = pytriton.kernel(grouped.SOURCE, autotune_configs=[point])
        least = 1e9
        for _ in range(20):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(50):
                kernel(a, b, c, m, n, k, k, 1, n, 1, n, grid=(63,))
            least = min(least, (time.perf_counter() - start) / 50 * 1e6)
        print("host microseconds of a call,", "packed" if packed else "plain", round(least, 1))


def main() -> None:
    assert ROOT
    masked(1000, True)
    masked(1000, False)
    host()


if __name__ == "__main__":
    sys.exit(main())
