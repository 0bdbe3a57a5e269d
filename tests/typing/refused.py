"""A user's program with mistakes: type checkers find one in each line that ends in ``# error``, and in no other."""

from __future__ import annotations

import torch

import pytriton

SOURCE = "__global__ void f(float *x, int n) { *x = n; }"
x, n = torch.zeros(4), 4

# Options of the constructor.
pytriton.kernel(SOURCE, define={"TM": 4})  # error
pytriton.kernel(SOURCE, num_warp=4)  # error
pytriton.kernel(SOURCE, num_warps="4")  # error
pytriton.kernel(SOURCE, num_warps=[4, "8"])  # error
pytriton.kernel(SOURCE, num_stages=2.5)  # error
pytriton.kernel(SOURCE, precision="tf33")  # error
pytriton.kernel(SOURCE, precision=["ieee", "tf33"])  # error
pytriton.kernel(SOURCE, tune="ful")  # error
pytriton.kernel(SOURCE, check="strickt")  # error
pytriton.kernel(SOURCE, defines=[4])  # error
pytriton.kernel(SOURCE, fast_math="yes")  # error
pytriton.kernel(SOURCE, tune_budget="1")  # error
pytriton.kernel(SOURCE, heuristics={"EVEN": 4})  # error
pytriton.kernel(SOURCE, include_dirs=4)  # error
pytriton.kernel(SOURCE, autotune_key=[4])  # error
pytriton.kernel(SOURCE, device=1.5)  # error
pytriton.kernel(SOURCE, 1.5)  # error
pytriton.kernel(4)  # error
pytriton.config({"TM": 4}, num_warp=4)  # error
pytriton.config({"TM": 4}, precision="tf33")  # error

# Options of a call.
first = pytriton.kernel(SOURCE)
first(x, n, grid="4")  # error
first(x, n, grid=(4.5,))  # error
first(x, n, grid=lambda opt: n / 4)  # error
first(x, n, gird=lambda opt: (4,))  # error
first(x, n, grid=(4,), num_warps="4")  # error
first(x, n, grid=(4,), defines=[4])  # error
first(x, n, grid=(4,), bench="10")  # error
first(x, n=x, grid=(4,))  # error
first[4.5](x, n)  # error
first[(4,)](x, n, num_warps="4")  # error
first.trace(x, n, grid=(4,), program="1")  # error
first.check_races(x, n)  # error
first.sauce()  # error


# Operators and gradients.
@pytriton.op("typed::wrong", gradent=True)  # error
def misspelt(x: torch.Tensor) -> torch.Tensor:
    return x


@pytriton.op("typed::negative")
def negative(x: torch.Tensor, times: int = 1) -> torch.Tensor:
    return -x


negative(4)  # error
negative(x, time=2)  # error
negative(x).no_attribute()  # error
pytriton.override("aten::neg", negative, dispatch_key="GPU")  # error
pytriton.gradient(first, output="x")  # error
pytriton.gradient(first, inputs=4)  # error
pytriton.gradient(first)(x, n, grid=(1,), d_outputs=[x])  # error

# Names.
pytriton.kernle(SOURCE)  # error
print(pytriton.jit)  # error
print(pytriton.language)  # error
pytriton.translate(SOURCE, kernal="f")  # error
