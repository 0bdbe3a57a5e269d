"""The fused sine and its gradient give torch's numbers."""

from __future__ import annotations

import pytest
import torch
from bounds import SIGNIFICAND, bound, on_each
from sin import scaled_sin

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def assert_near(got: torch.Tensor, want: torch.Tensor, scale: float) -> None:
    """Every element, relative to the largest value there can be."""
    assert float((got.double() - want).abs().max()) <= scale * bound(got.dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@on_each("n", [1, 5, 513], [1, 1_000_003])
def test_forward_and_backward(device: str, n: int, dtype: torch.dtype) -> None:
    x = (10 * torch.randn(n, device=device)).to(dtype).requires_grad_()
    dy = torch.randn(n, device=device).to(dtype)
    y = scaled_sin(x, -0.5)
    y.backward(dy)
    exact = x.detach().double()
    assert y.dtype == x.grad.dtype == dtype
    assert_near(y.detach(), -0.5 * exact.sin(), 0.5)
    assert_near(x.grad, -0.5 * dy.double() * exact.cos(), 0.5 * float(dy.abs().max()))


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_numbers(dtype: torch.dtype, device: str) -> None:
    x = torch.tensor([0.0, -0.0, float("nan"), float("inf"), -float("inf")], device=device)
    y = scaled_sin(x.to(dtype))
    assert torch.equal(y[:2], torch.zeros(2, dtype=dtype, device=device))
    assert y[:2].signbit().tolist() == [False, True]
    assert bool(y[2:].isnan().all())


def test_half_is_computed_in_float() -> None:
    """Rounded once: at most half an ulp of half away from the sine of every half in [-8, 8]."""
    x = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    x = x[x.abs() <= 8][::7].contiguous()
    y, want = scaled_sin(x).double(), x.double().sin()
    ulp = 2.0 ** (want.abs().clamp(min=2.0**-14).log2().floor() - (SIGNIFICAND[x.dtype] - 1))
    assert bool(((y - want).abs() <= 0.501 * ulp).all())


def test_gradient_against_differences() -> None:
    x = torch.randn(7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: scaled_sin(t, 2.0), (x,))


def test_shape_is_kept(device: str) -> None:
    x = torch.randn(3, 5, 7, device=device)
    assert torch.allclose(scaled_sin(x, 2.0), 2 * x.sin(), rtol=0, atol=1e-6)
