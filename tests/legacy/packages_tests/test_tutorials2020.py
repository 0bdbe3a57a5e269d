"""tutorials2020: an addition, a product, a convolution and a transposition."""

from __future__ import annotations

import pytest
import torch
from tutorials2020 import conv, matmul, transpose, vector_add


def test_vector_add(device, large, compare) -> None:
    x, y = (torch.randn(large(1001, 10_000_001), device=device) for _ in range(2))
    compare(vector_add.add, torch.add, (x, y), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_matmul(device, large, compare, dtype: torch.dtype) -> None:
    m, n, k = large((64, 128, 64), (512, 1024, 768))
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    tolerance = 1e-4 if dtype == torch.float32 else 2e-3
    compare(
        lambda a, b: matmul.dot(a, b, 2.0),
        lambda a, b: (2.0 * (a.float() @ b.float())).to(dtype),
        (a, b),
        rtol=tolerance,
        atol=3e-5 if dtype == torch.float32 else tolerance,
    )


@pytest.mark.parametrize("pad", [0, 1, 2])
def test_conv(device, large, compare, pad: int) -> None:
    nb, c, h, w, nf = large((2, 3, 8, 7, 5), (8, 32, 28, 30, 64))
    x, f = torch.randn(nb, c, h, w, device=device), torch.randn(nf, c, 3, 3, device=device)
    compare(
        lambda x, f: conv.conv(x, f, pad),
        lambda x, f: torch.nn.functional.conv2d(x.double(), f.double(), padding=pad).float(),
        (x, f),
        atol=3e-5,
    )


@pytest.mark.parametrize("shape", [(40, 24), (1, 9), (1, 16)], ids=str)
def test_transpose(device, large, shape: tuple[int, int]) -> None:
    """A row's column has a stride of 1, which is not a multiple of 8, as the text promises."""
    x = torch.randn(*(size * large(1, 50) for size in shape), device=device)
    assert torch.equal(transpose.transpose(x), x.t())


def test_times(large) -> None:
    assert vector_add.bandwidth(large(300, 1 << 24)) > 0
    assert matmul.throughput(*large((64, 64, 64), (2048, 2048, 2048))) > 0
    assert conv.throughput(*large((1, 2, 6, 6, 3, 3), (16, 64, 56, 56, 64, 3))) > 0
