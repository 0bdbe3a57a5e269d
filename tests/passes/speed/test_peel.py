"""Loops are split where masks go by it, into the same iterations; nothing is read that the text does not read."""

from __future__ import annotations

import re

import pytest
import torch

import pytriton
from tests.passes.loops.test_prefetch import watched

# C [T, T] = A [T, K] @ B [K, T], of any K
PRODUCT = """
__global__ void product(float *A, float *B, float *C, int K {promise}, int M) {{
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  float *pa[T, T] = A + i[:, newaxis] * M + i[newaxis, :];
  float *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  {before}
  for ({loop}) {{
    {checks}
    float a[T, T] = {mask_a} ? *pa : 0;
    float b[T, T] = {mask_b} ? *pb : 0;
    c += a @ b;
    pa += T;
    pb += T * T;
  }}
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}}
"""
UP, DOWN = "int k = 0; k < K; k += T", "int k = K; k > 0; k -= T"


def text(
    loop: str = UP,
    mask: str = "k + i < K",
    checks: str = "",
    promise: str = "",
    before: str = "",
    mask_a: str = "",
) -> str:
    return PRODUCT.format(
        loop=loop,
        checks=checks,
        promise=promise,
        before=before,
        mask_a=mask_a or f"({mask})[newaxis, :]",
        mask_b=f"({mask})[:, newaxis]",
    )


SPLIT = {
    "up": text(),
    "down": text(DOWN, "i < k"),
    "mirrored": text(mask="K > k + i"),
    "what is left of the bound": text(mask="i < K - k"),
    "to and with": text(mask="k + i <= K - 1"),
    "in variables": text(mask="check", checks="int at[T] = k + i; bool check[T] = at < K;"),
    "two variables": text(mask="check", checks="bool check[T] = k + i < K;"),
    "with another mask": text(mask_a="(k + i < K)[newaxis, :] && (i < M)[:, newaxis]"),
    "a step of its own": text().replace(
        "pa += T;", "int step = 2 * T; int twice = step; step = twice / 2; pa += step;"
    ),
    "bound set before": text(before="K = K - M + M;"),
}
WHOLE = {
    "promise": text(promise="__multipleof(16)"),
    "promise, down": text(DOWN, "i < k", promise="__multipleof(32)"),
    "product": text(before="K = K / T * T;"),
    "number": text(before="", loop="int k = 0; k < 48; k += T", mask="k + i < 48"),
    "smaller of two": text(before="K = min(K / T * T, 4 * T);"),
}
# A promise holds for the value that is passed, not for what comes of it.
CHANGED = text(promise="__multipleof(16)", before="K = K - M + M;")
KEPT = {
    "another bound": text(mask="k + i < M"),
    "one more": text(mask="k + i + 1 < K"),
    "twice as fast": text(mask="2 * k + i < K"),
    "a longer range": text(mask="k + i + i < K"),
    "not from 0": text("int k = M; k < K; k += T"),
    "not to 0": text("int k = K; k > M; k -= T", "i < k"),
    "unsigned": text(mask="(unsigned)(k + i) < (unsigned)K"),
}


def generated(source: str) -> str:
    return pytriton.translate(source, {"T": 16}).text


@pytest.mark.parametrize("name", SPLIT)
def test_split(name: str) -> None:
    loop, rest = generated(SPLIT[name]).split("    # what is left, under its masks\n")
    assert not re.search(r"< K|< k|> k|K - k", loop.split("for k in ")[1]), loop
    assert "if whole < K:" in rest or "if rest > 0:" in rest
    assert rest.count("mask=") == 2


def test_what_only_another_turn_reads_is_not_in_the_last() -> None:
    loop, rest = generated(SPLIT["a step of its own"]).split("    # what is left, under its masks\n")
    assert (
        "        step = tl.full((), 2 * T, tl.int32)\n        twice = step\n        step = twice // 2\n"
        in loop
    )
    assert "step" not in rest
    assert "twice" not in rest


@pytest.mark.parametrize("name", WHOLE)
def test_no_turn_left(name: str) -> None:
    whole = generated(WHOLE[name])
    assert "mask=" not in whole
    assert "what is left" not in whole


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    kept = generated(KEPT[name])
    assert kept.count("mask=") == 2
    assert kept.count("for k in range(") == 1
    assert "what is left" not in kept


def test_a_promise_of_a_value_that_is_gone() -> None:
    assert "if whole < K:" in generated(CHANGED)


def test_only_beside_products() -> None:
    """A loop without tensor cores waits for memory, and stays short."""
    source = """
    void f(float *X, float *Y, int n) {
      int i[16] = 0 ... 16;
      for (int k = 0; k < n; k += 16)
        *?(k + i < n) (Y + k + i) = *?(k + i < n) (X + k + i);
    }
    """
    assert "what is left" not in generated(source)


def test_comments_and_pointers_stand_once() -> None:
    """What is left has no comments of its own, and advances nothing that is not read again."""
    source = text().replace("c += a @ b;", "// multiply\n    c += a @ b;")
    loop, rest = generated(source).split("    # what is left, under its masks\n")
    assert "# multiply" in loop
    assert "# multiply" not in rest
    assert "pa += T" in loop
    assert "pa" not in rest.replace("tl.load(pa", "")


def test_pointers_that_go_on_in_a_loop_around() -> None:
    """Where the loop runs again, what its last iteration advances is read again."""
    again = text().replace(f"for ({UP})", f"for (int r = 0; r < M; r++) for ({UP})")
    rest = generated(again).split("        # what is left, under its masks\n")[1]
    assert "            pa += T\n            pb += T * T\n" in rest
    anew = again.replace(f"for ({UP})", f"{{ float *p[T, T] = pa; for ({UP})", 1)
    anew = anew.replace("*pa :", "*p :").replace("pa += T;", "p += T;").replace("pb += T * T;\n  }", "}}")
    rest = generated(anew).split("        # what is left, under its masks\n")[1]
    assert "p += T" not in rest


# How much of K each text uses.
USED = {
    **dict.fromkeys(SPLIT, lambda k: k),
    "promise": lambda k: k // 16 * 16,
    "promise, down": lambda k: k // 32 * 32,
    "product": lambda k: k // 16 * 16,
    "smaller of two": lambda k: min(k // 16 * 16, 64),
    "one more": lambda k: k - 1,
}


@pytest.mark.parametrize("name", USED)
@pytest.mark.parametrize("k", [-5, 0, 1, 15, 16, 17, 32, 53, 96])
@pytest.mark.sampled(9)
def test_computes(name: str, k: int) -> None:
    """The same numbers as of the text, and no load beyond K."""
    source = {**SPLIT, **WHOLE, **KEPT}[name]
    used = max(USED[name](k), 0)
    given = used if "promise" in name and name in WHOLE else k  # a broken promise is refused
    m = max(k, 1)
    a, b, c = torch.randn(16, m), torch.randn(m, 16), torch.full((16, 16), float("nan"))
    with watched(a, b):
        pytriton.kernel(source, {"T": 16})(a, b, c, given, m, grid=(1,))
    rows = (torch.arange(16) < m)[:, None] if name == "with another mask" else torch.tensor(True)
    torch.testing.assert_close(c, torch.where(rows, a, 0.0)[:, :used] @ b[:used], rtol=1e-5, atol=1e-5)
