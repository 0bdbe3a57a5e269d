"""Copy and transpose move bits: random patterns of every type, NaN payloads included."""

from __future__ import annotations

import pytest
import torch
from bounds import assert_nothing_beside, assert_same_bits, on_each
from copy_transpose import copy, copy_kernel, transpose, transpose_kernel

TYPES = [
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
]


SMALL = [(1, 1), (1, 40), (40, 1), (32, 64), (33, 70)]
REAL = [(1, 1), (4099, 2053), (1024, 4096)]


def patterns(m: int, n: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    """An m x n matrix whose every bit is random."""
    width = torch.empty((), dtype=dtype).element_size()
    raw = torch.randint(0, 256, (m, n * width), dtype=torch.uint8, device=device)
    return raw.view(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@on_each("m n", SMALL, REAL)
@pytest.mark.sampled(6)
def test_bits_are_kept(device: str, m: int, n: int, dtype: torch.dtype) -> None:
    x = patterns(m, n, dtype, device)
    assert_same_bits(copy(x), x)
    assert_same_bits(transpose(x), x.t().contiguous())


def test_bool(device: str) -> None:
    x = torch.rand(19, 35, device=device) < 0.5
    assert torch.equal(copy(x), x)
    assert torch.equal(transpose(x), x.t())


@pytest.mark.parametrize("tm", [1, 2, 16, 64])
@pytest.mark.parametrize("tn", [1, 32])
def test_tiles(tm: int, tn: int) -> None:
    x = patterns(9, 37, torch.float32, "cpu")
    tiles = {"TM": tm, "TN": tn}
    assert_same_bits(copy(x, tiles), x)
    assert_same_bits(transpose(x, tiles), x.t())


def test_rows_apart(device: str) -> None:
    x = patterns(60, 90, torch.float16, device)[5:50, 3:60]
    assert_same_bits(copy(x), x)
    assert_same_bits(transpose(x), x.t().contiguous())


def test_nothing_outside_is_written(device: str) -> None:
    x = patterns(20, 30, torch.int32, device)
    defines = {"TYPE": "int", "TM": 16, "TN": 16}
    y = torch.full((40, 50), 7, dtype=torch.int32, device=device)
    for kernel, part, want in ((copy_kernel, y[:20, :30], x), (transpose_kernel, y[:30, :20], x.t())):
        y.fill_(7)
        kernel(part, x, 20, 30, 50, 30, grid=(2, 2), defines=defines)
        assert torch.equal(part, want)
        assert_nothing_beside(part)


def test_twice_is_the_identity(device: str) -> None:
    x = patterns(45, 77, torch.float64, device)
    assert_same_bits(transpose(transpose(x)), x)
