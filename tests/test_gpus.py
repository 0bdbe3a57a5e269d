"""docs/gpus.md: what its table says is compiled, is compiled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytriton
from tools.classic import classic_dot

ROWS = re.findall(
    r"^\| `((\w+):\w+)` \|.*\| yes \|", (Path(__file__).parent.parent / "docs" / "gpus.md").read_text(), re.M
)
DOT = {"TYPE": "half", "TM": 128, "TN": 128, "TK": 32}
ADD = """__global__ void add(float* x, float* y, float* z __noalias, int n) {
  int off[256] = get_program_id(0) * 256 + 0 ... 256;
  *?(off < n)(z + off) = *?(off < n)(x + off) + *?(off < n)(y + off);
}
"""
SOFTMAX = """__global__ void softmax(half* Y __noalias, half* X, int n) {
  int j[300] = 0 ... 300;
  bool inside[300] = j < n;
  float x[300] = inside ? *(X + get_program_id(0) * n + j) : -INFINITY;
  float e[300] = exp(x - x[max]);
  *?(inside)(Y + get_program_id(0) * n + j) = e / e[+];
}
"""


def test_the_table_has_rows() -> None:
    assert {"cuda:70", "cuda:90", "cuda:120", "hip:gfx90a", "hip:gfx1100"} <= {row[0] for row in ROWS}


@pytest.mark.slow
@pytest.mark.parametrize(("target", "vendor"), ROWS, ids=[row[0] for row in ROWS])
def test_compiles(target: str, vendor: str) -> None:
    for text, defines in ((ADD, {}), (SOFTMAX, {}), (classic_dot(), DOT)):
        code = pytriton.kernel(text, defines=defines).asm(
            "ptx" if vendor == "cuda" else "amdgcn", target=target
        )
        number = target.partition(":")[2]
        assert (f".target sm_{number}" if vendor == "cuda" else number) in code
