"""Vector addition gives torch's bits: every type, any length, nothing written outside."""

from __future__ import annotations

import pytest
import torch
import vector_add
from bounds import assert_nothing_beside, assert_same_bits, assert_same_numbers, at_sea, on_each

import pytriton as triton

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
NAN, INF = float("nan"), float("inf")


def operands(n: int, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Two vectors over the whole range of an integer type (sums wrap), or of normal numbers."""
    if dtype.is_floating_point:
        x, y = torch.randn(2, n, device=device)
        return x.to(dtype), y.to(dtype)
    limits = torch.iinfo(dtype)
    x, y = torch.randint(limits.min, limits.max, (2, n), device=device, dtype=dtype)
    return x, y


@pytest.mark.parametrize("n", [1, 2, 32, 256])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
def test_one_block(n: int, dtype: torch.dtype, device: str) -> None:
    x, y = operands(n, dtype, device)
    assert_same_bits(vector_add.add_one_block(x, y), x + y)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@on_each("n", [1, 63, 200], [1, 1_000_003, 1 << 24])
def test_many_blocks(n: int, dtype: torch.dtype, device: str) -> None:
    x, y = operands(n, dtype, device)
    assert_same_bits(vector_add.add(x, y, tile=64 if device == "cpu" else 1024), x + y)


@pytest.mark.parametrize("tile", [1, 2, 1024])
def test_tile_sizes(tile: int) -> None:
    x, y = operands(5, torch.float32, "cpu")
    assert_same_bits(vector_add.add(x, y, tile=tile), x + y)


def test_tuned(device: str) -> None:
    x, y = operands(3001 if device == "cpu" else 10_000_019, torch.float32, device)
    assert_same_bits(vector_add.add_tuned(x, y), x + y)
    assert vector_add.many_blocks.best_config is not None


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_numbers(dtype: torch.dtype, device: str) -> None:
    special = [
        NAN,
        INF,
        -INF,
        0.0,
        -0.0,
        1.0,
        -1.0,
        torch.finfo(dtype).max,
        torch.finfo(dtype).tiny,
    ]
    table = torch.tensor(special, dtype=dtype, device=device)
    x, y = table.repeat_interleave(len(special)), table.repeat(len(special))
    assert_same_numbers(vector_add.add(x, y, tile=32), x + y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: torch.dtype, device: str) -> None:
    limits = torch.iinfo(dtype)
    x = torch.tensor([limits.max, limits.min, limits.min, limits.max], dtype=dtype, device=device)
    y = torch.tensor([1, limits.min, limits.max, limits.max], dtype=dtype, device=device)
    assert_same_bits(vector_add.add(x, y, tile=4), x + y)


def test_nothing_outside_is_written(device: str) -> None:
    x, y = operands(100, torch.float32, device)
    z = at_sea((100,), device)
    vector_add.many_blocks(z, x, y, 100, grid=(2,), defines={"TYPE": "float", "TILE": 64})
    assert torch.equal(z, x + y)
    assert_nothing_beside(z)


def test_fewer_programs_than_blocks(device: str) -> None:
    """A grid is the user's word: one program does one tile."""
    x, y = operands(100, torch.float32, device)
    z = torch.zeros(100, device=device)
    vector_add.many_blocks(z, x, y, 100, grid=(1,), defines={"TYPE": "float", "TILE": 64})
    assert torch.equal(z[:64], (x + y)[:64])
    assert not z[64:].any()


def test_in_place() -> None:
    """Without __noalias the result may be an operand."""
    x, y = operands(16, torch.float32, "cpu")
    want = x + y
    vector_add.one_block(x, x, y, grid=(1,), defines={"TYPE": "float", "TILE": 16})
    assert torch.equal(x, want)


def test_no_elements() -> None:
    x = torch.empty(0)
    assert vector_add.add(x, x).shape == (0,)


def test_every_way_to_write_the_grid() -> None:
    x, y = operands(40, torch.float32, "cpu")
    grids = (
        lambda opt: (triton.cdiv(40, opt.TILE),),
        lambda opt: (triton.cdiv(40, opt.d("TILE")),),
        lambda opt: [triton.cdiv(40, opt["TILE"])],
        (3,),
        3,
    )
    for grid in grids:
        z = torch.empty_like(x)
        vector_add.many_blocks(z, x, y, 40, grid=grid, defines={"TYPE": "float", "TILE": 16})
        assert torch.equal(z, x + y)
