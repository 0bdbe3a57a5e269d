"""The text of a backward, as a person reads it: types by the user's defines, comments, what a launch must know."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from tests.metamorphic.launches import PROGRAMS, launches

sys.path.append(str(Path(__file__).parents[2] / "examples"))

PRODUCT = """__global__ void weighted(TYPE *Y, TYPE *X __readonly, TYPE *W __readonly, int n, int k) {
  int pid = get_program_id(0);
  int rm[16] = pid * 16 + 0 ... 16;
  int rk[16] = 0 ... 16;
  // the first tile
  TYPE x[16, 16] = *(X + rm[:, newaxis] * k + rk[newaxis, :]);
  float c[16, 16] = 0;
  for (int at = 0; at < k; at += 16) {
    TYPE w[16, 16] = *?(rk[:, newaxis] < n) (W + (at + rk)[:, newaxis] * 16 + rk[newaxis, :]);
    c += (TYPE[16, 16])exp((float[16, 16])x) @ w;
  }
  *(Y + rm[:, newaxis] * 16 + rk[newaxis, :]) = c;
}
"""
BACKWARD = """\
// grid: that of weighted; along axis 0 one program for each iteration of the loop
// grid_0: the programs of weighted along axis 0
__global__ void weighted_backward(TYPE *d_Y, TYPE *X __readonly, TYPE *d_W, int n, int k, int grid_0) {
  int rk[16] = 0 ... 16;
  int step = get_program_id(0);
  int at = 16 * step;
  int rm[16] = 0 ... 16;
  float d_w[16, 16] = 0;
  // the forward's programs along axis 0, one after another
  for (int first = 0; first < grid_0 * 16; first += 16) {
    int rm_2[16] = first + rm;
    // the first tile
    TYPE x[16, 16] = *(X + rm_2[:, newaxis] * k + rk[newaxis, :]);
    // adjoint of: *(Y + rm[:, newaxis] * 16 + rk[newaxis, :]) = c
    TYPE dy[16, 16] = *(d_Y + rm_2[:, newaxis] * 16 + rk[newaxis, :]);
    // adjoint of: c += (TYPE[16, 16])exp((float[16, 16])x) @ w
    TYPE t[16, 16] = (TYPE[16, 16])exp((float[16, 16])x);
    d_w += ^t @ dy;
  }
  // adjoint of: TYPE w[16, 16] = *?(rk[:, newaxis] < n) (W + (at + rk)[:, newaxis] * 16 + rk[newaxis, :])
  *?(rk[:, newaxis] < n) (d_W + (at + rk)[:, newaxis] * 16 + rk[newaxis, :]) = d_w;
}
"""


def test_words_of_the_user() -> None:
    """``TYPE`` where the forward says it, of conversions too; comments stay with their statements."""
    assert pytriton.gradient(PRODUCT, inputs=["W"], defines={"TYPE": "half"}).source == BACKWARD


def well_written(text: str) -> bool:
    """No blank line twice, no statement announced twice, a grid for each kernel."""
    lines = text.splitlines()
    told = [line.strip() for line in lines if "// adjoint of: " in line]
    repeated = any(first == second for first, second in pairwise(told))
    grids = sum(line.startswith("// grid: ") for line in lines)
    return "\n\n\n" not in text and not repeated and grids == text.count("__global__")


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_type_of_tensors(program: str) -> None:
    """What is derived for half and for float is one text, in which ``TYPE`` stands for both."""
    seen: set[tuple[str, str | None]] = set()
    for taken in launches(program):
        if (taken.text, taken.kernel) in seen or "TYPE" not in taken.defines:
            continue
        seen.add((taken.text, taken.kernel))
        try:
            half, single = (_text(taken, dtype) for dtype in (torch.half, torch.float))
        except pytriton.CompileError:
            continue
        assert well_written(half)
        if program == "attention":  # a conversion to TYPE that changes no float is gone before
            half = half.replace("(TYPE[TM, TN])", "")
        assert half == single


def _text(taken: Any, dtype: torch.dtype) -> str:
    kernel = pytriton.kernel(taken.text, kernel=taken.kernel, defines={**taken.defines, "TYPE": dtype})
    return pytriton.gradient(kernel).source
