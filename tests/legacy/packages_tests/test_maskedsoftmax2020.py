"""maskedsoftmax2020: a softmax of blocks; whatever is done to the scores is a macro."""

from __future__ import annotations

import importlib
import itertools

import maskedsoftmax2020
import pytest
import torch
from block_sparse import blocks_of, masked, random_layout

softmax = importlib.import_module("maskedsoftmax2020.softmax")


def check(device, compare, layout, block, dtype, given: dict[str, str], scale=1.0, causal=False, batch=2):
    """Results and gradients, that of the bias too; ``given`` has the mode of each thing that is there."""
    heads, rows, columns = layout.shape
    rows, columns = rows * block, columns * block
    x = (2 * torch.randn(batch, heads, rows, columns, device=device)).to(dtype)
    rpe = torch.randn(heads, rows, columns, device=device).to(dtype)
    masks: dict[str, torch.Tensor | str] = {}
    hidden = torch.zeros(batch, heads, rows, columns, device=device)
    shapes = {"key_padding_mask": (batch, columns), "attn_mask": (rows, columns)}
    for mask, shape in shapes.items():
        if mask not in given:
            continue
        kept = (torch.rand(*shape, device=device) < 0.7).to(dtype)
        kept[..., ::block] = 1  # no row is hidden altogether
        masks[mask] = kept if given[mask] == "mul" else 5 * (kept - 1)
        masks[f"{mask}_mode"] = given[mask]
        added = torch.zeros_like(kept).masked_fill(kept == 0, -float("inf"))
        added = (added if given[mask] == "mul" else masks[mask]).float()
        hidden = hidden + (added[:, None, None] if mask == "key_padding_mask" else added)
    if causal:
        hidden = hidden.masked_fill(torch.ones(rows, columns, device=device).triu(1) > 0, -float("inf"))
    hidden = masked(hidden, layout, block, value=-float("inf"))
    ours = maskedsoftmax2020.Softmax(layout, block, causal=causal)

    def packed(x: torch.Tensor, rpe: torch.Tensor) -> torch.Tensor:
        bias = {"rpe": rpe} if "rpe" in given else {}
        y = ours(blocks_of(x, layout, block), scale=scale, **bias, **masks)
        return y if bias else y + 0 * rpe.sum()

    def dense(x: torch.Tensor, rpe: torch.Tensor) -> torch.Tensor:
        scores = x.float() * scale + rpe.float() * ("rpe" in given) + hidden
        return blocks_of(torch.softmax(scores, dim=-1), layout, block).to(dtype)

    tolerance = 2e-5 if dtype == torch.float32 else 4e-3
    compare(packed, dense, (x, rpe), rtol=tolerance, atol=tolerance)


FLAGS = [
    dict(zip(("rpe", "key_padding_mask", "attn_mask"), modes, strict=True))
    for modes in itertools.product((None, "add"), (None, "add", "mul"), (None, "add", "mul"))
]


@pytest.mark.parametrize("scale", [1.0, -0.3])
@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "-".join(str(mode) for mode in flags.values()))
def test_each_combination_of_flags(
    device, large, compare, flags: dict[str, str | None], scale: float
) -> None:
    layout = random_layout(*large((2, 2, 3, 2), (4, 24, 20, 5)), device)
    layout[:, :, 0] = 1  # of which a column is never hidden
    given = {name: mode for name, mode in flags.items() if mode is not None}
    check(device, compare, layout, large(8, 32), torch.float32, given, scale)


@pytest.mark.parametrize(
    "flags", FLAGS[::4], ids=lambda flags: "-".join(str(mode) for mode in flags.values())
)
def test_half(device, large, compare, flags: dict[str, str | None]) -> None:
    layout = random_layout(*large((2, 2, 3, 2), (4, 24, 20, 5)), device)
    layout[:, :, 0] = 1
    given = {name: mode for name, mode in flags.items() if mode is not None}
    check(device, compare, layout, 16, torch.float16, given, 0.25)


@pytest.mark.parametrize(
    ("blocks", "block", "width"), [(3, 16, 64), (5, 16, 96), (9, 16, 256), (9, 32, 384), (35, 16, 768)]
)
def test_width_is_that_of_the_longest_row(device, compare, blocks: int, block: int, width: int) -> None:
    """A power of two or not; one row is as long as the layout, the other has one block."""
    layout = torch.zeros(1, 2, blocks, dtype=torch.int64, device=device)
    layout[0, 0] = layout[0, 1, 1] = 1
    assert softmax.tile_width(blocks * block) == width
    check(device, compare, layout, block, torch.float32, {"rpe": "add"}, 0.5, batch=1)


def test_large_scores(device) -> None:
    """Far above what exp can take, and far below."""
    layout = torch.tensor([[[1, 0, 1], [0, 1, 1]]], device=device)
    x = 20 * torch.randn(1, 1, 32, 48, device=device)
    x[:, :, ::2] += 1000
    x[:, :, 1::2] -= 1000
    hidden = masked(torch.zeros_like(x), layout, 16, value=-float("inf"))
    y = maskedsoftmax2020.Softmax(layout, 16)(blocks_of(x, layout, 16))
    wanted = blocks_of(torch.softmax(x + hidden, dim=-1), layout, 16)
    torch.testing.assert_close(y, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_causal(device, compare, dtype: torch.dtype) -> None:
    layout = torch.ones(2, 3, 3, dtype=torch.int64, device=device).tril()
    check(device, compare, layout, 16, dtype, {"attn_mask": "add"}, 0.5, causal=True)


def kept_by_chance(number: int, seed: int, threshold: int) -> torch.Tensor:
    """Which of so many elements are kept: 32 bits, shaken, of which the upper 24 are below the threshold."""
    word = 0xFFFFFFFF
    r = torch.arange(number, dtype=torch.int64)
    r = (r ^ seed) * 0x9E3779B1 & word
    r = (r ^ (r >> 15)) * 0x85EBCA77 & word
    r = (r ^ (r >> 13)) * 0xC2B2AE3D & word
    r = r ^ (r >> 16)
    return (r >> 8) < threshold


@pytest.mark.parametrize(("p", "seed"), [(0.1, 0), (0.5, 123), (0.75, 0xFFFFFFFF)])
def test_dropout(device, compare, p: float, seed: int) -> None:
    layout = torch.tensor([[[1, 0, 1], [0, 1, 1]]], device=device)
    ours = maskedsoftmax2020.Softmax(layout, 16, dropout=p)
    kept = kept_by_chance(2 * 4 * 256, seed, int((1 - p) * 2**24)).view(2, 4, 16, 16).to(device)
    assert abs(kept.float().mean().item() - (1 - p)) < 0.05
    hidden = masked(torch.zeros(2, 1, 32, 48, device=device), layout, 16, value=-float("inf"))

    def dense(x: torch.Tensor) -> torch.Tensor:
        return blocks_of(torch.softmax(0.5 * x + hidden, dim=-1), layout, 16) * kept / (1 - p)

    x = torch.randn(2, 1, 32, 48, device=device)
    compare(lambda x: ours(blocks_of(x, layout, 16), scale=0.5, seed=seed), dense, (x,))


def test_a_line_without_blocks(device) -> None:
    layout = torch.tensor([[[0, 0, 0], [0, 1, 1]], [[1, 0, 1], [0, 0, 0]]], device=device)
    x = torch.randn(2, 4, 16, 16, device=device)
    y = maskedsoftmax2020.Softmax(layout, 16)(x)
    torch.testing.assert_close(y[:, :2].sum((1, 3)), torch.ones(2, 16, device=device))
    torch.testing.assert_close(y[:, 2:].sum((1, 3)), torch.ones(2, 16, device=device))


def test_a_learned_bias(device) -> None:
    """The gradient of many elements is one number of the bias, which all batches share."""
    layout = torch.ones(2, 2, 2, dtype=torch.int64, device=device).tril()
    module = maskedsoftmax2020.MultiheadSoftmax(layout, 16, 64, causal=True).to(device)
    with torch.no_grad():
        module.bias.copy_(torch.randn_like(module.bias))
    x = torch.randn(3, 2, 32, 32, device=device)
    kept = (torch.rand(3, 32, device=device) < 0.8).float()
    kept[:, 0] = 1
    y = module(blocks_of(x, layout, 16), kept)
    dy = torch.randn_like(y)
    y.backward(dy)
    bias = module.bias.detach().clone().requires_grad_()
    i = torch.arange(32, device=device)
    scores = x / 8 + bias[:, i[:, None] - i[None, :] + 31]
    scores = scores.masked_fill(kept[:, None, None] == 0, -float("inf"))
    scores = scores.masked_fill(torch.ones(32, 32, device=device).triu(1) > 0, -float("inf"))
    wanted = blocks_of(torch.softmax(scores, dim=-1), layout, 16)
    wanted.backward(dy)
    torch.testing.assert_close(y, wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(module.bias.grad, bias.grad, rtol=1e-4, atol=1e-5)


def test_wrong_modes_and_types_are_refused(device) -> None:
    ours = maskedsoftmax2020.Softmax(torch.ones(1, 1, 1), 16)
    x = torch.zeros(1, 1, 16, 16, device=device)
    with pytest.raises(ValueError, match="not 'sub'"):
        ours(x, attn_mask=x[0, 0], attn_mask_mode="sub")
    with pytest.raises(ValueError, match=r"torch.float32"):
        ours(x, attn_mask=x[0, 0].half())
