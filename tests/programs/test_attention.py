"""Attention over blocks of keys gives torch's numbers, whatever the order of the scores."""

from __future__ import annotations

import pytest
import torch
from attention import SMALL, SOURCE, attention, defines, kernel
from bounds import assert_close, assert_nothing_beside, at_sea, on_each

import pytriton
from pytriton.runtime.compile.compiler import compile_kernel, parse_target
from pytriton.runtime.launch.arguments import BY_16, ONE, PLAIN
from pytriton.runtime.options.defines import Config
from pytriton.source import Source

TYPES = [torch.float16, torch.bfloat16, torch.float32]
BY_TYPE = pytest.mark.parametrize("dtype", TYPES, ids=["half", "bfloat16", "float"])
# heads, queries, keys, head size
# the last of each: a head size that is not a power of two
SMALL_SIZES = [(1, 1, 1, 16), (2, 16, 16, 32), (3, 35, 50, 16), (1, 5, 70, 64), (2, 20, 33, 40)]
REAL = [(1, 1, 1, 16), (16, 1024, 1024, 64), (7, 513, 777, 128), (64, 100, 2049, 32), (8, 300, 500, 80)]
BY_SIZE = on_each("heads m n d", SMALL_SIZES, REAL)


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> torch.Tensor:
    """In double, and written out."""
    scores = q.double() @ k.double().transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        unseen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(unseen, -float("inf"))
    return scores.softmax(-1) @ v.double()


# one point, as a sweep is for speed; test_tuned has one
POINT = {"TM": 64, "TN": 32}


def check(heads: int, m: int, n: int, d: int, dtype: torch.dtype, device: str, causal: bool) -> None:
    q = torch.randn(heads, m, d, device=device).to(dtype)
    k, v = torch.randn(2, heads, n, d, device=device).to(dtype)
    # probabilities are rounded to the type before they meet V, and so is the result
    want = reference(q, k, v, causal)
    tiles = POINT if device == "cuda" else None
    assert_close(attention(q, k, v, causal, tiles=tiles), want, scale=2 * want)


@BY_TYPE
@BY_SIZE
@pytest.mark.sampled(4)
def test_forward(device: str, heads: int, m: int, n: int, d: int, dtype: torch.dtype) -> None:
    check(heads, m, n, d, dtype, device, causal=False)


@BY_TYPE
@BY_SIZE
@pytest.mark.sampled(9)
def test_causal(device: str, heads: int, m: int, n: int, d: int, dtype: torch.dtype) -> None:
    check(heads, n, n, d, dtype, device, causal=True)


@BY_TYPE
def test_scores_that_rise_and_fall(dtype: torch.dtype, device: str) -> None:
    """The largest score comes last, first, and is far from the others: nothing overflows."""
    n = 500 if device == "cuda" else 50
    for order in (torch.arange(n), torch.arange(n).flip(0)):
        q = torch.full((1, 20, 16), 4.0, device=device).to(dtype)
        k = (order.to(device)[None, :, None] * torch.ones(16, device=device) - n / 2).to(dtype)
        v = torch.randn(1, n, 16, device=device).to(dtype)
        want = reference(q, k, v)
        assert_close(attention(q, k, v, tiles=SMALL), want, scale=2 * want)


def test_views_and_other_scales(device: str) -> None:
    """Q, K and V cut from one tensor of projections, as models do; heads in the middle."""
    qkv = torch.randn(2, 33, 3, 4, 16, device=device).half()
    q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
    want = reference(q * 2, k, v)  # doubling is exact
    assert_close(attention(q, k, v, scale=0.5, tiles=SMALL), want, scale=2 * want)


@pytest.mark.gpu
def test_tuned(dtype: torch.dtype) -> None:
    q, k, v = torch.randn(3, 8, 700, 64, device="cuda").to(dtype)
    for causal in (False, True):
        want = reference(q, k, v, causal)
        assert_close(attention(q, k, v, causal), want, scale=2 * want)


@pytest.mark.parametrize("causal", [False, True])
def test_nothing_outside_is_read_or_written(causal: bool, device: str) -> None:
    """The operands of one head in a sea of NaN, the result in a sea of sevens."""
    sea = torch.full((3, 1, 100, 16), float("nan"), device=device)
    sea[:, :, 40:75] = torch.randn(3, 1, 35, 16)
    q, k, v = sea[:, :, 40:75]
    out = at_sea((35, 16), device)
    kernel(
        *(q, k, v, out, 35, 35, 0.25, 1600, 16, 1600, 16, 1600, 16),
        grid=(3, 1),
        defines=defines(q.dtype, 16, causal, SMALL),
    )
    assert_close(out, reference(q, k, v, causal)[0])
    assert_nothing_beside(out)


def test_a_nan_in_a_key_reaches_those_who_see_it(device: str) -> None:
    q, k, v = torch.randn(3, 1, 40, 16, device=device)
    k[0, 20, 3] = float("nan")
    got = attention(q, k, v, causal=True, tiles=SMALL)
    assert not bool(got[0, :20].isnan().any())
    assert bool(got[0, 20:].isnan().all())


def test_a_single_key_compiles() -> None:
    """With one query and one key, both compiled as the constant 1, the ptxas of Triton 3.6 crashes."""
    given = defines(torch.float16, 16, True, POINT)
    source = Source(SOURCE, "attention.c")
    translation = pytriton.translate(source, given)
    known = {"M": ONE, "N": ONE, "scale": PLAIN}
    specialization = [known.get(parameter.name, BY_16) for parameter in translation.parameters]
    assert compile_kernel(translation, specialization, Config(), parse_target("cuda:90"), source)
