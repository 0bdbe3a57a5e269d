"""``exp`` beside a matrix product is ``exp2``; the numbers, infinities and NaN are those of ``exp``."""

from __future__ import annotations

import math

import pytest
import torch

import pytriton

# Y [16, 16] = exp(X @ identity - M), in a loop that runs once
BESIDE = """
void f(float *X, float *Y, float m, int n) {
  int r[16] = 0 ... 16;
  float one[16, 16] = r[:, newaxis] == r[newaxis, :];
  for (int k = 0; k < n; k += 1) {
    float s[16, 16] = *(X + r[:, newaxis] * 16 + r[newaxis, :]);
    s = s @ one;
    *(Y + r[:, newaxis] * 16 + r[newaxis, :]) = exp(s - m);
  }
}
"""


def test_text() -> None:
    assert "tl.exp2((s - m) * 1.4426950408889634)" in pytriton.translate(BESIDE).text


@pytest.mark.parametrize(
    "body",
    [
        "*Y = exp(*X);",
        "for (int k = 0; k < n; k += 1) *(Y + k) = exp(*(X + k));",
        "for (int k = 0; k < n; k += 1) { double d[16, 16] = m; d = exp(d @ d); *(Y + k) = d[+, +]; }",
    ],
)
def test_elsewhere_it_stays(body: str) -> None:
    """Where no tensor core waits for it, and in double."""
    text = pytriton.translate(f"void f(float *X, float *Y, float m, int n) {{ {body} }}").text
    assert "tl.exp(" in text
    assert "exp2" not in text


@pytest.mark.parametrize("m", [0.0, -3.5, 80.0, math.inf, -math.inf, math.nan])
def test_computes(m: float) -> None:
    x = torch.randn(16, 16) * 20
    x[0, :4] = torch.tensor([0.0, -0.0, 88.0, -87.0])
    y = torch.full_like(x, 7.0)
    pytriton.kernel(BESIDE)(x, y, m, 1, grid=(1,))
    want = torch.exp(x.double() - m).float()
    torch.testing.assert_close(y, want, rtol=1e-5, atol=2.0**-126, equal_nan=True)


def test_the_hardware_does_it_alone() -> None:
    """One instruction for each exponential, and none around it for subnormal numbers."""
    ptx = pytriton.kernel(BESIDE).asm("ptx", "cuda:90")
    assert "ex2.approx.ftz.f32" in ptx
    assert "ex2.approx.f32" not in ptx
