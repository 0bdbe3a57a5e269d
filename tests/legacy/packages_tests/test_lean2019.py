"""lean2019: a product, a normalisation and a bias."""

from __future__ import annotations

import lean2019
import pytest
import torch


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_dot(device, large, compare, transpose_a: bool, transpose_b: bool) -> None:
    m, n, k = large((70, 36, 40), (520, 1032, 264))
    a = torch.randn(*((k, m) if transpose_a else (m, k)), device=device)
    b = torch.randn(*((n, k) if transpose_b else (k, n)), device=device)
    compare(
        lambda a, b: lean2019.dot(a, b, transpose_a=transpose_a, transpose_b=transpose_b, alpha=-0.5),
        lambda a, b: -0.5 * ((a.t() if transpose_a else a) @ (b.t() if transpose_b else b)),
        (a, b),
        atol=3e-5,
    )


def test_dot_in_half(device, large, compare) -> None:
    m, n, k = large((32, 40, 48), (512, 768, 1024))
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    compare(lean2019.dot, lambda a, b: (a.float() @ b.float()).half(), (a, b), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("ragged", [(1, 1, 1), (33, 7, 19)], ids=str)
def test_dot_of_odd_sizes(device, compare, ragged: tuple[int, int, int]) -> None:
    m, n, k = ragged
    a, b = torch.randn(m, k, device=device), torch.randn(k, n, device=device)
    compare(lean2019.dot, torch.matmul, (a, b), atol=3e-5)


def test_dot_time(device, large) -> None:
    size = large(64, 2048)
    a, b = torch.randn(size, size, device=device), torch.randn(size, size, device=device)
    assert 0 < lean2019.time_dot(a, b) < 1000


def test_batchnorm(device, large, compare) -> None:
    n, c, h, w = large((3, 4, 7, 9), (32, 64, 28, 28))
    x = torch.randn(n, c, h, w, device=device) * 3 + 5
    gamma, beta = torch.randn(c, device=device), torch.randn(c, device=device)
    compare(
        lambda x, gamma, beta: lean2019.batchnorm(x, gamma, beta, 1e-5),
        lambda x, g, b: torch.nn.functional.batch_norm(x, None, None, g, b, training=True, eps=1e-5),
        (x, gamma, beta),
    )


@pytest.mark.parametrize("columns", [24, 9])
def test_add_bias(device, large, compare, columns: int) -> None:
    """With 9 columns the strides are no multiples of 8, as the text promises."""
    x = torch.randn(large(37, 5000), columns, device=device)
    b = torch.randn(columns, device=device)
    assert torch.equal(lean2019.add_bias(x, b), x + b)
    compare(lean2019.add_bias, torch.add, (x, b))
