"""Which operands of products of double stand apart from the loads behind them: those that Triton would refuse."""

from __future__ import annotations

import pytest

import pytriton

HEAD = """
void f(double *Y, double *D, float *F, half *H, int *I, short *S, char *C, bool *B, long *L, int n) {
  int r[16] = 0 ... 16; int k[K] = 0 ... K;
  int at[16, K] = r[:, newaxis] * K + k[newaxis, :];
  int by[K, 16] = k[:, newaxis] * 16 + r[newaxis, :];
  double b[K, 16] = *(D + by);
  double c[16, 16] = 0;
"""
TAIL = "\n *(Y + r[:, newaxis] * 16 + r[newaxis, :]) = c;\n}\n"

CUT = {
    "half": "c = (double)*(H + at) @ b;",
    "char, by variables": "char x[16, K] = *(C + at); double a[16, K] = x; c = a @ b;",
    "bool": "c = (*(B + at) ? 1.5 : (double[16, K])at) @ b;",
    "addresses": "c = *(D + *(S + at)) @ b;",
    "masks": "c = *?(*(B + at))(D + at) @ b;",
    "rows of an index": "int i[K] = *(S + k); c = *(D + r[:, newaxis] * K + i[newaxis, :]) @ b;",
    "transposed": "half x[K, 16] = *(H + by); c = (double[16, K])(^x) @ b;",
    "assigned in a branch": "double a[16, K] = at; if (n) a = *(H + at); c = a @ b;",
    "assigned in a loop": "double a[16, K] = *(H + at); for (int i = 0; i < n; i++) { c += a @ b; a = a + 1; }",
    "an operand of the accumulating product": "c = c + (double)*(H + at) @ b;",
}
NARROW_IF_WIDENED = {
    "float": "c = (double)*(F + at) @ b;",
    "int": "c = (double)*(I + at) @ b;",
    "int addresses": "c = *(D + *(I + at)) @ b;",
}
PLAIN = {
    "double": "c = *(D + at) @ b;",
    "long": "c = (double)*(L + at) @ b;",
    "no load": "c = (double[16, K])at @ b;",
    "one number for all": "double one = *H; c = (double[16, K])one @ b;",
    "a sum between": "half x[16, K, 2] = *(H + at[:, :, newaxis] + (0 ... 2)[newaxis, newaxis, :]);"
    " c = ((double)x)[:, :, +] @ b;",
    "a product between": "half x[K, 16] = *(H + by); float y[16, K] = *(H + at);"
    " c = (double[16, 16])(y @ (float)x) @ (double[16, 16])r;",
    "the accumulator": "c = *(H + r[:, newaxis] * 16 + r[newaxis, :]); c += *(D + at) @ b;",
    "products of float": "c = (float)*(H + at) @ (float[K, 16])by;",
}


def cuts(body: str, depth: int) -> int:
    text = pytriton.translate(HEAD + body + TAIL, {"K": depth}).text
    return text.count("cut_from_loads(") - ("def cut_from_loads" in text)


@pytest.mark.parametrize("body", CUT.values(), ids=CUT)
@pytest.mark.parametrize("depth", [4, 12, 16, 32])
def test_cut(body: str, depth: int) -> None:
    assert cuts(body, depth) == 1


@pytest.mark.parametrize("body", NARROW_IF_WIDENED.values(), ids=NARROW_IF_WIDENED)
def test_cut_where_the_inner_size_is_widened(body: str) -> None:
    assert [cuts(body, depth) for depth in (1, 8, 12, 16, 32)] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("body", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize("depth", [8, 16])
def test_plain(body: str, depth: int) -> None:
    assert cuts(body, depth) == 0
