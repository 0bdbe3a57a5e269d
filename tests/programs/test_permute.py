"""Every order of four axes, at ragged sizes, through blocks of three axes."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from bounds import assert_nothing_beside, assert_same_bits, at_sea
from permute import kernel, order_defines, permute, tiles

ORDERS = list(permutations(range(4)))
BY_ORDER = pytest.mark.parametrize("dims", ORDERS, ids=["".join(map(str, order)) for order in ORDERS])
TYPES = [torch.float16, torch.float32, torch.float64, torch.int8, torch.int64]


def check(shape: tuple[int, ...], dims: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
    x = torch.randint(-120, 120, shape, device=device).to(dtype)
    assert_same_bits(permute(x, dims), x.permute(dims).contiguous())


@BY_ORDER
@pytest.mark.sampled(12)
def test_every_order(dims: tuple[int, ...]) -> None:
    """Two or more blocks along some axes, ragged ends along all."""
    check((3, 5, 9, 35), dims, TYPES[sum(dims[:2]) % len(TYPES)], "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
@BY_ORDER
def test_every_order_gpu(dims: tuple[int, ...], dtype: torch.dtype) -> None:
    check((37, 65, 51, 83), dims, dtype, "cuda")


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 1, 3, 1), (1, 70, 1, 2), (4, 0, 3, 2)])
def test_axes_of_one_and_none(shape: tuple[int, ...], device: str) -> None:
    for dims in ((0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)):
        check(shape, dims, torch.float32, device)


def test_any_strides_and_special_numbers(device: str) -> None:
    """Views with gaps, turned axes and repeated rows; NaN and -0.0 keep their bits."""
    x = torch.randn(6, 8, 10, 12, device=device)
    x[0, 0, 0, :3] = torch.tensor([float("nan"), -0.0, float("-inf")])
    for view in (x[1:, ::2, :, 3:], x.permute(3, 1, 0, 2), x[:, :1].expand(6, 3, 10, 12)):
        assert_same_bits(permute(view, (2, 0, 3, 1)), view.permute(2, 0, 3, 1).contiguous())


def test_nothing_outside_is_written(device: str) -> None:
    x = torch.randn(2, 3, 5, 7, device=device)
    y = at_sea((2, 5, 7, 3), device)
    strides = [*(x.stride(axis) for axis in (1, 2, 3, 0)), *(y.stride(axis) for axis in (3, 1, 2, 0))]
    defines = {"TYPE": "float", **order_defines((1, 2, 0)), **tiles((1, 2, 0))}
    kernel(x, y, 3, 5, 7, *strides, grid=(1 * 2 * 2, 1), defines=defines)  # T0, T1 are 32, 4
    assert torch.equal(y, x.permute(0, 2, 3, 1))
    assert_nothing_beside(y)


@pytest.mark.gpu
def test_more_than_two_to_the_31_elements() -> None:
    """Offsets are long: 4.4 GB of char on each side."""
    x = torch.randint(-120, 120, (70_000, 1, 250, 250), dtype=torch.int8, device="cuda")
    assert torch.equal(permute(x, (2, 3, 1, 0)), x.permute(2, 3, 1, 0))
