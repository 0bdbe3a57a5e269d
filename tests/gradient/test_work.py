"""How often a backward is derived: once for each plan of its passes, however it is launched."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pytriton
from pytriton.gradient.derive import derive
from tests.work import counted

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

STEPS = 75_000
SOFTMAX = """__global__ void softmax(float *Y, float *X, int n, int ldx) {
  int row = get_program_id(0);
  int r[TN] = 0 ... TN;
  bool inside[TN] = r < n;
  float x[TN] = inside ? *(X + row * ldx + r) : -F32_INFINITY;
  float e[TN] = exp(x - x[max]);
  *?(inside) (Y + row * n + r) = e / e[+];
}
"""


def test_one_derivation_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordinary launches are planned, and one plan is derived; a launch derives what none before it had."""
    derived: list[Any] = []
    real = derive.derived_kernel

    def noted(*given: Any) -> Any:
        derived.append(given[1])
        return real(*given)

    monkeypatch.setattr(derive, "derived_kernel", noted)
    gradient = pytriton.gradient(SOFTMAX, defines={"TN": 64})
    assert gradient.source
    assert gradient.steps
    assert len(derived) == 1

    def launch(rows: int, columns: int, stride: int) -> None:
        x = torch.randn(rows, columns)
        y = x.softmax(-1)
        gradient(y, x, columns, stride, grid=(rows,), d_outputs={"Y": y})

    for rows, columns in ((2, 60), (5, 64), (1, 3)):
        launch(rows, columns, columns)
    assert len(derived) == 1
    for rows, columns in ((3, 60), (4, 50), (3, 60), (7, 60)):
        launch(rows, columns, 0)  # all programs read one row
    assert len(derived) == len(set(derived)) > 1


def test_steps() -> None:
    """How much work deriving is; it was half as much again when two of the ordinary launches were derived."""
    kernels = [pytriton.kernel(SOFTMAX, defines={"TN": size}) for size in (64, 32)]
    pytriton.gradient(kernels[0])  # loads what is loaded once
    steps, _ = counted(lambda: pytriton.gradient(kernels[1]))
    assert steps < STEPS


ROWS = """__global__ void scaled(float *Y, float *X, int n) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  int c[TN] = 0 ... TN;
  float s[TM] = 0;
  for (int k = 0; k < n; k += TN) {
    float x[TM, TN] = *(X + r[:, newaxis] * n + c[newaxis, :] + k);
    s += x[:, +];
  }
  *(Y + r) = s;
}
"""


def test_gradients_that_are_stored_are_not_zeroed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor in a sweep over blocks: the configs store the same elements."""
    zeroed: list[torch.Tensor] = []
    real = torch.Tensor.zero_
    monkeypatch.setattr(torch.Tensor, "zero_", lambda tensor: (zeroed.append(tensor), real(tensor))[1])
    gradient = pytriton.gradient(ROWS, defines={"TM": [16, 32], "TN": [16, 32]})
    x, y = torch.randn(64, 64), torch.empty(64)
    d_x = gradient(y, x, 64, grid=lambda opt: (64 // opt.TM,), d_outputs={"Y": torch.ones(64)})["X"]
    torch.testing.assert_close(d_x, torch.ones(64, 64))
    assert zeroed == []
