"""What ``fast_math=True`` allows, and what it leaves alone; the machine code is in test_ptx.py."""

from __future__ import annotations

import math

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.options.defines import Config
from tests.translating import translate

# P [16, 16] = exp of scaled scores less the largest of their row
SCORES = """
void f(float *X, float *P, float scale) {
  int r[16] = 0 ... 16;
  int at[16, 16] = r[:, newaxis] * 16 + r[newaxis, :];
  float s[16, 16] = *(X + at) * scale;
  BETWEEN
  float m[16] = s[:, max];
  *(P + at) = exp(s - m[:, newaxis]);
}
"""
MOVED = "s * (scale * 1.4426950408889634)"


def scores(between: str = "", fast: bool = True) -> str:
    return translate(SCORES.replace("BETWEEN", between), fast_math=fast).text


class TestScales:
    def test_moves(self) -> None:
        assert MOVED in scores()
        assert "tl.max(s, axis=1) * scale" in scores()

    def test_before_a_second_difference(self) -> None:
        """The derived backward of attention subtracts the largest score, and the logarithm of the sum."""
        two = SCORES.replace("m[:, newaxis])", "m[:, newaxis] - (float)r[:, newaxis])").replace("BETWEEN", "")
        assert MOVED in translate(two, fast_math=True).text
        x, fast, exact = torch.randn(16, 16), torch.zeros(16, 16), torch.zeros(16, 16)
        pytriton.kernel(two, fast_math=True)(x, fast, 0.3, grid=(1,))
        pytriton.kernel(two)(x, exact, 0.3, grid=(1,))
        torch.testing.assert_close(fast, exact, rtol=1e-5, atol=0)

    def test_only_if_allowed(self) -> None:
        assert "tl.exp(s - m[:, None])" in scores(fast=False)
        assert translate(SCORES.replace("BETWEEN", "")).traits.positive == ()

    def test_traits(self) -> None:
        assert translate(SCORES.replace("BETWEEN", ""), fast_math=True).traits.positive == (2,)  # scale

    def test_numbers_are_known(self) -> None:
        text = SCORES.replace("BETWEEN", "")
        positive = translate(text.replace("* scale", "* 0.125f"), fast_math=True)
        negative = translate(text.replace("* scale", "* -0.125f"), fast_math=True)
        assert positive.traits.positive == negative.traits.positive == ()
        assert "tl.max(s, axis=1) * 0.125" in positive.text
        assert "tl.max(s, axis=1)\n" in negative.text

    @pytest.mark.parametrize(
        "between",
        [
            "s = r[:, newaxis] < 3 ? s : -F32_INFINITY;",
            "s = r[newaxis, :] < 3 ? F32_INFINITY : s;",
        ],
    )
    def test_infinities_scale_to_themselves(self, between: str) -> None:
        assert MOVED in scores(between)

    @pytest.mark.parametrize(
        "between",
        [
            "s = r[:, newaxis] < 3 ? s : 0;",
            "s = s > 1 ? s : -F32_INFINITY;",
            "s += 1;",
            "*(X + at) = s;",
            "scale = 2;",
            "*(X + r) = s[:, +];",
            "if (scale > 3) s = s + 1;",
            "*(X + at) = exp(s - s);",
        ],
    )
    def test_stays(self, between: str) -> None:
        """Where scores are used in another way, or the scale changes."""
        text = SCORES.replace("BETWEEN", between)
        assert translate(text, fast_math=True).traits.positive == ()
        assert MOVED not in translate(text, fast_math=True).text


class TestLaunches:
    """A launch whose scale is not positive runs the exact code."""

    def run(self, scale: float, **more: object) -> torch.Tensor:
        torch.manual_seed(1)
        x, p = torch.randn(16, 16) * 40, torch.zeros(16, 16)
        pytriton.kernel(SCORES.replace("BETWEEN", ""), **more)(x, p, scale, grid=(1,))  # type: ignore[arg-type]
        return p

    @pytest.mark.parametrize(
        "scale", [-0.3, 0.0, -0.0, math.nan, math.inf, -math.inf, 2.0**-127, 1e-300, 3e38]
    )
    @pytest.mark.parametrize("check", [None, False])
    def test_exact(self, scale: float, check: bool | None) -> None:
        torch.testing.assert_close(
            self.run(scale, fast_math=True, check=check), self.run(scale), rtol=0, atol=0, equal_nan=True
        )

    @pytest.mark.parametrize("check", [None, False])
    def test_fast(self, check: bool | None) -> None:
        fast, exact = self.run(0.3, fast_math=True, check=check), self.run(0.3)
        assert not torch.equal(fast, exact)
        torch.testing.assert_close(fast, exact, rtol=1e-4, atol=1e-30)

    def test_the_default_is_exact(self) -> None:
        assert torch.equal(self.run(0.3), self.run(0.3, fast_math=False))


def test_the_largest_so_far_in_a_parameter() -> None:
    """It begins with the value of the launch, which is in no units of log2(e)."""
    source = """
    void f(float *X, float *P, float m, int n) {
      int at[4] = 0 ... 4;
      for (int k = 0; k < n; k++) {
        float s[4] = *(X + k * 4 + at);
        float largest = max(m, s[max]);
        *(P + k * 4 + at) = exp(s - largest);
        m = largest;
      }
      *(P + n * 4) = m;
    }
    """
    x = torch.tensor([1.0, 2, 3, 4, 5, 6, 7, 8])
    fast, exact = torch.zeros(9), torch.zeros(9)
    pytriton.kernel(source, fast_math=True)(x, fast, 6.0, 2, grid=(1,))
    pytriton.kernel(source)(x, exact, 6.0, 2, grid=(1,))
    torch.testing.assert_close(fast, exact, rtol=1e-4, atol=0)


class TestOption:
    def test_a_list_is_a_sweep(self) -> None:
        kernel = pytriton.kernel(SCORES.replace("BETWEEN", ""), fast_math=[False, True])
        points = kernel._definition.configs({})
        assert points == (Config(), Config(fast_math=True))
        assert repr(points[1]) == "Config(num_warps=4, fast_math=True)"

    @pytest.mark.parametrize("wrong", ["yes", 1, []])
    def test_wrong(self, wrong: object) -> None:
        with pytest.raises(LaunchError, match="TC517"):
            pytriton.kernel(SCORES.replace("BETWEEN", ""), fast_math=wrong)  # type: ignore[arg-type]


FINITE_START = """
__global__ void k(float* l_, float* m_, float* x, int first, int n) {
  int r[4] = 0 ... 4; int c[4] = 0 ... 4;
  float m[4] = -3.4e38f;  // finite, so that exp(-INFINITY - m) is 0 while all is masked
  float l[4] = 0;
  for (int j = 0; j < n; j += 4) {
    bool in[4, 4] = (j + c)[newaxis, :] >= first + r[:, newaxis];
    float s[4, 4] = in ? *(x + r[:, newaxis] * n + (j + c)[newaxis, :]) : -INFINITY;
    float largest[4] = max(m, s[:, max]);
    l = l * exp(m - largest) + exp(s - largest[:, newaxis])[:, +];
    m = largest;
  }
  *(l_ + r) = l;
  *(m_ + r) = m;
}
"""


@pytest.mark.parametrize("fast", [False, True])
def test_a_running_maximum_may_start_at_the_smallest_float(fast: bool) -> None:
    """Times log2(e) it would be infinite, and the first tile, which is all masked, NaN."""
    sums, largest = torch.full((4,), 9.0), torch.full((4,), 9.0)
    pytriton.kernel(FINITE_START, fast_math=fast)(sums, largest, torch.zeros(4, 16), 6, 16, grid=(1,))
    assert sums.tolist() == [10, 9, 8, 7]
    assert largest.tolist() == [0, 0, 0, 0]
