"""Scales that fast code takes for positive: each launch is asked, on the slow path and on the fast one."""

from __future__ import annotations

import torch

import pytriton
from tests.runtime.stand_in import StandIn

TEXT = """
void f(float *X, float *P, float scale) {
  int r[16] = 0 ... 16;
  int at[16, 16] = r[:, newaxis] * 16 + r[newaxis, :];
  float s[16, 16] = *(X + at) * scale;
  *(P + at) = exp(s - s[:, max][:, newaxis]);
}
"""


def test_the_fast_path_asks(stand_in: StandIn) -> None:
    """And so does the slow one."""
    stand_in.expect(3)
    x, p = torch.randn(16, 16), torch.zeros(16, 16)
    kernel = pytriton.kernel(TEXT, fast_math=True)
    scales = [0.5] * 4 + [-0.5] * 3 + [0.25, 0.0, float("nan"), 2.0]
    for scale in scales:
        kernel(x, p, scale, grid=(1,))
    candidate = kernel._default.first  # type: ignore[union-attr]
    (fast,) = candidate._kernels.values()
    (exact,) = candidate._plain._kernels.values()
    wanted = [fast if scale > 0 else exact for scale in scales]
    assert [each.function for each in stand_in.all()] == [each.compiled.function for each in wanted]
