"""Batch norm and its gradients: two loops in sequence over tiles that cross from sample to sample."""

from __future__ import annotations

import torch
from batch_norm import batch_norm, forward_kernel
from bounds import assert_close, assert_nothing_beside, at_sea, on_each

# fewer elements than a tile of 256, as many, more; the last: many samples in one tile
SMALL = [(2, 1, 1), (1, 3, 7), (4, 3, 8, 8), (3, 2, 11, 19), (70, 2, 9), (300, 2)]
REAL = [(2, 1, 1), (64, 128, 56, 56), (33, 65, 17, 19), (4096, 300)]


@on_each("shape", SMALL, REAL)
def test_forward_and_backward(device: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = (3 * torch.randn(shape, device=device) - 2).to(dtype).requires_grad_()
    gamma = torch.randn(shape[1], device=device, requires_grad=True)
    beta = torch.randn(shape[1], device=device, requires_grad=True)
    dy = torch.randn(shape, device=device).to(dtype)
    y = batch_norm(x, gamma, beta, eps=1e-3)
    y.backward(dy)

    rest = (0, *range(2, len(shape)))
    exact = x.detach().double()
    mean, var = exact.mean(rest, keepdim=True), exact.var(rest, keepdim=True, correction=0)
    rstd = (var + 1e-3).rsqrt()
    xhat = (exact - mean) * rstd
    per_channel = (1, -1, *[1] * (len(shape) - 2))
    g, b = (t.detach().double().view(per_channel) for t in (gamma, beta))
    dy = dy.double()
    dgamma, dbeta = (dy * xhat).sum(rest, keepdim=True), dy.sum(rest, keepdim=True)
    terms = exact.numel() // shape[1]
    dx = g * rstd * (dy - dbeta / terms - xhat * dgamma / terms)
    # where a difference or a sum cancels, the error is relative to what goes into it
    spread = (exact.abs() + mean.abs()) * rstd
    assert_close(y, xhat * g + b, scale=spread * g.abs() + b.abs(), terms=terms)
    assert_close(x.grad, dx, scale=g * rstd * (1 + spread) * (dy.abs() + 1), terms=terms)
    assert_close(gamma.grad, dgamma.flatten(), scale=(dy.abs() * spread).sum(rest), terms=terms)
    assert_close(beta.grad, dbeta.flatten(), scale=dy.abs().sum(rest), terms=terms)


def test_large_means_do_not_cancel(device: str) -> None:
    """Around 1e4 with a spread of 1, E[x^2] - E[x]^2 in float would leave no digit."""
    x = 1e4 + torch.randn(4, 2, 300, device=device)
    ones, zeros = torch.ones(2, device=device), torch.zeros(2, device=device)
    want = torch.nn.functional.batch_norm(x.double(), None, None, training=True)
    assert float((batch_norm(x, ones, zeros) - want).abs().max()) < 5e-3  # ulp(1e4) is 1e-3


def test_a_nan_stays_in_its_channel(device: str) -> None:
    x = torch.randn(3, 4, 50, device=device)
    x[1, 2, 3] = float("nan")
    y = batch_norm(x, torch.ones(4, device=device), torch.zeros(4, device=device))
    assert bool(y[:, 2].isnan().all())
    assert not bool(y[:, [0, 1, 3]].isnan().any())


def test_nothing_outside_is_written(device: str) -> None:
    n, c, length = 2, 3, 37
    y, x = (at_sea((n, c, length), device) for _ in range(2))
    x.copy_(torch.randn(n, c, length))
    mean, rstd, gamma, beta = (at_sea((c,), device) for _ in range(4))
    gamma.fill_(1)
    beta.fill_(0)
    defines = {"TYPE": "float", "TM": 64}
    forward_kernel(x, y, mean, rstd, gamma, beta, n, length, 1e-5, grid=(c,), defines=defines)
    exact = x.double()
    assert_close(mean, exact.mean((0, 2)), scale=exact.abs().mean((0, 2)))
    assert_close(rstd, (exact.var((0, 2), correction=0) + 1e-5).rsqrt())
    for each in (y, x, mean, rstd, gamma, beta):
        assert_nothing_beside(each)
