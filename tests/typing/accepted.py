"""A user's program in which type checkers find nothing: the styles of all years, and the types of what it gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import numpy
import torch

import pytriton

SOURCE = "__global__ void f(float *x, int n) { *x = n; }"
POINTS = [pytriton.config({"TM": "128"}, num_warps=4, num_stages=3, precision="tf32")]


def grid(opt: Any) -> tuple[int, int]:
    return pytriton.cdiv(100, opt.TM), 1


kernels = [
    pytriton.kernel(SOURCE),
    pytriton.kernel(SOURCE.encode(), ["C"]),
    pytriton.kernel(Path("f.c"), {"TM": [32, 64]}, [2, 4]),
    pytriton.kernel(SOURCE, "cuda:0", {"TM": "128"}, 4, POINTS, ["n"]),
    pytriton.kernel(SOURCE, torch.device("cuda"), defines={"TM": 128, "TYPE": torch.half}, num_warps=4),
    pytriton.kernel(SOURCE, autotune_configs=[({"TM": "128"}, 4), {"TM": 64}, *POINTS], autotune_key="n"),
    pytriton.kernel(SOURCE, precision=["ieee", "tf32"], fast_math=[True, False], tune="full", check="strict"),
    pytriton.kernel(SOURCE, heuristics={"EVEN": lambda args: args["n"] % 2 == 0}, tune_budget=1.5),
    pytriton.kernel(SOURCE, name="f.c", kernel="f", include_dirs=["include", Path("more")], outputs=("x",)),
    pytriton.kernel(SOURCE, num_warps=numpy.int64(4), num_stages=(2, 3), device=None, defines=None),
]
first = kernels[0]
assert_type(first, pytriton.Kernel)
mixed = {"TM": 64, "TYPE": "float", "ACCUMULATE": torch.float32}
x, n = torch.zeros(4), 4
sizes: pytriton.Grid = (4, 1)

assert_type(first(x, n, grid=grid), int | None)
first(x, n, grid)
first(x, n, (4,), TM=[32, 64], TYPE="float", AT=False)
first(
    x.data_ptr(), None, numpy.float32(1), grid=sizes, defines=mixed, num_warps=[4, 8], num_stages=2, bench=10
)
first(x, n, grid=lambda opt: (pytriton.cdiv(n, opt.d("TM")),), bench=True)
first(x, n, grid=lambda opt: [opt["TM"], opt.num_warps], TM=numpy.int32(4))
first(x, n, grid=4)
assert_type(first[(4,)](x, n, num_warps=4), int | None)
first.check_races(x, n, grid=(1,), TM=4)
first.trace(x, n, grid=(1,), program=(0, 0), defines=mixed)
assert_type(first.source(mixed, kernel="f"), str)
assert_type(pytriton.translate(SOURCE, mixed), pytriton.Translation)
assert_type(pytriton.heuristics({"EVEN": lambda args: 1})(first), pytriton.Kernel)


@pytriton.op("typed::double", mutates_args=("y",))
def double(x: torch.Tensor, y: torch.Tensor, times: int = 2) -> None: ...


@pytriton.op
def negative(x: torch.Tensor) -> torch.Tensor:
    return -x


@pytriton.op(gradient=True, scratch_bytes=1 << 20)
def copied(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


double(x, x, times=3)
assert_type(negative(x), torch.Tensor)
assert_type(copied(x=x), torch.Tensor)
assert_type(negative.schema, str)
like_negative: Callable[[torch.Tensor], torch.Tensor] = negative
named = pytriton.op("typed::named", lambda: x)
assert_type(named(), torch.Tensor)
pytriton.override("aten::neg", negative, dispatch_key="CPU").undo()

derived = pytriton.gradient(first, outputs="x", inputs=["x"], checkpoints=False, scratch_bytes=1 << 20)
assert_type(derived(x, n, grid=grid, d_outputs={"x": x}), dict[str, torch.Tensor])

try:
    first(x, n, grid=(1,))
except pytriton.LaunchError as error:
    assert_type(error.code, str)
