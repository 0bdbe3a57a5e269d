"""Lanes that are not stored have no part in a gradient, whatever they compute: 0 times infinity is NaN.

The lanes beyond ``n`` are loaded as 0, of which the logarithm, the reciprocal or the root is infinite. Each program
carries its cotangent through something else than an expression: a branch, a loop, an axis that is repeated.
"""

from __future__ import annotations

import pytest
import torch

import pytriton

KERNEL = """__global__ void f(double *y, double *x, double *w, int n) {
  int o[8] = 0 ... 8;
  bool m[8] = o < n;
  double v[8] = m ? *(x + o) : 0;
  double s = *w;
  BODY
}"""
BODIES = {
    "expression": "double l[8] = log(v) * s; *?(m) (y + o) = l;",
    "branch": "double l[8] = 0; if (n > 3) { l = log(v) * s; } *?(m) (y + o) = l;",
    "sum": "double l[8] = 0; for (int k = 0; k < 2; k += 1) l += *(w + k) / v; *?(m) (y + o) = l;",
    "product": "double l[8] = 1; for (int k = 0; k < 2; k += 1) l = l * log(v) * *(w + k); *?(m) (y + o) = l;",
    "repeated axis": """double l[8] = log(v) * s; double u[2, 8] = l[newaxis, :];
        *?(m[newaxis, :]) (y + (0 ... 2)[:, newaxis] * 8 + o[newaxis, :]) = u;""",
    "row times column": """double l[8] = log(v) * s; double u[8, 8] = l[:, newaxis] * *(w + o)[newaxis, :];
        *?(m[:, newaxis]) (y + o[:, newaxis] * 8 + o[newaxis, :]) = u;""",
    "scaled rows": """double l[8] = rsqrt(v * v) * s; double u[8, 4] = l[:, newaxis] + (0 ... 4)[newaxis, :];
        *?(m[:, newaxis]) (y + o[:, newaxis] * 4 + (0 ... 4)[newaxis, :]) = u;""",
}
STEP = 1e-6


@pytest.mark.parametrize("n", [5, 8])
@pytest.mark.parametrize("name", BODIES)
def test_lanes_beyond_a_mask(name: str, n: int) -> None:
    kernel = pytriton.kernel(KERNEL.replace("BODY", BODIES[name]))
    x, w = torch.rand(2, 8, dtype=torch.double) + 0.5
    flow = torch.rand(64, dtype=torch.double)

    def forward(w: torch.Tensor) -> torch.Tensor:
        y = torch.zeros_like(flow)
        kernel(y, x, w, n, grid=(1,))
        assert y.isfinite().all()
        return (y * flow).sum()

    made = pytriton.gradient(kernel)(torch.zeros_like(flow), x, w, n, grid=(1,), d_outputs={"y": flow})
    steps = STEP * torch.eye(8, dtype=torch.double)
    wanted = torch.stack([forward(w + step) - forward(w - step) for step in steps]) / (2 * STEP)
    torch.testing.assert_close(made["w"], wanted, rtol=1e-6, atol=1e-6)
    assert made["x"].isfinite().all()
