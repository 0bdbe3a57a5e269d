"""Layer norm and its gradients, whose parameter part is summed under locks."""

from __future__ import annotations

import layer_norm as program
import pytest
import torch
from bounds import assert_close, assert_nothing_beside, at_sea, integers, on_each
from layer_norm import layer_norm

import pytriton

# blocks are multiples of 128: 128, 256, 512, 1024, and those that are no powers of two
SMALL = [(1, 1), (3, 7), (5, 128), (2, 3, 200), (3, 384), (2, 600)]
REAL = [(1, 1), (5000, 1000), (8, 33, 120), (300, 8192), (4, 1024, 1600), (4096, 768)]


@on_each("shape", SMALL, REAL)
@pytest.mark.sampled(4)
def test_forward_and_backward(device: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    n = shape[-1]
    x = (3 * torch.randn(shape, device=device) - 2).to(dtype).requires_grad_()
    gamma = torch.randn(n, device=device).to(dtype).requires_grad_()
    beta = torch.randn(n, device=device).to(dtype).requires_grad_()
    dy = torch.randn(shape, device=device).to(dtype)
    y = layer_norm(x, gamma, beta, eps=1e-3)
    y.backward(dy)

    exact = x.detach().double()
    mean, var = exact.mean(-1, keepdim=True), exact.var(-1, keepdim=True, correction=0)
    rstd = (var + 1e-3).rsqrt()
    xhat = (exact - mean) * rstd
    g, b, dy = (t.detach().double() for t in (gamma, beta, dy))
    c1, c2 = (xhat * g * dy).mean(-1, keepdim=True), (g * dy).mean(-1, keepdim=True)
    rest = tuple(range(len(shape) - 1))
    terms = exact.numel() // n
    # where a difference or a sum cancels, the error is relative to what goes into it
    spread = (exact.abs() + mean.abs()) * rstd
    in_dx = (g * dy).abs() + (xhat.abs() + spread) * c1.abs() + (g * dy).abs().mean(-1, keepdim=True)
    assert_close(y, xhat * g + b, scale=spread * g.abs() + b.abs())
    assert_close(x.grad, (g * dy - xhat * c1 - c2) * rstd, scale=in_dx * rstd)
    assert_close(gamma.grad, (dy * xhat).sum(rest), scale=(dy.abs() * spread).sum(rest), terms=terms)
    assert_close(beta.grad, dy.sum(rest), scale=dy.abs().sum(rest), terms=terms)


# the last: up to 3000 programs a lock
@on_each("rows n buffers", [(10, 20, 1), (10, 20, 3)], [(3000, 1000, each) for each in (1, 3, 64)] * 20)
def test_rows_meet_at_a_lock(device: str, rows: int, n: int, buffers: int) -> None:
    """Whole numbers, so that the sums are the same in any order; rows / buffers programs a lock."""
    x, dy = integers((rows, n), torch.float32, device), integers((rows, n), torch.float32, device)
    dx, ones = torch.empty_like(x), torch.ones(n, device=device)
    mean, rstd = torch.zeros(rows, device=device), torch.full((rows,), 2.0, device=device)
    sums = torch.zeros(2, buffers, n, device=device)
    locks = torch.zeros(buffers, dtype=torch.int32, device=device)
    program.backward_kernel(
        *(x, dy, dx, ones, mean, rstd, sums[0], sums[1], locks, buffers, n),
        grid=(rows,),
        defines={"TYPE": "float", "TN": pytriton.next_power_of_2(n)},
    )
    for buffer in range(buffers):
        mine = slice(buffer, None, buffers)
        assert torch.equal(sums[0, buffer], (2 * x[mine] * dy[mine]).sum(0))
        assert torch.equal(sums[1, buffer], dy[mine].sum(0))
    assert not locks.any()


def test_a_nan_stays_in_its_row(device: str) -> None:
    x = torch.randn(4, 100, device=device)
    x[2, 99] = float("nan")
    y = layer_norm(x, torch.ones(100, device=device), torch.zeros(100, device=device))
    assert bool(y[2].isnan().all())
    assert not bool(y[[0, 1, 3]].isnan().any())


@pytest.mark.parametrize("buffers", [1, 16, 17])
def test_finish_sums_any_number_of_buffers(device: str, buffers: int) -> None:
    sums = integers((2, buffers, 70), torch.float32, device)
    gamma, beta = at_sea((70,), device), at_sea((70,), device)
    defines = {"TYPE": "float", "TN": 64, "TB": 16}
    program.finish_kernel(sums[0], sums[1], gamma, beta, buffers, 70, grid=(2,), defines=defines)
    for got, parts in ((gamma, sums[0]), (beta, sums[1])):
        assert torch.equal(got, parts.sum(0))
        assert_nothing_beside(got)
