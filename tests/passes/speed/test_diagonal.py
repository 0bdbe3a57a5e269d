"""Of a loop under a causal mask the last iteration stands apart (speed/peel.py): the same numbers for all sizes."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.pipeline import translate_as
from pytriton.settings import Settings
from tests.passes.loops.test_prefetch import watched

# C [M, 16] = lower triangle of (A [M, 16] @ B [N, 16]^T), times B
CAUSAL = """
__global__ void causal(float *A, float *B, float *C, int M, int N) {
  int pm = get_program_id(0);
  int rm[TM] = ROWS;
  int rn[TN] = 0 ... TN;
  int rk[16] = 0 ... 16;
  float a[TM, 16] = (rm < M)[:, newaxis] ? *(A + rm[:, newaxis] * 16 + rk[newaxis, :]) : 0;
  float c[TM, 16] = 0;
  float *pb[TN, 16] = B + rn[:, newaxis] * 16 + rk[newaxis, :];
  N = min(N, END);
  for (int n = 0; n < N; n += TN) {
    float b[TN, 16] = (n + rn < N)[:, newaxis] ? *pb : 0;
    float s[TM, TN] = a @ ^b;
    s = MASK ? s : 0;
    c += s @ b;
    pb += TN * 16;
  }
  *?((rm < M)[:, newaxis]) (C + rm[:, newaxis] * 16 + rk[newaxis, :]) = c;
}
"""
ROWS, END, MASK = "pm * TM + 0 ... TM", "(pm + 1) * TM", "n + rn[newaxis, :] <= rm[:, newaxis]"
SIZES = [(1, 1), (40, 40), (64, 64), (70, 33), (33, 70), (50, 0), (20, -7), (20, -(2**31))]
LAST_APART = "whole = (tl.maximum(N, 1) - 1) // TN * TN"


def text(rows: str = ROWS, end: str = END, mask: str = MASK) -> str:
    return CAUSAL.replace("ROWS", rows).replace("END", end).replace("MASK", mask)


def generated(source: str, tm: int, tn: int) -> str:
    return translate_as(source, {"TM": tm, "TN": tn}, Settings()).text


APART = {
    "usual": text(),
    "mirrored": text(mask="rm[:, newaxis] >= n + rn[newaxis, :]"),
    "other sum": text(end="pm * TM + TM"),
    "before the end": text(end="pm * TM + 1"),
    "further on": text(rows="pm * TM + 2 * TM + 0 ... TM", end="(pm + 3) * TM"),
    "strictly below": text(mask="n + rn[newaxis, :] < rm[:, newaxis]"),
    "less": text(mask="n + rn[newaxis, :] < rm[:, newaxis] + 1 && n + rn[newaxis, :] <= rm[:, newaxis]"),
}
KEPT = {
    "the end is further": text(end="(pm + 2) * TM"),
    "no multiples": text(rows="pm * TM + 1 + 0 ... TM", end="(pm + 1) * TM + 1"),
    "above": text(mask="n + rn[newaxis, :] >= rm[:, newaxis]"),
    "another bound": text(end="M"),
}


@pytest.mark.parametrize("tiles", [(16, 16), (16, 64), (32, 32)])
@pytest.mark.parametrize("name", APART)
def test_apart(name: str, tiles: tuple[int, int]) -> None:
    loop, rest = generated(APART[name], *tiles).split("    # what is left, under its masks\n")
    assert LAST_APART in loop
    if name != "less":
        assert "where" not in loop.split("for n in ")[1]
    assert "tl.where" in rest
    assert rest.count("mask=") == 2


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert LAST_APART not in generated(KEPT[name], 16, 16)


def test_rows_that_overlap_are_kept() -> None:
    assert LAST_APART not in generated(text(rows="pm * 8 + 0 ... TM", end="pm * 8 + TM"), 16, 16)


def test_two_iterations_on_the_diagonal_are_kept() -> None:
    assert LAST_APART not in generated(text(), 32, 16)


@pytest.mark.parametrize("tiles", [(16, 16), (16, 32), (32, 16), (16, 64)])
@pytest.mark.parametrize("name", [*APART, *KEPT])
@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.sampled(18)
def test_computes(name: str, tiles: tuple[int, int], m: int, n: int) -> None:
    """The same as of the text without the pass: as the oracle has it, all terms under the mask."""
    source, (tm, tn) = {**APART, **KEPT}[name], tiles
    a, b, c = torch.randn(m, 16), torch.randn(max(n, 1), 16), torch.zeros(m, 16)
    want = reference(name, a, b, m, n, tm)
    with watched(a, b):
        pytriton.kernel(source, {"TM": tm, "TN": tn})(a, b, c, m, n, grid=(pytriton.cdiv(m, tm),))
    torch.testing.assert_close(c, want, rtol=1e-4, atol=1e-4)


def reference(name: str, a: torch.Tensor, b: torch.Tensor, m: int, n: int, tm: int) -> torch.Tensor:
    want = torch.zeros(m, 16)
    keys = torch.arange(b.shape[0])
    for row in range(m + tm):
        pm = row // tm
        at, end = row, (pm + 1) * tm
        if name == "before the end":
            end = pm * tm + 1
        if name == "further on":
            at, end = row + 2 * tm, (pm + 3) * tm
        if name == "the end is further":
            end = (pm + 2) * tm
        if name == "no multiples":
            at, end = row + 1, end + 1
        if name == "another bound":
            end = m
        if at >= m:
            continue
        seen = keys < min(n, end)
        seen &= (keys < at) if name == "strictly below" else (keys >= at) if name == "above" else (keys <= at)
        want[at] = torch.where(seen, b @ a[at], 0) @ b
    return want
