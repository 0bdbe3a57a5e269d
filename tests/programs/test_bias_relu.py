"""ReLU(x + bias) and its gradients, whose bias part is summed by scalar atomics."""

from __future__ import annotations

import pytest
import torch
from bias_relu import backward_kernel, bias_relu
from bounds import assert_close, assert_same_numbers, integers, on_each

import pytriton

TYPES = [torch.float16, torch.bfloat16, torch.float32]
BY_TYPE = pytest.mark.parametrize("dtype", TYPES, ids=["half", "bfloat16", "float"])
SMALL = [(1, 1, 1), (2, 3), (3, 5, 7), (2, 2, 13, 21), (1, 2, 600)]
REAL = [(1, 1, 1), (128, 1000), (64, 128, 56, 56), (33, 65, 17, 19)]


@BY_TYPE
@on_each("shape", SMALL, REAL)
def test_forward_and_backward(device: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = torch.randn(shape, device=device).to(dtype).requires_grad_()
    bias = torch.randn(shape[1], device=device).to(dtype).requires_grad_()
    dy = torch.randn(shape, device=device).to(dtype)
    y = bias_relu(x, bias)
    y.backward(dy)
    broadcast = bias.detach().double().view(-1, *[1] * (len(shape) - 2))
    assert_close(y, (x.detach().double() + broadcast).relu())
    # what passes is decided by y as it was rounded
    dx = torch.where(y > 0, dy, 0)
    assert torch.equal(x.grad, dx)
    rest = (0, *range(2, len(shape)))
    terms = dx.numel() // shape[1]
    assert_close(bias.grad, dx.double().sum(rest), scale=dx.double().abs().sum(rest), terms=terms)


def test_nan_and_infinities(device: str) -> None:
    """As torch: a NaN stays one, forward and backward; -infinity becomes 0."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[nan, inf, -inf, -0.0, 1.0, -1.0]], device=device).view(1, 1, 6)
    dy = torch.tensor([[1.0, 2.0, nan, -inf, 5.0, 6.0]], device=device).view(1, 1, 6)
    results = []
    for apply in (bias_relu, lambda x, b: (x + b[:, None]).relu()):
        bias = torch.zeros(1, device=device, requires_grad=True)
        leaf = x.clone().requires_grad_()
        y = apply(leaf, bias)
        y.backward(dy)
        results.append((y.detach(), leaf.grad, bias.grad))
    for got, want in zip(*results, strict=True):
        assert_same_numbers(got, want)


# the last: 4096 programs a channel
@on_each("n c length tile", [(4, 2, 150, 16)], [(64, 3, 16384, 256)] * 20)
def test_many_programs_add_to_one_address(device: str, n: int, c: int, length: int, tile: int) -> None:
    """Whole numbers, so that the sum is the same in any order; n * length / tile programs a channel."""
    dy = integers((n, c, length), torch.float32, device, top=2)
    y = integers((n, c, length), torch.float32, device)
    dx, db = torch.empty_like(y), torch.full((c,), 5.0, device=device)
    grid = (pytriton.cdiv(length, tile), c, n)
    backward_kernel(dy, y, dx, db, length, grid=grid, defines={"TYPE": "float", "TL": tile})
    want = torch.where(y > 0, dy, 0)
    assert torch.equal(dx, want)
    assert torch.equal(db, 5 + want.sum((0, 2)))  # added to what was there
