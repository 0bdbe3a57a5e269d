"""Softmax over the blocks that a layout names: rows of any number of blocks, masks present or absent."""

from __future__ import annotations

from itertools import product

import blocksparse_softmax as program
import pytest
import torch
from blocksparse_softmax import BlockSparseSoftmax
from bounds import assert_close, assert_same_bits

INF = float("inf")


def layout_of(heads: int, rows: int, columns: int) -> torch.Tensor:
    """About half of the blocks; a row that is full, one of a single block, one without any."""
    layout = (torch.rand(heads, rows, columns) < 0.5).long()
    layout[0, 0] = 1
    layout[-1, -1] = 0
    layout[-1, -1, columns // 2] = 1
    if rows > 2:
        layout[0, 1] = 0
    return layout


class Dense:
    """The same numbers as a dense matrix [samples, heads, M, N], -infinity where no block is."""

    def __init__(self, layout: torch.Tensor, block: int) -> None:
        self.layout, self.block = layout, block
        self.where = layout.nonzero().t()

    def full(self, x: torch.Tensor) -> torch.Tensor:
        heads, rows, columns = self.layout.shape
        dense = x.new_full((x.shape[0], heads, rows, columns, self.block, self.block), -INF)
        h, i, j = self.where
        dense[:, h, i, j] = x
        return dense.transpose(3, 4).reshape(x.shape[0], heads, rows * self.block, columns * self.block)

    def blocks(self, dense: torch.Tensor) -> torch.Tensor:
        heads, rows, columns = self.layout.shape
        split = dense.view(-1, heads, rows, self.block, columns, self.block).transpose(3, 4)
        h, i, j = self.where
        return split[:, h, i, j]


def check(
    device: str, dtype: torch.dtype, size: tuple[int, int, int], block: int, given: str, mode: str = "add"
) -> None:
    """Forward and backward, with the masks whose letters are `given`: r, k, a."""
    samples, (heads, rows, columns) = 2, size
    layout = layout_of(*size)
    dense = Dense(layout, block)
    softmax = BlockSparseSoftmax(layout, block, device)
    x = torch.randn(samples, int(layout.sum()), block, block, device=device).to(dtype).requires_grad_()
    m, n = rows * block, columns * block
    masks: dict[str, torch.Tensor] = {}
    if "r" in given:
        masks["rpe"] = torch.randn(samples, heads, m, n, device=device).to(dtype)
    for letter, name, shape in (("k", "key_mask", (samples, n)), ("a", "attention_mask", (m, n))):
        if letter in given:
            mask = torch.rand(shape, device=device) < 0.8
            mask[..., ::block] = True  # something stays in every row
            masks[name] = (mask if mode == "mul" else torch.where(mask, 0.5, -INF)).to(dtype)
    y = softmax(x, 0.75, **masks, key_mask_mode=mode, attention_mask_mode=mode)
    dy = torch.randn_like(y)
    y.backward(dy)

    exact = dense.full(x.detach().double()) * 0.75
    if "r" in given:
        exact = exact + masks["rpe"].double()
    for name, view in (("key_mask", (slice(None), None, None)), ("attention_mask", (None, None))):
        if name in masks:
            mask = masks[name].double()
            exact = exact + (mask.log() if mode == "mul" else mask)[view]
    want = dense.blocks(exact.softmax(-1))
    assert_close(y, want)
    # the gradient is that of the rounded result, as in torch; its terms cancel
    saved, weight = y.detach().double(), dy.double()
    total = dense.full(saved * weight).nan_to_num(neginf=0.0).sum(-1, keepdim=True).expand(-1, -1, -1, n)
    mean = dense.blocks(total.contiguous())
    got_scale = saved * (weight.abs() + mean.abs()) * 0.75
    assert_close(x.grad, saved * (weight - mean) * 0.75, scale=got_scale)


@pytest.mark.parametrize("given", ["", *(pytest.param(one, marks=pytest.mark.slow) for one in "rka"), "rka"])
def test_masks(given: str, dtype: torch.dtype) -> None:
    """Rows of up to three blocks of 16: a block of 48 numbers."""
    check("cpu", dtype, (2, 2, 3), 16, given)


@pytest.mark.parametrize(("given", "columns"), [("k", 2), ("a", 3), ("ka", 5)])
@pytest.mark.sampled(3)
def test_masks_that_multiply(given: str, columns: int) -> None:
    check("cpu", torch.float32, (2, 2, columns), 16, given, mode="mul")


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7])
def test_any_number_of_blocks_in_a_row(columns: int) -> None:
    check("cpu", torch.float32, (1, 2, columns), 8, "k")


@pytest.mark.gpu
@pytest.mark.parametrize(("given", "mode"), [("", "add"), *product(("k", "rka"), ("add", "mul"))])
@pytest.mark.parametrize("block", [16, 32, 64])
@pytest.mark.parametrize("columns", [13, 24])
def test_gpu(columns: int, block: int, given: str, mode: str, dtype: torch.dtype) -> None:
    check("cuda", dtype, (5, 20, columns), block, given, mode)


@pytest.mark.sampled(3)
def test_in_place(device: str) -> None:
    """The texts make no promise about aliasing: Y may be X, DX may be DY."""
    layout = layout_of(2, 3, 3)
    softmax = BlockSparseSoftmax(layout, 16, device)
    x = torch.randn(2, int(layout.sum()), 16, 16, device=device, requires_grad=True)
    y = softmax(x, 2.0)
    dy = torch.randn_like(y)
    y.backward(dy)
    buffer, absent = x.detach().clone(), (None, None, None)
    defines, grid = softmax.defines(x), softmax.grid(x)
    program.forward_kernel(
        *(buffer, buffer, 2.0, softmax.rows, softmax.columns, *absent, 3, x.stride(0), 0, 0, 0, 0, 0),
        grid=grid,
        defines=defines,
    )
    assert_same_bits(buffer, y.detach())
    program.backward_kernel(y, dy, dy, 2.0, softmax.rows, x.stride(0), grid=grid, defines=defines)
    assert_same_bits(dy, x.grad)


def test_a_row_that_is_masked_out_is_nan_as_in_torch(device: str) -> None:
    layout = torch.ones(1, 1, 3, dtype=torch.int64)
    x = torch.randn(2, 3, 16, 16, device=device)
    keys = torch.zeros(2, 48, device=device)
    keys[0] = -INF
    y = BlockSparseSoftmax(layout, 16, device)(x, key_mask=keys)
    assert bool(y[0].isnan().all())
    assert not bool(y[1].isnan().any())


def test_an_empty_layout_launches_nothing(device: str) -> None:
    layout = torch.zeros(2, 2, 2, dtype=torch.int64)
    x = torch.empty(1, 0, 16, 16, device=device, requires_grad=True)
    y = BlockSparseSoftmax(layout, 16, device)(x)
    assert y.shape == x.shape
