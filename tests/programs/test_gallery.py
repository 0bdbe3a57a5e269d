"""The kernels of docs/gallery: forward and gradient against torch in double, and their pages."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from bounds import assert_close, assert_gradients, integers

from pytriton.lang.format import formatted
from pytriton.source import Source
from tools.pages.notebooks import as_markdown

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
sys.path.insert(0, str(GALLERY))

from depthwise_conv import depthwise_conv  # noqa: E402
from dropout import dropout  # noqa: E402
from embedding import embedding  # noqa: E402
from gelu_bias import gelu_bias  # noqa: E402
from group_norm import group_norm  # noqa: E402
from int8_matmul import int8_matmul  # noqa: E402
from lstm_cell import lstm_cell  # noqa: E402
from max_pool import max_pool  # noqa: E402
from rms_norm import rms_norm  # noqa: E402
from rotary import rotary  # noqa: E402
from sparse import sddmm, spmm  # noqa: E402
from topk_softmax import topk_softmax  # noqa: E402
from transposed_conv import transposed_conv  # noqa: E402

PAGES = sorted(GALLERY.glob("*.py"))
LINES = 40  # a kernel of the gallery has at most so many


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
@pytest.mark.sampled(6)
def test_page(path: Path) -> None:
    """Each page runs as a script, and shows a short kernel as ``pytriton format`` prints it."""
    page = as_markdown(path)
    assert page.startswith("# ")
    assert ":class: printed" in page
    (source,) = re.findall(
        r'^SOURCE = """\n(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    source = source.replace("\\\\", "\\")
    assert formatted(Source(source)) == source
    assert source.count("\n") <= LINES
    # `python docs/gallery/NAME.py` has its folder first in sys.path
    assert path.stem not in sys.stdlib_module_names


def test_all_are_listed() -> None:
    """In the list of contents, and in the table."""
    text = (GALLERY / "index.md").read_text(encoding="utf-8")
    stems = [path.stem for path in PAGES]
    assert sorted(re.findall(r"^\w+$", text, re.MULTILINE)) == stems
    assert sorted(re.findall(r"^\| \[[^\]]+\]\((\w+)\.py\)", text, re.MULTILINE)) == stems


NAN = float("nan")
Shape = tuple[int, ...]


def cases(*, one: object, ragged: object) -> Callable[[Any], Any]:
    """A ragged size in half and float; a single element."""
    rows = [(ragged, torch.half), (ragged, torch.float), (one, torch.half)]
    parametrized = pytest.mark.parametrize(("size", "dtype"), rows, ids=["half", "float", "one"])
    return lambda test: pytest.mark.sampled(3)(parametrized(test))


def randn(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.randn(shape, device=device).to(dtype)


def philox(counter: int, key: int) -> list[int]:
    """The four words of a counter, by the paper."""
    words, keys = [counter % 2**32, counter >> 32, 0, 0], [key % 2**32, key >> 32]
    for _ in range(10):
        a, b = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [b >> 32 ^ words[1] ^ keys[0], b % 2**32, a >> 32 ^ words[3] ^ keys[1], a % 2**32]
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return words


def test_philox() -> None:
    """The first known answer of Random123."""
    assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@cases(one=1, ragged=1023)
def test_dropout(size: int, dtype: torch.dtype, device: str) -> None:
    x, seed, p = randn((size,), dtype, device), 3 << 32 | 5, 0.3
    drawn = torch.tensor([philox(counter, seed) for counter in range(-(-size // 4))]).view(-1)[:size]
    kept = ((drawn >> 8) / 2**24 >= torch.tensor(p)).to(device)
    assert_gradients(lambda x: dropout(x, p, seed), lambda x: x * kept / (1 - p), x)


def test_dropout_of_all_or_nothing(device: str) -> None:
    x = torch.randn(1023, device=device)
    assert torch.equal(dropout(x, 0.0, 1), x)
    assert not dropout(x, 1.0, 1).any()


@cases(one=(1, 1), ragged=(3, 5, 70))
def test_rms_norm(size: Shape, dtype: torch.dtype, device: str) -> None:
    x, w = 2 + randn(size, dtype, device), randn(size[-1:], dtype, device)
    assert_gradients(lambda x, w: rms_norm(x, w, 0.5), lambda x, w: F.rms_norm(x, size[-1:], w, 0.5), x, w)


def test_a_nan_stays_in_its_row(device: str) -> None:
    x = torch.randn(15, 70, device=device)
    x[2, 69] = NAN
    nan = rms_norm(x, torch.ones(70, device=device), 0.5).isnan()
    assert nan[2].all()
    assert nan.sum() == 70


@cases(one=(1, 1, 1, 2), ragged=(2, 5, 3, 12))
def test_rotary(size: Shape, dtype: torch.dtype, device: str) -> None:
    angles = torch.randn(size[1], size[3] // 2, device=device)
    cos, sin = angles.cos(), angles.sin()

    def exact(x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, dim=-1)
        c, s = cos.double()[:, None], sin.double()[:, None]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

    assert_gradients(lambda x: rotary(x, cos, sin), exact, randn(size, dtype, device))


@cases(one=(1, 1), ragged=(3, 5, 130))
def test_gelu_bias(size: Shape, dtype: torch.dtype, device: str) -> None:
    x, bias = randn(size, dtype, device), randn(size[-1:], dtype, device)
    assert_gradients(gelu_bias, lambda x, bias: F.gelu(x + bias), x, bias)


@cases(one=(1, 1, 1), ragged=(5, 37, 6))
def test_topk_softmax(size: Shape, dtype: torch.dtype, device: str) -> None:
    rows, n, k = size
    # all elements of a row differ, in half, too
    x = torch.stack([torch.randperm(n, device=device) / 8 for _ in range(rows)]).to(dtype)
    assert torch.equal(topk_softmax(x, k)[1], x.topk(k, dim=1).indices)
    assert_gradients(lambda x: topk_softmax(x, k)[0], lambda x: x.topk(k, dim=1).values.softmax(1), x)


def test_topk_of_special_rows(device: str) -> None:
    """Equal elements come in order; -infinity is an element; a NaN is the largest, as for torch."""
    x = torch.zeros(4, 37, device=device)
    x[1], x[2, 9:], x[3, 20] = -torch.inf, -torch.inf, NAN
    weights, columns = topk_softmax(x, 6)
    assert torch.equal(columns[:3].cpu(), torch.arange(6).expand(3, 6))
    assert columns[3].tolist() == [20, 0, 1, 2, 3, 4]
    assert_close(weights[[0, 2]], torch.full((2, 6), 1 / 6, device=device, dtype=torch.double))
    assert weights[[1, 3]].isnan().all()


@cases(one=((1,), 1, 1), ragged=((3, 7), 10, 130))
def test_embedding(size: tuple[Shape, int, int], dtype: torch.dtype, device: str) -> None:
    shape, rows, n = size
    index, table = torch.randint(rows, shape, device=device), randn((rows, n), dtype, device)
    assert torch.equal(embedding(index, table), F.embedding(index, table))
    assert_gradients(lambda table: embedding(index, table), lambda table: F.embedding(index, table), table)


@cases(one=(1, 1, 1, 1), ragged=(2, 3, 9, 12))
def test_depthwise_conv(size: Shape, dtype: torch.dtype, device: str) -> None:
    def exact(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.conv2d(x, weight[:, None], None, 2, 1, groups=size[1])

    x, weight = randn(size, dtype, device), randn((size[1], 3, 2), dtype, device)
    assert_gradients(lambda x, weight: depthwise_conv(x, weight, 2, 1), exact, x, weight)


@pytest.mark.parametrize("stride", [2, 1, 3])
@cases(one=(1, 1, 1, 1, 1), ragged=(2, 19, 5, 4, 18))
def test_transposed_conv(size: Shape, dtype: torch.dtype, stride: int, device: str) -> None:
    x, weight = randn(size[:4], dtype, device), randn((size[1], size[4], 3, 4), dtype, device)
    assert_gradients(
        lambda x, weight: transposed_conv(x, weight, stride, 1),
        lambda x, weight: F.conv_transpose2d(x, weight, None, stride, 1),
        *(x, weight),
    )


@cases(one=(1, 1, 1, 1), ragged=(2, 3, 9, 12))
def test_max_pool(size: Shape, dtype: torch.dtype, device: str) -> None:
    """Small numbers, of which many are equal."""
    x = integers(size, dtype, device)
    assert_gradients(lambda x: max_pool(x, 3, 2, 1), lambda x: F.max_pool2d(x, 3, 2, 1), x)


def test_max_pool_of_special_numbers(device: str) -> None:
    x = torch.randn(2, 3, 9, 12, device=device)
    x[0, 0, 4, 4], x[1] = NAN, -torch.inf
    assert torch.equal(max_pool(x, 3, 2, 1).nan_to_num(7), F.max_pool2d(x, 3, 2, 1).nan_to_num(7))


@cases(one=(1, 1, 1, 2), ragged=(2, 10, 5, 70))
def test_group_norm(size: Shape, dtype: torch.dtype, device: str) -> None:
    """Five groups of two channels; one of a single channel."""
    groups, channels = -(-size[1] // 2), size[1:2]
    leaves = [1 + randn(size, dtype, device), *(randn(channels, dtype, device) for _ in range(2))]
    assert_gradients(
        lambda x, gamma, beta: group_norm(x, groups, gamma, beta, 0.5),
        lambda x, gamma, beta: F.group_norm(x, groups, gamma, beta, 0.5),
        *leaves,
    )


@cases(one=(1, 1, 1), ragged=(5, 6, 130))
def test_lstm_cell(size: Shape, dtype: torch.dtype, device: str) -> None:
    m, k, n = size

    def exact(x, h, c, w, u, bias):
        i, f, g, o = (x @ w.t() + h @ u.t() + bias).chunk(4, dim=1)
        after = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return torch.cat([o.sigmoid() * after.tanh(), after])

    # small whole numbers: the products, which are torch's, are exact
    leaves = [integers(shape, dtype, device, 1) for shape in ((m, k), (m, n), (m, n))]
    leaves += [integers(shape, dtype, device, 1) / 4 for shape in ((4 * n, k), (4 * n, n), (4 * n,))]
    assert_gradients(lambda *given: torch.cat(lstm_cell(*given)), exact, *leaves)


@cases(one=(1, 1, 1), ragged=(33, 40, 70))
def test_int8_matmul(size: Shape, dtype: torch.dtype, device: str) -> None:
    m, n, k = size
    a, w = (torch.randint(-128, 128, (rows, k), device=device, dtype=torch.int8) for rows in (m, n))
    product = a.double() @ w.double().t()
    scales = [torch.rand(rows, device=device, requires_grad=True) / 100 for rows in (m, n)]
    exact = [scale.detach().double().requires_grad_() for scale in scales]
    ours, theirs = int8_matmul(a, w, *scales, dtype), product * exact[0][:, None] * exact[1]
    flowing = torch.randn_like(ours)
    assert_close(ours, theirs)
    found = torch.autograd.grad(ours, scales, flowing)
    wanted = torch.autograd.grad(theirs, exact, flowing.double())
    # sums of terms that cancel
    sizes = flowing.double().abs() * product.abs()
    for got, want, scale in zip(found, wanted, (sizes @ exact[1], exact[0] @ sizes), strict=True):
        assert_close(got, want, scale=scale)


@cases(one=(1, 1, 1, 1.0), ragged=(7, 9, 70, 0.4))
def test_sparse(size: tuple[int, int, int, float], dtype: torch.dtype, device: str) -> None:
    """Rows without edges included."""
    m, k, n, density = size
    mask = torch.rand(m, k, device=device) < density
    mask[1:2] = False
    row, column = (index.int() for index in mask.nonzero(as_tuple=True))
    start = F.pad(mask.sum(1).cumsum(0), (1, 0)).int()
    a, b = randn((m, n), dtype, device), randn((k, n), dtype, device)

    def dense(v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(m, k, dtype=v.dtype, device=device).masked_scatter(mask, v) @ x

    assert_gradients(lambda a, b: sddmm(a, b, row, column), lambda a, b: (a @ b.t())[mask], a, b)
    v = randn((len(row),), dtype, device)
    assert_gradients(lambda v, x: spmm(start, column, v, x), dense, v, b.detach())
