"""A loop that sums products is asked whether it runs at all, where the compiler else waits for each product."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.pipeline import translate_as
from pytriton.settings import Settings
from pytriton.source import Source

# C = A @ B^T
TEXT = """
void f(half *A, half *B, OUT *C, int M, int N, int K) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  half *pa[TM, TK] = A + rm[:, newaxis] * K + rk[newaxis, :];
  half *pb[TN, TK] = B + rn[:, newaxis] * K + rk[newaxis, :];
  float c[TM, TN] = 0;
  for (int k = LOOP) {
    half a[TM, TK] = *pa;
    half b[TN, TK] = *pb;
    c += a @ ^b;
    pa += TK;
    pb += TK;
  }
  OUT *pc[TM, TN] = C + rm[:, newaxis] * N + rn[newaxis, :];
  *pc = c;
}
"""
UP, DOWN = "0; k < K; k += TK", "K; k > 0; k -= TK"
COMMENT = "# under a test, so that ptxas"


def text_of(out: str = "half", tn: int = 256, loop: str = UP, source: str = TEXT, tk: int = 16) -> str:
    defines = {"OUT": out, "TM": 16, "TN": tn, "TK": tk, "LOOP": loop}
    return pytriton.translate(source, defines).text


@pytest.mark.parametrize("loop", [UP, DOWN])
@pytest.mark.parametrize(("out", "tn"), [("half", 256), ("float", 128), ("bfloat16", 256)])
def test_text(loop: str, out: str, tn: int) -> None:
    lines = text_of(out, tn, loop).splitlines()
    at = lines.index("    if K > 0:")
    assert COMMENT in lines[at - 1]
    assert lines[at + 1].startswith("        for k in range(")
    assert any(line.startswith("            c = tl.dot(") for line in lines)


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        (
            "half a[TM, TK] = *pa;",
            "half a[TM, TK] = (rm < M)[:, newaxis] ? *pa : 0;",
        ),  # costs registers there
        ("c += a @ ^b;", "c = a @ ^b;"),  # no sum
        (
            "*pc = c;",
            "*pc = c; half w[TM, 256] = *(A + rm[:, newaxis] + (0 ... 256)[newaxis, :]); *A = w[+, +];",
        ),
        ("float c[TM, TN] = 0;", "float c[TM, TN] = 0; K = K / 2;"),  # a bound that is no argument
        ("pa += TK;", "pa += TK; if (k > 7) pa += 0;"),
    ],
)
def test_other_loops_stay(part: str, instead: str) -> None:
    assert part in TEXT
    assert COMMENT not in text_of(source=TEXT.replace(part, instead))


@pytest.mark.parametrize(("out", "tn"), [("half", 128), ("float", 256), ("half", 64)])
def test_other_tiles_stay(out: str, tn: int) -> None:
    """A row of the result is not a warp wide."""
    assert COMMENT not in text_of(out, tn)


def test_known_bounds_stay() -> None:
    assert COMMENT not in text_of(loop="0; k < 64; k += TK")


def test_portable_code_does_without() -> None:
    defines = {"OUT": "half", "TM": 16, "TN": 256, "TK": 16, "LOOP": UP}
    for portable in (False, True):
        text = translate_as(Source(TEXT), defines, Settings(portable=portable)).text
        assert (COMMENT in text) != portable


@pytest.mark.parametrize("loop", [UP, DOWN])
@pytest.mark.parametrize("k", [0, -16, -(2**31), 16, 48])
def test_computes(loop: str, k: int) -> None:
    """Zeros where no iteration is taken, which a negative number of columns asks for, too."""
    torch.manual_seed(0)
    a, b = (torch.randn(rows, max(k, 1)).half() for rows in (32, 256))
    c = torch.full((32, 256), torch.nan)
    defines = {"OUT": "half", "TM": 16, "TN": 256, "TK": 16, "LOOP": loop}
    out = c.half()
    pytriton.kernel(TEXT)(a, b, out, 32, 256, k, grid=(2, 1), defines=defines)
    want = a.float() @ b.float().t() if k > 0 else torch.zeros_like(c)
    torch.testing.assert_close(out.float(), want, rtol=2.0**-10, atol=1e-4)
