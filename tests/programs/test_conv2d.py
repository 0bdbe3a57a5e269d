"""Convolution through a look-up table gives torch's numbers: strides, padding, dilation, any window."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from bounds import assert_close, assert_nothing_beside, at_sea, integers, on_each
from conv2d import SMALL, conv2d, defines, increments, kernel

# image, filters and window, then how the window moves
FORMS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 1, 1, 1), (1, 1, 1), {}),
    ((2, 3, 7, 6), (5, 3, 3), {}),
    ((2, 3, 7, 6), (5, 3, 3), {"padding": (1, 1)}),
    ((1, 5, 9, 11), (17, 3, 2), {"stride": (2, 3), "padding": (2, 0)}),
    ((1, 4, 12, 9), (3, 2, 3), {"dilation": (3, 2), "padding": (1, 2)}),
    ((3, 2, 8, 8), (33, 1, 1), {"stride": (2, 2)}),
    ((1, 1, 5, 5), (2, 5, 5), {"padding": (4, 4)}),
]
REAL: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((8, 64, 56, 56), (128, 3, 3), {"padding": (1, 1)}),
    ((8, 3, 224, 224), (64, 7, 7), {"stride": (2, 2), "padding": (3, 3)}),
    ((5, 33, 31, 29), (65, 3, 2), {"dilation": (2, 3), "padding": (2, 1)}),
    ((16, 256, 14, 14), (512, 1, 1), {"stride": (2, 2)}),
]
# one point, as a sweep is for speed; test_tuned has one
POINTS = {"cpu": SMALL, "cuda": {"TM": 64, "TN": 64, "TK": 32}}


def operands(
    image: tuple[int, ...], filters: tuple[int, ...], dtype: torch.dtype, device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Small whole numbers: sums are exact, in half below 2048."""
    shape = (filters[0], image[1], *filters[1:])
    top = 3 if image[1] * filters[1] * filters[2] <= 200 else 1
    return integers(image, dtype, device, top), integers(shape, dtype, device, top)


@on_each("image filters moves", FORMS, [*FORMS, *REAL])
@pytest.mark.sampled(4)
def test_exact(
    device: str,
    image: tuple[int, ...],
    filters: tuple[int, ...],
    moves: dict[str, Any],
    dtype: torch.dtype,
) -> None:
    x, weight = operands(image, filters, dtype, device)
    want = torch.nn.functional.conv2d(x.double(), weight.double(), **moves)
    assert torch.equal(conv2d(x, weight, **moves, tiles=POINTS[device]).double(), want)


def test_rounding(dtype: torch.dtype, device: str) -> None:
    image, filters = ((8, 64, 28, 28), 128) if device == "cuda" else ((2, 5, 9, 8), 6)
    x = torch.randn(image, device=device).to(dtype)
    weight = torch.randn(filters, image[1], 3, 3, device=device).to(dtype)
    want = torch.nn.functional.conv2d(x.double(), weight.double(), padding=(1, 1))
    assert_close(conv2d(x, weight, padding=(1, 1), tiles=POINTS[device]), want)


@pytest.mark.gpu
def test_tuned() -> None:
    x, weight = operands((16, 64, 28, 28), (96, 3, 3), torch.float16, "cuda")
    want = torch.nn.functional.conv2d(x.double(), weight.double(), padding=(1, 1))
    assert torch.equal(conv2d(x, weight, padding=(1, 1)).double(), want)


def test_any_strides(dtype: torch.dtype, device: str) -> None:
    """Channels last, and a view with gaps: the table knows the strides."""
    x, weight = operands((2, 6, 9, 10), (4, 3, 3), dtype, device)
    for view in (x.to(memory_format=torch.channels_last), x[:, ::2, 1:, 2:], x.transpose(2, 3)):
        w = weight[:, : view.shape[1]]
        want = torch.nn.functional.conv2d(view.double(), w.double(), padding=(1, 0))
        assert torch.equal(conv2d(view, w, padding=(1, 0), tiles=SMALL).double(), want)


def test_outside_is_neither_read_nor_written(device: str) -> None:
    """The image lies in a sea of NaN, and so do the weights; the result in a sea of sevens."""
    x, weight = (
        at_sea(shape, device, float("nan")).copy_(integers(shape, torch.float32, device))
        for shape in ((2, 4, 7, 9), (6, 4, 3, 3))
    )
    y = at_sea((2, 6, 7, 9), device)
    table = increments(36, 3, 3, (63, 9, 1), (1, 1), 16).to(device)
    kernel(
        *(x, weight, y, 126, 6, 36, 7, 9, 7, 9, 1, 1, 1, 1, 1, 1),
        *(*x.stride(), 36, *y.stride(), table),
        grid=(4, 1),
        defines=defines(x.dtype, 36, 3, 3, SMALL),
    )
    assert torch.equal(y, torch.nn.functional.conv2d(x, weight, padding=(1, 1)))
    assert_nothing_beside(y)


def test_the_border_is_zero_and_nothing_else(device: str) -> None:
    """An infinite pixel, a NaN: they reach the windows that see them, and no others."""
    x = torch.ones(1, 2, 6, 6, device=device)
    x[0, 0, 0, 0], x[0, 1, 4, 5] = float("inf"), float("nan")
    weight = torch.ones(3, 2, 3, 3, device=device)
    want = torch.nn.functional.conv2d(x, weight, padding=(1, 1))
    got = conv2d(x, weight, padding=(1, 1), tiles=SMALL)
    assert torch.equal(got.nan_to_num(nan=99.0), want.nan_to_num(nan=99.0))
