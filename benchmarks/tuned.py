"""A hand-written `@triton.jit` kernel tuned over a list of points, as fairly and as fast as ours.

All points are compiled in parallel first (`triton.autotune` compiles one after another, which a run of all
benchmarks has no time for), then they race by our own rule (pytriton/tuning/race.py).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from benchmarks.measure import Contender
from pytriton.tuning.benchmark import milliseconds_on_gpu
from pytriton.tuning.race import race

Point = dict[str, Any]


def points(**lists: Any) -> list[Point]:
    """The product of all lists, as dicts; what is no list is the same in all."""
    axes = [value if isinstance(value, list) else [value] for value in lists.values()]
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*axes)]


class Tuned:
    """Points are dicts of constexprs, `num_warps` and `num_stages`; what does not compile or fit is dropped.

    `grid` is a function of a point. On the CPU (Triton's interpreter) the first point is taken.
    """

    def __init__(
        self,
        kernel: Any,
        points: Sequence[Point],
        grid: Callable[[Mapping[str, Any]], tuple[int, ...]],
        *arguments: Any,
    ) -> None:
        self.kernel, self.points, self.grid, self.arguments = kernel, points, grid, arguments
        self.on_cpu = not any(isinstance(each, torch.Tensor) and each.is_cuda for each in arguments)
        self.point: Point | None = None
        self.dropped: list[str] = []

    def __call__(self) -> None:
        if self.point is None:
            self.point = self.points[0] if self.on_cpu else self._fastest()
        self._launch(self.point)

    def chosen(self) -> str:
        """The point that tuning took, and what it dropped."""
        words = " ".join(f"{name}={value}" for name, value in (self.point or {}).items())
        return words + (f" (dropped {len(self.dropped)}: {self.dropped[0]})" if self.dropped else "")

    def _launch(self, point: Point) -> None:
        if self.on_cpu:
            point = {name: value for name, value in point.items() if not name.startswith("num_")}
        self.kernel[self.grid(point)](*self.arguments, **point)

    def _compile_all(self) -> None:
        """Fill the kernel's cache from threads; what fails here fails again when launched, and is named then."""

        def attempt(point: Point) -> None:
            try:
                self.kernel.warmup(*self.arguments, grid=self.grid(point), **point)
            except Exception:
                return

        attempt(self.points[0])
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(attempt, self.points[1:]))

    def _fastest(self) -> Point:
        self._compile_all()
        alive: list[int] = []
        for at, point in enumerate(self.points):
            try:
                self._launch(point)
                torch.cuda.synchronize()
                alive.append(at)
            except Exception as error:
                self.dropped.append(f"{point}: {type(error).__name__}")
        if not alive:
            raise RuntimeError(f"no point is left: {self.dropped[:1]}")
        cache = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

        def timed(at: int, count: int) -> list[float]:
            return milliseconds_on_gpu(lambda: self._launch(self.points[at]), cache.zero_, count)

        return self.points[race(alive, timed, lambda at: self.points[at]["num_warps"]).field[0]]


def by_hand(tuned: Tuned, out: torch.Tensor, target: float | None, name: str = "hand-written") -> Contender:
    """The contender that a tuned kernel is; `out` is what it writes."""

    def run() -> torch.Tensor:
        tuned()
        return out

    return Contender(name, run, target, out, chosen=tuned.chosen)
