"""Row softmax and its gradient give torch's numbers, infinities and NaN included."""

from __future__ import annotations

import pytest
import torch
from bounds import assert_close, assert_nothing_beside, assert_same_numbers, at_sea, on_each
from softmax import forward_kernel, softmax

SMALL = [(1, 1), (3, 7), (2, 64), (5, 100), (2, 1000)]
REAL = [(1, 1), (8192, 781), (1024, 4096), (77, 10_001)]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", FLOATS)
@on_each("rows n", SMALL, REAL)
@pytest.mark.sampled(4)
def test_forward_and_backward(device: str, rows: int, n: int, dtype: torch.dtype) -> None:
    x = (3 * torch.randn(rows, n, device=device)).to(dtype).requires_grad_()
    dy = torch.randn(rows, n, device=device).to(dtype)
    y = softmax(x)
    y.backward(dy)
    assert_close(y, x.double().softmax(dim=1))
    # The gradient is that of the rounded result: torch, too, keeps y and not x. Where y is nearly 1
    # its two terms cancel, and the error is relative to them.
    saved, dy = y.detach().double(), dy.double()
    mean = (saved * dy).sum(dim=1, keepdim=True)
    assert_close(x.grad, saved * (dy - mean), scale=saved * (dy.abs() + mean.abs()))
    if n == 1:
        assert not x.grad.any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinities_and_nan(dtype: torch.dtype, device: str) -> None:
    """Rows that torch itself answers exactly: 0, 1, 1/2, 1/4 and NaN."""
    rows = [
        [0.0, 0.0, -INF, -INF, -INF],  # masked out: exactly 0
        [-INF, 2.5, -INF, -INF, -INF],  # one survivor: exactly 1
        [3.0, 3.0, 3.0, 3.0, -INF],
        [-INF] * 5,  # nothing survives: NaN, as in torch
        [1.0, INF, 2.0, 3.0, -INF],
        [1.0, NAN, 2.0, 3.0, 4.0],
    ]
    x = torch.tensor(rows, dtype=dtype, device=device)
    assert_same_numbers(softmax(x), x.softmax(dim=1))


def test_large_numbers_do_not_overflow(device: str) -> None:
    x = torch.tensor([[1e4, 1e4 - 1, -1e4], [-1e30, -1e30, 1.0]], device=device)
    assert_close(softmax(x), x.double().softmax(dim=1))


def test_rows_apart_and_nothing_outside_is_touched(device: str) -> None:
    wide = torch.full((6, 50), INF, device=device)  # an element read from outside shows
    x = wide[:, 10:43]
    x.copy_(torch.randn(6, 33))
    assert_close(softmax(x), x.double().softmax(dim=1))
    y = at_sea((6, 33), device)
    defines = {"TYPE": "float", "ACC": "float", "TN": 64}
    forward_kernel(y, x, 33, x.stride(0), grid=(6,), defines=defines)
    assert_close(y, x.double().softmax(dim=1))
    assert_nothing_beside(y)


@pytest.mark.parametrize("tile", [48, 768])
def test_block_that_is_no_power_of_two(tile: int) -> None:
    """Legal until 2021, and how the row softmax of that time was called."""
    x = torch.randn(3, 40)
    y = torch.empty_like(x)
    defines = {"TYPE": "float", "ACC": "float", "TN": tile}
    forward_kernel(y, x, 40, 40, grid=(3,), defines=defines)
    assert_close(y, x.double().softmax(dim=1))


def test_gradient_against_differences() -> None:
    x = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, (x,))
