"""sparseconv2021: a convolution with block-sparse filters; its three products are one text."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import sparseconv2021
import torch

conv = importlib.import_module("sparseconv2021.conv")

# images, input channels, height, width, output channels, filter, block; a GPU's are below
SIZES = {
    "even": (2, 32, 6, 8, 32, (3, 3), 16),
    "ragged": (1, 19, 7, 9, 37, (3, 3), 16),
    "one by one": (3, 16, 5, 5, 24, (1, 1), 16),
    "a row": (1, 17, 4, 11, 16, (1, 5), 16),
    "larger blocks": (1, 40, 5, 6, 33, (2, 3), 32),
}


def check(
    device: str,
    compare: Any,
    sizes: Any,
    padding: Any,
    stride: Any,
    dtype: torch.dtype = torch.float32,
    **more: Any,
) -> None:
    """``more``: density of the layout, bias, relu, memory_format of the images."""
    z, c, h, w, k, (r, s), block = sizes
    layout = sparseconv2021.random_layout(k, c, r, s, block, more.get("density", 0.5))
    x = torch.randn(z, c, h, w, device=device).to(dtype)
    x = x.contiguous(memory_format=more.get("memory_format", torch.contiguous_format))
    filters = (torch.randn(k, c, r, s, device=device) / (c * r * s * 0.5) ** 0.5).to(dtype)
    bias = torch.randn(k, device=device).to(dtype)
    relu = more.get("relu", False)
    kept = layout.repeat_interleave(block, 0).repeat_interleave(block, 1)[:k, :c].to(device)

    def ours(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        pieces = sparseconv2021.pack(filters, layout, block)
        given = bias if more.get("bias") else None
        y = sparseconv2021.conv2d(x, pieces, layout, block, k, given, padding, stride, relu)
        return y if more.get("bias") else y + 0 * bias.sum()

    def theirs(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        given = bias.double() if more.get("bias") else 0 * bias.double()
        y = torch.nn.functional.conv2d(x.double(), (filters * kept).double(), given, stride, padding)
        return (torch.relu(y) if relu else y).to(dtype)

    tolerance = 1e-4 if dtype == torch.float32 else 4e-3
    compare(
        ours, theirs, (x, filters, bias), rtol=tolerance, atol=3e-5 if dtype == torch.float32 else tolerance
    )


@pytest.mark.parametrize(
    ("sizes", "padding", "stride"),
    [
        ("even", (1, 1), (1, 1)),
        ("even", (1, 1), (2, 2)),
        ("ragged", (0, 2), (1, 1)),
        ("ragged", (2, 1), (3, 2)),
        ("one by one", (0, 0), (1, 1)),
        ("one by one", (0, 0), (2, 1)),
        ("a row", (0, 2), (1, 1)),
        ("a row", (1, 0), (1, 2)),
        ("larger blocks", (1, 1), (1, 1)),
    ],
)
def test_conv(device, large, compare, sizes: str, padding: tuple[int, int], stride: tuple[int, int]) -> None:
    z, c, h, w, k, rs, block = SIZES[sizes]
    many = large((z, c, h, w, k, rs, block), (4 * z, 5 * c, 6 * h, 6 * w, 5 * k, rs, 32))
    check(device, compare, many, padding, stride)


@pytest.mark.parametrize("sizes", ["even", "ragged"])
@pytest.mark.parametrize("stride", [1, 2])
def test_half(device, compare, sizes: str, stride: int) -> None:
    check(device, compare, SIZES[sizes], (1, 1), (stride, stride), torch.float16)


@pytest.mark.parametrize("sizes", ["even", "ragged"])
def test_channels_last(device, compare, sizes: str) -> None:
    check(device, compare, SIZES[sizes], (1, 1), (1, 1), memory_format=torch.channels_last)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("sizes", ["even", "ragged"])
def test_what_follows(device, compare, sizes: str, relu: bool) -> None:
    check(device, compare, SIZES[sizes], (1, 1), (1, 1), bias=True, relu=relu)


@pytest.mark.parametrize("density", [0.0, 1.0])
def test_layouts(device, compare, density: float) -> None:
    """As few pieces as may be, or all of them."""
    check(device, compare, SIZES["ragged"], (1, 1), (1, 1), density=density)


def test_an_image_without_a_channel_that_counts(device) -> None:
    """A block of output channels without pieces is zero, and so is the gradient of input channels without any."""
    layout = torch.zeros(2, 2, 1, 1, dtype=torch.int64)
    layout[0, 1] = 1
    x = torch.randn(1, 32, 4, 5, device=device, requires_grad=True)
    w = torch.randn(1, 16, 16, device=device)
    y = sparseconv2021.conv2d(x, w, layout, 16, 32)
    torch.testing.assert_close(
        y[:, :16], torch.einsum("kc,zchw->zkhw", w[0], x[:, 16:]), rtol=1e-4, atol=1e-4
    )
    assert not y[:, 16:].any()
    y.sum().backward()
    assert not x.grad[:, :16].any()
    assert x.grad[:, 16:].all()


def test_many_shares_of_the_pixels(device, compare) -> None:
    """400 pixels in 3 shares, neither of which is a multiple of the other, or of a tile."""
    check(device, compare, (1, 16, 20, 20, 16, (1, 3), 16), (0, 1), (1, 1))


@pytest.mark.parametrize("tile", range(3))
def test_each_tile(device, compare, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    function = conv._conv2d
    monkeypatch.setattr(function, "tiles", function.tiles[tile : tile + 1])
    monkeypatch.setattr(function, "kernels", {})
    check(device, compare, SIZES["ragged"], (1, 0), (1, 1))


def test_module(device) -> None:
    layout = sparseconv2021.random_layout(20, 24, 3, 3, 16, 0.6)
    module = sparseconv2021.SparseConv2d(24, 20, 3, layout, 16, padding=1, stride=2, relu=True).to(device)
    x = torch.randn(2, 24, 9, 8, device=device)
    filters = sparseconv2021.unpack(module.weight, layout, 16, 20, 24)
    wanted = torch.relu(torch.nn.functional.conv2d(x.double(), filters.double(), padding=1, stride=2)).float()
    torch.testing.assert_close(module(x), wanted, rtol=1e-4, atol=1e-4)
    filters = torch.randn(20, 24, 3, 3)
    kept = layout.repeat_interleave(16, 0).repeat_interleave(16, 1)[:20, :24]
    pieces = sparseconv2021.pack(filters, layout, 16)
    assert torch.equal(sparseconv2021.unpack(pieces, layout, 16, 20, 24), filters * kept)
