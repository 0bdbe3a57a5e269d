"""A mask used before and after a loop with a product is asked again after it, exactly, for all integers."""

from __future__ import annotations

import operator
from itertools import product

import pytest
import torch

import pytriton

# Y[i] = base + i OP m, asked before a loop with a product and used after it
TEXT = """
void f(float *X, int *Y, INT base, INT m, int n) {
  INT r[16] = base + 0 ... 16;
  int at[16] = 0 ... 16;
  bool check[16] = CONDITION;
  float x[16, 16] = check[:, newaxis] ? *(X + at[:, newaxis] * 16 + at[newaxis, :]) : 0;
  float sum[16, 16] = 0;
  for (int k = 0; k < n; k += 1) sum += x @ x;
  *?(check) (Y + at) = 1;
  *?(!check) (Y + at) = 0;
}
"""
AGAIN = "# computed again"
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def text_of(condition: str = "r < m", word: str = "int", source: str = TEXT) -> str:
    return pytriton.translate(source.replace("CONDITION", condition).replace("INT", word)).text


@pytest.mark.parametrize(
    ("condition", "again"),
    [
        ("r < m", "tl.where(r ^ m < 0, r, r - m) < 0"),
        ("r <= m", "tl.where(m ^ r < 0, m, m - r) >= 0"),
        ("r > m", "tl.where(m ^ r < 0, m, m - r) < 0"),
        ("r >= m", "tl.where(r ^ m < 0, r, r - m) >= 0"),
        ("m > r", "tl.where(r ^ m < 0, r, r - m) < 0"),
        ("r < m && r >= n", "(tl.where(r ^ m < 0, r, r - m) < 0) & (tl.where(r ^ n < 0, r, r - n) >= 0)"),
    ],
)
def test_text(condition: str, again: str) -> None:
    lines = text_of(condition).splitlines()
    at = next(number for number, line in enumerate(lines) if AGAIN in line)
    assert lines[at + 1].strip() == f"check = {again}"
    assert "tl.dot" in "".join(lines[:at])
    assert "tl.store" in lines[at + 2]


@pytest.mark.parametrize(
    ("condition", "word"),
    [("r == m", "int"), ("r < m", "unsigned"), ("r < m", "float"), ("r < 5", "int"), ("r + 1 < m", "int")],
)
def test_other_questions_stay(condition: str, word: str) -> None:
    """Equality, other types than signed integers, sides that are no variables."""
    assert AGAIN not in text_of(condition, word)


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        ("sum += x @ x;", "sum += x;"),  # no product
        ("sum += x @ x;", "{ sum += x @ x; *?(check) (Y + at) = 2; }"),  # used in the loop
        ("sum += x @ x;", "{ sum += x @ x; m += 1; }"),  # not the same after it
        ("sum += x @ x;", "{ sum += x @ x; check = r < n; }"),
        ("check[:, newaxis] ? *(X", "(at < n)[:, newaxis] ? *(X"),  # not used before it
        ("*?(check) (Y + at) = 1;", "*Y = sum[+, +];"),  # not used after it
    ],
)
def test_other_loops_stay(part: str, instead: str) -> None:
    source = TEXT.replace(part, instead)
    if "sum[+, +]" in instead:
        source = source.replace("*?(!check) (Y + at) = 0;", "")
    assert AGAIN in text_of()
    assert source != TEXT
    assert AGAIN not in text_of(source=source)


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize(("word", "bits"), [("int", 32), ("long", 64)])
@pytest.mark.sampled(6)
def test_computes(sign: str, word: str, bits: int) -> None:
    """At both ends of the integers, where differences and the rows themselves wrap around."""
    kernel = pytriton.kernel(TEXT.replace("CONDITION", f"r {sign} m").replace("INT", word))
    assert AGAIN in kernel.source()
    end = 2 ** (bits - 1)
    edges = (-end, -end + 7, -16, -1, 0, 1, 15, end - 16, end - 1)
    x = torch.zeros(16, 16)
    for base, m in product(edges, edges):
        y = torch.full((16,), 7, dtype=torch.int32)
        kernel(x, y, base, m, 1, grid=(1,))
        rows = [(base + i + end) % (2 * end) - end for i in range(16)]
        assert y.tolist() == [int(OPERATORS[sign](row, m)) for row in rows], (base, m)
