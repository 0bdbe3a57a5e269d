"""The twenty mistakes that are made most, each with what the message says of its cause."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError

MASKED = """\
__global__ void copy(float* z, float* x, int n) {
  int i[128] = get_program_id(0) * 128 + 0 ... 128;
  *?(i < n)(z + i) = *?(i < n)(x + i);
}
"""
BARE = MASKED.replace("*?(i < n)", "*")
AT_MOST = MASKED.replace("i < n", "i <= n")
ROWS = """\
__global__ void rows(float* z, float* x, int m, int n, int ldx) {
  int i[32] = 0 ... 32;
  int j[32] = 0 ... 32;
  *?(i[:, newaxis] < m && j[newaxis, :] < n)(z + i[:, newaxis] * 32 + j[newaxis, :]) =
      *?(i[:, newaxis] < m && j[newaxis, :] < n)(x + i[:, newaxis] * ldx + j[newaxis, :]);
}
"""
FILL = """\
__global__ void fill(float* z, int m, int n) {
  int i[32] = 0 ... 32;
  int j[32] = 0 ... 32;
  *?(i[:, newaxis] < m && j[newaxis, :] < n)(z + i[:, newaxis] * n + j[newaxis, :]) = 1;
}
"""
SUM = "__global__ void total(float* z, float* x, int n) { float s = 0; LOOP s += *(x + k); *z = s; }"
PANEL = """\
__global__ void panel(float* z, float* x, int n) {
  int i[16] = 0 ... 16;
  float s[16] = 0;
  for (int k = 0; k < n; k += 16) s += *(x + k + i);
  *(z + i) = s;
}
"""
GATHER = (
    "__global__ void gather(float* z, int* at, float* x) { int i[8] = 0 ... 8; *(z + i) = *(x + *(at + i)); }"
)
LOCK = "__global__ void locked(int* lock, int* z) { atomic_xchg(lock + get_program_id(0), 1); *z = 1; }"
SHIFTED = "__global__ void shifted(float* z, float* x) { int i[16] = 0 ... 16; *(z + i) = *(x + i - 1); }"
FAR = "__global__ void far(float* z, int a, int b) { *(z + a * b) = 1; }"
CONSTANT = """\
float __constant__* w = calloc(32);
__global__ void f(float* z) { int i[16] = 0 ... 16; *(z + i) = *(w + i); }
"""
OPTIONAL = "__global__ void f(float* z, float* bias) { int i[16] = 0 ... 16; *(z + i) = *(bias + i); }"


def thousand() -> torch.Tensor:
    return torch.ones(1000)


CASES: dict[str, tuple[str, list[Any], Any, str]] = {
    "a grid rounded up, and no mask": (
        *(BARE, [torch.zeros(1000), thousand(), 1000], 8),
        "the last block is not full, as the grid is rounded up: mask it, *?(i < n)(p + i)",
    ),
    "a grid that is too large": (
        *(BARE, [torch.zeros(1024), torch.ones(1024), 1024], 9),
        "program (8, 0, 0) has nothing to do: a grid of (9, 1, 1) is too large",
    ),
    "a block that is larger than all there is": (
        *(BARE, [torch.zeros(100), torch.ones(100), 100], 1),
        "a block has [128] elements, more than are left: mask it, *?(i < n)(p + i)",
    ),
    "a size that is too large": (
        *(MASKED, [thousand(), thousand(), 1001], 8),
        "the mask lets 'n' = 1001 through, but 'z' has shape (1000,)",
    ),
    "<= in a mask": (
        *(AT_MOST, [thousand(), thousand(), 1000], 8),
        "should its <= be <",
    ),
    "an output that is smaller than the input": (
        *(MASKED, [torch.zeros(500), thousand(), 1000], 8),
        "'z' has 500 elements, and 'x' has 1000: pass a tensor of shape (1000,)",
    ),
    "an input that is smaller than the output": (
        *(MASKED, [thousand(), torch.zeros(300), 1000], 8),
        "'x' has 300 elements, and 'z' has 1000: pass a tensor of shape (1000,)",
    ),
    "a size for a stride": (
        *(ROWS, [torch.zeros(32, 32), torch.ones(30, 20), 30, 20, 30], 1),
        "'ldx' is 30, a size of 'x', whose strides are (20, 1): pass x.stride(0)",
    ),
    "a stride in bytes": (
        *(ROWS, [torch.zeros(32, 32), torch.ones(30, 20), 30, 20, 80], 1),
        "'ldx' is 80, but 'x' has strides (20, 1): they count elements, not bytes",
    ),
    "a transposed view": (
        *(ROWS, [torch.zeros(32, 32), torch.ones(20, 30).t(), 30, 20, 32], 1),
        "'x' is a view with strides (1, 30), none of which is passed: pass x.contiguous()",
    ),
    "a number that is no stride": (
        *(ROWS, [torch.zeros(32, 32), torch.ones(30, 20), 30, 20, 21], 1),
        "'ldx' is 21, but the strides of 'x' are (20, 1)",
    ),
    "sizes of another tensor": (
        *(FILL, [torch.zeros(20, 10), 20, 12], 1),
        "'n' is 12, but the strides of 'z' are (10, 1)",
    ),
    "sizes that are swapped": (
        *(ROWS, [torch.zeros(20, 30), torch.ones(30, 32), 30, 20, 32], 1),
        "are sizes swapped? The mask has m = 30, n = 20, and 'z' has shape (20, 30)",
    ),
    "one iteration too many": (
        *(SUM.replace("LOOP", "for (int k = 0; k <= n; k += 1)"), [torch.zeros(1), thousand(), 1000], 1),
        "the bounds of the loop come from 'n' = 1000",
    ),
    "a loop whose steps do not divide its length": (
        *(PANEL, [torch.zeros(16), torch.ones(40), 40], 1),
        "the bounds of the loop come from 'n' = 40: mask the last iteration",
    ),
    "an index from memory": (
        *(GATHER, [torch.zeros(8), torch.full((8,), 8, dtype=torch.int32), torch.zeros(8)], 1),
        "the offset comes from 'at': what that holds must lead to elements 0 to 7",
    ),
    "too few locks": (
        *(LOCK, [torch.zeros(2, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)], 5),
        "'lock' has 2 elements for 5 programs: make it larger",
    ),
    "an offset before the start": (
        *(SHIFTED, [torch.zeros(16), torch.zeros(16)], 1),
        "the offset is negative",
    ),
    "an offset that leaves 32 bits": (
        *(FAR, [torch.zeros(8), 1 << 16, (1 << 15) + 1], 1),
        "the offset left the 32 bits of an int and wrapped around: declare 'a' or 'b' long",
    ),
    "a constant buffer that is too small": (
        *(CONSTANT, [torch.zeros(16)], 1),
        "write calloc(64) in the source",
    ),
    "None for a pointer that is read": (
        *(OPTIONAL, [torch.zeros(16), None], 1),
        "pass a tensor for 'bias'",
    ),
    "an empty tensor": (
        *(OPTIONAL, [torch.zeros(16), torch.empty(0)], 1),
        "launch nothing where 'bias' is empty, or mask the access",
    ),
    "an address that is no tensor's": (
        *(OPTIONAL, [torch.zeros(16), 4096], 1),
        "pass the tensor itself for 'bias': then its size is known",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cure(case: str) -> None:
    text, arguments, grid, cure = CASES[case]
    with warnings.catch_warnings(action="ignore"), pytest.raises(LaunchError) as raised:
        pytriton.kernel(text, check="strict")(*arguments, grid=grid)
    cures = [line for line in str(raised.value).splitlines() if line.startswith("help: ")]
    assert any(cure in line for line in cures), str(raised.value)
