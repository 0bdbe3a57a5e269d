"""Split-K gives torch's numbers, however many programs share a tile and its lock."""

from __future__ import annotations

from itertools import product

import pytest
import split_k
import torch
from bounds import assert_close, assert_nothing_beside, integers, on_each
from split_k import matmul

# K shorter than a step, no multiple of one, less than a step a slice (so that slices are empty)
SMALL = [(1, 1, 1), (33, 17, 70), (64, 32, 256), (20, 40, 333)]
REAL = [(1, 1, 1), (513, 257, 4099), (256, 512, 16_384)]


def tiles(tile: int, slices: int, step: int = 16) -> dict[str, int]:
    return {"TM": tile, "TN": tile, "TK": step, "TZ": slices}


def check_exact(
    m: int, n: int, k: int, dtype: torch.dtype, device: str, point: dict[str, int] | None
) -> None:
    """Small whole numbers: every partial sum is exact, in half too, in whatever order slices come."""
    top = 3 if k <= 200 else 1
    a, b = integers((m, k), dtype, device, top), integers((k, n), dtype, device, top)
    got = matmul(a, b, point)
    assert torch.equal(got.double(), a.double() @ b.double())
    assert not split_k.locks[a.device].any()


@on_each("size slices", list(product(SMALL, (1, 2, 5))), list(product(REAL, (1, 4, 7))))
@pytest.mark.sampled(9)
def test_exact(size: tuple[int, int, int], slices: int, dtype: torch.dtype, device: str) -> None:
    check_exact(*size, dtype, device, tiles(16, slices) if device == "cpu" else tiles(64, slices, 32))


@pytest.mark.gpu
@pytest.mark.parametrize("slices", [256, 600])
def test_hundreds_of_programs_on_each_lock(slices: int, dtype: torch.dtype) -> None:
    for size in ((64, 64, 32 * slices), (192, 130, 32 * slices)):
        for _ in range(30):
            check_exact(*size, dtype, "cuda", tiles(64, slices, 32))


def test_rounding(dtype: torch.dtype, device: str) -> None:
    """Each slice is rounded to the type of C when it is added: so is the bound, TZ times."""
    m, n, k = (513, 257, 4096) if device == "cuda" else (33, 17, 128)
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    exact = a.double() @ b.double()
    assert_close(matmul(a, b, tiles(32, 1)), exact, terms=k)
    assert_close(matmul(a, b, tiles(32, 4)), exact, scale=2 * exact, terms=k)


@pytest.mark.gpu
def test_tuned() -> None:
    """The sweep restores C and the locks between its runs."""
    check_exact(512, 384, 2048, torch.float16, "cuda", None)


def test_outside_is_neither_read_nor_written(device: str) -> None:
    """Operands lie in a sea of NaN, the result in a sea of sevens."""
    sea = torch.full((2, 96, 96), float("nan"), device=device)  # operands aligned to 16 bytes
    a, b = sea[0, 12:45, 12:83], sea[1, 12:83, 12:33]
    a.copy_(integers((33, 71), torch.float32, device))
    b.copy_(integers((71, 21), torch.float32, device))
    c = torch.full((96, 96), 7.0, device=device)[8:41, 8:29]
    locks = torch.zeros(2 * 6, dtype=torch.int32, device=device)
    defines = {"TYPE": "float", "MULTIPLE_K": "", "MULTIPLE_N": "", **tiles(16, 3)}
    split_k.kernel(a, b, c, 33, 21, 71, 96, 96, 96, locks, grid=(3, 2, 3), defines=defines)
    assert torch.equal(c, a @ b)
    assert_nothing_beside(c)


@pytest.mark.parametrize("slices", [1, 3])
def test_special_numbers(device: str, slices: int) -> None:
    """NaN and infinity stay in their row, whatever the masked ends of a ragged tile add to it."""
    a, b = integers((35, 45), torch.float32, device), torch.ones(45, 35, device=device)
    a[3, 3], a[34, 44], a[17, 0] = float("nan"), float("inf"), -float("inf")
    got = matmul(a, b, tiles(16, slices))
    assert torch.equal(got.nan_to_num(nan=99.0), (a @ b).nan_to_num(nan=99.0))
