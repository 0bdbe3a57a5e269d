"""How close is close enough: every bound comes from the number format, not from what passed.

A result that is computed in float or better, and rounded once to a type with p bits of significand,
is off by at most 2^-p of itself. So is a block of them in the Frobenius norm. What the computation
in float adds is taken as 1e-6:

* A sum of n products in float, with terms of random signs, is off by a little under
  sqrt(n) * 2^-25 in that norm: 8.1e-7 was measured for n = 2048, in IEEE arithmetic and in cuBLAS.
  TF32 gives 7.7e-4 and a product of three bfloat16 parts 4.4e-6, so 1e-6 tells fp32 from both.
  Longer sums are allowed more, as sqrt(n).
* exp, sin, cos and a division may each be off by 2 ulp (2.4e-7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch

FLOAT_ARITHMETIC = 1e-6
SIGNIFICAND = {torch.float16: 11, torch.bfloat16: 8}


def bound(dtype: torch.dtype, terms: int = 1) -> float:
    """The largest relative error, in the Frobenius norm, of sums of so many terms."""
    if dtype == torch.float64:
        return 1e-14
    rounding = 2.0 ** -SIGNIFICAND[dtype] if dtype in SIGNIFICAND else 0.0
    return rounding + FLOAT_ARITHMETIC * max(1.0, terms / 2048) ** 0.5


def assert_close(
    got: torch.Tensor, want: torch.Tensor, scale: torch.Tensor | None = None, terms: int = 1
) -> None:
    """`got` has the shape of `want` (in double) and its numbers, to the precision of its own type.

    `scale`: what the error is relative to, where numbers cancel; else `want`.
    """
    assert got.shape == want.shape
    scale = want if scale is None else scale
    error = float((got.detach().double() - want.detach()).norm())
    size, allowed = float(scale.detach().norm()), bound(got.dtype, terms)
    assert error <= allowed * size, f"error {error:.2e} of {size:.2e}, relatively allowed {allowed:.2e}"


def assert_gradients(function: Any, reference: Any, *leaves: torch.Tensor) -> None:
    """What a function gives, and its gradients, are those of another one in double."""
    exact = [leaf.double().requires_grad_() for leaf in leaves]
    given = [leaf.requires_grad_() for leaf in leaves]
    found, wanted = function(*given), reference(*exact)
    cotangent = torch.randn_like(found)
    found.backward(cotangent)
    wanted.backward(cotangent.double())
    assert {found.dtype, *(leaf.grad.dtype for leaf in given)} == {given[0].dtype}
    for got, want in zip([found, *(x.grad for x in given)], [wanted, *(x.grad for x in exact)], strict=True):
        assert_close(got, want)


def bits(x: torch.Tensor) -> torch.Tensor:
    """The bytes of every element: NaN payloads and the sign of zero count."""
    return x.reshape(-1).view(torch.uint8)


def assert_same_bits(got: torch.Tensor, want: torch.Tensor) -> None:
    """Equal in type, shape and every bit."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert torch.equal(bits(got), bits(want))


def assert_same_numbers(got: torch.Tensor, want: torch.Tensor) -> None:
    """Equal in every bit, save that one NaN is as good as another."""
    if got.dtype.is_floating_point:
        assert torch.equal(got.isnan(), want.isnan())
        got, want = (x.masked_fill(x.isnan(), 0) for x in (got, want))
    assert_same_bits(got, want)


def integers(shape: tuple[int, ...], dtype: torch.dtype, device: str, top: int = 3) -> torch.Tensor:
    """Whole numbers in [-top, top]: sums of few enough products are exact in every type."""
    return torch.randint(-top, top + 1, shape, device=device).to(dtype)


def on_each(names: str, small: Sequence[Any], real: Sequence[Any]) -> pytest.MarkDecorator:
    """Cases ``device, *names``: small ones on the CPU, real ones on a GPU."""
    rows = [("cpu", one, ()) for one in small] + [("cuda", one, pytest.mark.gpu) for one in real]
    several = len(names.split()) > 1
    cases = [pytest.param(device, *(one if several else [one]), marks=mark) for device, one, mark in rows]
    return pytest.mark.parametrize(("device", *names.split()), cases)


def at_sea(shape: tuple[int, ...], device: str, value: float = 7.0) -> torch.Tensor:
    """A tensor in the middle of a larger one, with the same number everywhere."""
    inner = torch.full((math.prod(shape) + 80,), value, device=device)[40:-40]
    return inner.view(shape)


def assert_nothing_beside(x: torch.Tensor, value: float = 7.0) -> None:
    """What lies around a view has kept its number."""
    sea = torch.empty(0, device=x.device, dtype=x.dtype).set_(x.untyped_storage()).clone()
    sea.as_strided(x.shape, x.stride(), x.storage_offset()).fill_(value)
    assert bool((sea == value).all())
