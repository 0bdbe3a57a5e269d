"""blocksparse2020: products with a sparse matrix; squares of blocks, rows in pieces, shares under locks."""

from __future__ import annotations

import importlib

import blocksparse2020
import pytest
import torch
from block_sparse import blocks_of, check_product, masked, random_layout

lut = importlib.import_module("blocksparse2020.lut")
matmul = importlib.import_module("blocksparse2020.matmul")

# rows of 6, 1 and no blocks, then of 4, 1 and 5: two are computed in pieces, each with its lock, and one is zero
UNEVEN = [
    [[1, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
    [[1, 1, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0], [0, 1, 1, 1, 1, 1]],
]
LAYOUTS = {"strided": blocksparse2020.strided_layout(2, 5, 2), "uneven": torch.tensor(UNEVEN)}


def check(device, compare, *given, **more) -> None:
    check_product(blocksparse2020.MatMul, compare, device, *given, **more)


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("mode", ["sdd", "dsd", "dds"])
def test_products(device, large, compare, mode: str, trans_a: bool, trans_b: bool) -> None:
    layout = random_layout(*large((2, 3, 4, 3), (4, 24, 20, 5)), device)
    block, free = large((16, 20), (32, 200))
    check(device, compare, layout, block, mode, trans_a, trans_b, free, torch.float32, alpha=-0.5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", ["sdd", "dsd", "dds"])
def test_layouts(device, large, compare, layout: str, mode: str) -> None:
    check(
        device,
        compare,
        LAYOUTS[layout].to(device),
        large(16, 32),
        mode,
        False,
        mode == "sdd",
        64,
        torch.float32,
    )


@pytest.mark.parametrize("free", [64, 33])
@pytest.mark.parametrize("mode", ["sdd", "dsd", "dds"])
def test_products_in_half(device, large, compare, mode: str, free: int) -> None:
    layout = random_layout(*large((1, 2, 3, 2), (4, 24, 20, 5)), device)
    check(device, compare, layout, 16, mode, True, False, free, torch.float16)


@pytest.mark.parametrize("block", [8, 32, 64])
def test_each_size_of_blocks(device, compare, block: int) -> None:
    layout = random_layout(1, 2, 2, 2, device)
    for mode in ("sdd", "dsd", "dds"):
        check(device, compare, layout, block, mode, False, False, 40, torch.float32)


@pytest.mark.parametrize(
    ("free", "dtype"), [(64, torch.float32), (9, torch.float32), (9, torch.float16)], ids=str
)
@pytest.mark.parametrize("split", [1, 2, 4])
def test_shares_of_the_inner_dimension(
    device, large, compare, split: int, free: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each number of shares, where a tuning run would show only the fastest; some of 9 elements have nothing."""
    monkeypatch.setattr(matmul._sparse_matmul, "splits", [split])
    layout = random_layout(*large((2, 3, 3, 2), (4, 24, 20, 5)), device)
    check(device, compare, layout, 16, "sdd", False, True, free, dtype)
    locks = matmul._sparse_matmul.locks.values()
    assert not any(x.any() for x in locks)


def test_operands_that_are_not_contiguous(device, compare) -> None:
    layout = blocksparse2020.local_layout(2, 4, 1).to(device)
    sdd = blocksparse2020.MatMul(layout, 16, "sdd", trans_b=True)
    dsd = blocksparse2020.MatMul(layout, 16, "dsd")
    q = torch.randn(2, 64, 2, 24, device=device)
    k, v = torch.randn(2, 2, 24, 64, device=device), torch.randn(2, 64, 2, 24, device=device)

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return masked(q.transpose(1, 2) @ k, layout, 16) @ v.transpose(1, 2)

    def ours(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return dsd(sdd(q.transpose(1, 2), k.transpose(2, 3)), v.transpose(1, 2))

    compare(ours, theirs, (q, k, v), atol=1e-4)


def test_a_long_row_is_cut(device) -> None:
    """Into pieces that differ by at most one block; every row has at least one."""
    assert lut.cut([6, 1, 0]) == [[3, 3], [1], [0]]
    assert lut.cut([2, 2, 2]) == [[2], [2], [2]]
    table, pieces, locks = lut.dxx_table(LAYOUTS["uneven"], 16, 8, False, 1)
    assert (pieces, locks) == (8, 2)
    assert table[:48].view(8, 6)[:, 1:].tolist() == [
        [6, 0, 0, 0, 2],
        [6, 0, 0, 0, 2],
        [2, 1, 0, 1, 1],
        [0, 2, 0, 1, 1],
        [8, 0, 1, 1, 1],
        [2, 1, 1, 1, 1],
        [6, 2, 1, 1, 2],
        [4, 2, 1, 1, 2],
    ]


def test_blocks_are_packed_into_squares() -> None:
    tables = lut.sdd_tables(torch.tensor([[[1, 1, 0], [1, 1, 1], [0, 0, 1]]]), 4)
    assert {pack: table.tolist() for pack, table in tables.items()} == {
        2: [[0, 0, 0, 0, 1, 2, 3]],
        1: [[0, 1, 2, 4], [0, 2, 2, 5]],
    }


def test_to_blocks_and_back(device) -> None:
    layout = random_layout(2, 3, 4, 3, device)
    x = torch.randn(2, 2, 48, 64, device=device)
    blocks = blocksparse2020.to_blocks(x, layout, 16)
    assert torch.equal(blocks, blocks_of(x, layout, 16))
    assert torch.equal(blocksparse2020.to_dense(blocks, layout, 16), masked(x, layout, 16))


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="sdd, dsd, dds"):
        blocksparse2020.MatMul(torch.ones(1, 1, 1), 16, "ssd")
