"""The maximum of a scaled product is taken before the scaling, for every factor the same."""

from __future__ import annotations

import math

import pytest
import torch

import pytriton

# Y [16, 16] = exp(s - m), M [16] = m for s = (X @ identity) * f and m its largest of each row
TEXT = """
void f(float *X, float *Y, float *M, float f, int n) {{
  int r[16] = 0 ... 16;
  float one[16, 16] = r[:, newaxis] == r[newaxis, :];
  for (int k = 0; k < n; k += 1) {{
    float x[16, 16] = *(X + r[:, newaxis] * 16 + r[newaxis, :]);
    {body}
  }}
}}
"""
USUAL = """float s[16, 16] = x @ one * f;
    float m[16] = s[:, max];
    *(M + r) = m;
    *(Y + r[:, newaxis] * 16 + r[newaxis, :]) = exp(s - m[:, newaxis]);"""
SUITS = {
    "usual": USUAL,
    "factor first": USUAL.replace("x @ one * f", "f * (x @ one)"),
    "of columns": USUAL.replace("[:, max]", "[max, :]").replace("m[:, newaxis]", "m[newaxis, :]"),
}
KEPT = {
    "factor changes": USUAL.replace("float m[16]", "f = f + 1; float m[16]"),
    "read elsewhere": USUAL + " *X = s[+, +];",
    "no maximum": "float s[16, 16] = x @ one * f; *(Y + r[:, newaxis] * 16 + r[newaxis, :]) = exp(s - f);",
    "set again": USUAL.replace("float m[16]", "s = s + 1; float m[16]"),
    "no product": USUAL.replace("x @ one", "x"),
    "factors of columns": USUAL.replace("* f;", "* (*(X + r))[newaxis, :];"),
    "smallest": USUAL.replace("[:, max]", "[:, min]"),
}


def generated(body: str) -> str:
    return pytriton.translate(TEXT.format(body=body)).text


@pytest.mark.parametrize("name", SUITS)
def test_taken_first(name: str) -> None:
    axis = 0 if name == "of columns" else 1
    text = generated(SUITS[name])
    assert f"m = max_of_product(s_bare, f, axis={axis})" in text
    assert "s_bare * f - m[" in text or "f * s_bare - m[" in text


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert "max_of_product" not in generated(KEPT[name])


@pytest.mark.parametrize("factor", [1.0, 0.125, 3e38, 1e-44, 0.0, -0.5, -3e38, math.inf, -math.inf, math.nan])
def test_computes(factor: float) -> None:
    """Against the same text in a loop where the pass finds nothing to do: bit for bit, up to the sign of zero."""
    x = torch.randn(16, 16) * 20
    x[0], x[1, 3], x[2] = 0, math.nan, math.nan
    x[3, :8] = torch.tensor([88.0, -87.0, 3e38, -3e38, 1e-40, -1e-40, 0.0, -0.0])
    other = USUAL.replace("float m[16]", "s = s + 0; float m[16]")
    found = []
    for body in (USUAL, other):
        y, m = torch.full_like(x, 7.0), torch.full((16,), 7.0)
        pytriton.kernel(TEXT.format(body=body))(x, y, m, factor, 1, grid=(1,))
        found.append((y, m))
    for one, same in zip(*found, strict=True):
        torch.testing.assert_close(one, same, rtol=0, atol=0, equal_nan=True)


def test_a_users_name_stays_his() -> None:
    text = generated("float max_of_product = f; " + USUAL.replace("* f", "* f") + " *X = max_of_product;")
    assert "max_of_product_ = f" in text
    assert "m = max_of_product(s_bare, f, axis=1)" in text
