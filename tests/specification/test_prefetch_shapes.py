"""Prefetch by hand in the shapes that real kernels have: undone, with the same numbers, or left alone with a note.

Each shape stands in two texts. A text sums, in rounds of T elements, a function of X and perhaps Y into ``out``;
its number of loads tells whether the load before the loop and the one at its end became one at its top. X and Y
are NaN behind their ends, so that a load too many that counts is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import run, same

T = 8
HEAD = "void f(float* X, float* Y, int* D, float* out __noalias, int K, int Z) {\n  int r[T] = 0 ... T;\n"
TAIL = "\n  *(out + r) = c;\n}"
X = np.arange(40.0, dtype=np.float32) - 17
Y = (np.arange(40.0, dtype=np.float32) % 7) - 3
D = np.array([8, 8, 16, 0, 8, 8], np.int32)  # what each turn moves a pointer by


@dataclass(frozen=True)
class Shape:
    says: str
    body: str
    want: np.ndarray
    loads: int  # that stay in the text
    K: int = 24
    Z: int = 1

    def __str__(self) -> str:
        return self.says


def turns(count: int) -> np.ndarray:
    """X in rounds of T."""
    return X[: count * T].reshape(count, T)


def pairs(count: int) -> np.ndarray:
    return Y[: count * T].reshape(count, T)


RAGGED = np.zeros(24, np.float32)
RAGGED[:19] = X[:19]
RAGGED = RAGGED.reshape(3, T)
WALK = np.array([X[0:8], X[8:16], X[16:24], X[32:40]])  # by D: 0, 8, 16, 32

SHAPES = [
    Shape("masks are carried", """
  float* p[T] = X + r; float c[T] = 0;
  bool m[T] = r < K;
  float a[T] = m ? *p : 0;
  for (int k = K; k > 0; k -= T) {
    c += a * 2; p += T;
    m = r < k - T;
    a = m ? *p : 0;
  }""", RAGGED.sum(0) * 2, 1, K=19),
    Shape("masks are carried, by *?()", """
  float* p[T] = X + r; float c[T] = 0;
  bool in[T] = r < K;
  float a[T] = *?(in)p;
  int left = K;
  while (left > 0) {
    c += a;
    left -= T;
    p += T;
    bool in_[T] = r < left;
    in = in_;
    a = *?(in)p;
  }""", RAGGED.sum(0), 1, K=19),
    Shape("one operand is prefetched, the other is not", """
  float* p[T] = X + r; float* q[T] = Y + r; float c[T] = 0;
  float a[T] = *p;
  for (int k = 0; k < K; k += T) {
    float b[T] = *q;
    c += a * b;
    p += T; q += T;
    a = *p;
  }""", (turns(3) * pairs(3)).sum(0), 2),
    Shape("the other is loaded at the point of use", """
  float* p[T] = X + r; float* q[T] = Y + r; float c[T] = 1;
  float b[T] = *q;
  for (int k = K; k > 0; k -= T) {
    c = c + *p * b;
    q += T;
    b = *q;
    p += T;
  }""", (turns(3) * pairs(3)).sum(0) + 1, 2),
    Shape("pointers advance by a loaded increment", """
  float* p[T] = X + r; int* pd = D; float c[T] = 0;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) {
    c += a;
    int inc __multipleof(8) = *pd;
    p += inc; pd += 1;
    a = *p;
  }""", WALK[:3].sum(0), 2),
    Shape("by one loaded ahead of the sums, of a block", """
  float* p[T] = X + r; int* pd[T] = D + r * 0; float c[T] = 0;
  float a[T] = *p;
  for (int k = 0; k < 4; k += 1) {
    int inc[T] = *pd;
    pd += 1;
    c -= a;
    p += inc;
    a = *p;
  }""", -WALK.sum(0), 2),
    Shape("index arithmetic is rematerialised", """
  float c[T] = 0; int at[T] = r;
  float* p[T] = X + at;
  float a[T] = *p;
  for (int k = 0; k < K; k += T) {
    c += a;
    at = k + T + r;
    p = X + at;
    a = *p;
  }""", turns(3).sum(0), 1),
    Shape("with a division, as of a convolution's filter", """
  float c[T] = 0;
  int row[T] = r / 2; int col[T] = r % 2;
  float* p[T] = X + row * 2 + col;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) {
    c += a * a;
    int at[T] = r + (K - k) + T;
    row = at / 2; col = at % 2;
    p = X + row * 2 + col;
    a = *p;
  }""", (turns(3) ** 2).sum(0), 1),
    Shape("the step is a local that holds a constant", """
  float* p[T] = X + r; float c[T] = 0; int step = T;
  float a[T] = *p;
  for (int k = K; k > 0; k -= step) { c += a; p += step; a = *p; }""", turns(3).sum(0), 1),
    Shape("counting up by one", """
  const int step = T * 1; float c[T] = 0; float* p[T] = X + r;
  float a[T] = *p;
  for (int k = 0; k < K; k += step) { c += a; p += step; a = *p; }""", turns(3).sum(0), 1),
    Shape("the bound is a parameter assigned before", """
  K = K / Z; float c[T] = 0;
  float* p[T] = X + r;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) { c += a; p += T; a = *p; }""", turns(2).sum(0), 1, K=32, Z=2),
    Shape("assigned under an if", """
  float c[T] = 0;
  if (Z > 2) K = K - T;
  float* p[T] = X + r;
  float a[T] = *p;
  for (int k = 0; k < K; k += T) { c += a; p += T; a = *p; }""", turns(2).sum(0), 1, Z=3),
    Shape("the tail load goes to a second name", """
  float* p[T] = X + r; float c[T] = 0;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) {
    p += T;
    bool m[T] = k > T;
    float an[T] = *?(m)p;
    c += a;
    a = an;
  }""", turns(3).sum(0), 1),
    Shape("declared outside", """
  float* p[T] = X + r; float c[T] = 0; float next[T];
  float a[T] = r < K ? *p : 0;
  for (int k = 0; k < K; k += T) {
    p += T;
    next = r < K - k - T ? *p : 0;
    c += a * 3;
    a = next;
  }""", RAGGED.sum(0) * 3, 1, K=19),
    Shape("the pointer advances after the tail load", """
  float* p[T] = X + r; float c[T] = 0;
  float a[T] = *p;
  p += T;
  for (int k = K; k > 0; k -= T) { c += a; a = *p; p += T; }""", turns(3).sum(0), 1),
    Shape("two operands, each after its load", """
  float* p[T] = X + r; float* q[T] = Y + r; float c[T] = 0;
  float a[T] = *p; float b[T] = *q;
  p += T; q += T;
  for (int k = 0; k < K; k += T) {
    c += a * b;
    a = *p; p += T;
    b = *q; q += T;
  }""", (turns(3) * pairs(3)).sum(0), 2),
    Shape("the first load has no mask, the tail one is computed from k", """
  float* p[T] = X + r; float c[T] = 0;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) { c += a; p += T; a = r < k - T ? *p : 0; }""",
          RAGGED.sum(0), 1, K=19),
    Shape("the masks differ", """
  float* p[T] = X + r; float c[T] = 0;
  float a[T] = *?(r < 5)p;
  for (int k = 0; k < K; k += T) { c += a; p += T; a = *?(r < 6 && k + T < K)p; }""",
          X[:8] * (np.arange(8) < 5) + turns(3)[1:].sum(0) * (np.arange(8) < 6), 1),
    Shape("the increment itself is prefetched", """
  float* p[T] = X + r; int* pd = D; float c[T] = 0;
  int d = *pd;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) {
    c += a;
    p += d; pd += 1;
    d = *pd;
    a = *p;
  }""", WALK[:3].sum(0), 2),
    Shape("and used before it is loaded anew", """
  float* p[T] = X + r; int* pd = D + 1; float c[T] = 0;
  float a[T] = *p;
  int d = *D;
  for (int k = 0; k < 4; k += 1) {
    c += a * 2;
    p += d;
    a = *p;
    d = *pd;
    pd += 1;
  }""", WALK.sum(0) * 2, 2),
    Shape("work follows each of the two loads: bias", """
  float* p[T] = X + r; float c[T] = 0;
  float a[T] = *p; a = a + Z;
  for (int k = K; k > 0; k -= T) { c += a; p += T; a = *p; a = a + Z; }""", (turns(3) + 5).sum(0), 1, Z=5),
    Shape("ReLU, in place of the value", """
  float* p[T] = X + r; float c[T] = 0;
  float raw[T] = *p;
  float a[T] = raw > 0 ? raw : 0;
  for (int k = K; k > 0; k -= T) {
    c += a; p += T;
    raw = *p;
    a = raw > 0 ? raw : 0;
  }""", np.maximum(turns(3), 0).sum(0), 1),
]  # fmt: skip


def ends(x: np.ndarray) -> torch.Tensor:
    return torch.cat([torch.tensor(x), torch.full((64,), torch.nan)])


def text(shape: Shape) -> str:
    return HEAD + shape.body.strip("\n") + TAIL


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers(shape: Shape) -> None:
    out = torch.zeros(T)
    given = ends(X), ends(Y), torch.tensor(D)
    run(text(shape), *given, out, shape.K, shape.Z, defines={"T": T})
    same(out, shape.want)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_operand_is_loaded_in_one_place(shape: Shape) -> None:
    made = pytriton.translate(text(shape), {"T": T})
    assert made.text.count("tl.load(") == shape.loads, made.text


@pytest.mark.parametrize("target", ["X", "Y", "p"])
def test_left_alone_with_a_note_where_a_store_may_alias(target: str) -> None:
    """The store of a turn may hit what its tail load reads, or what the next load at the top would."""
    body = f"""
  float* p[T] = X + r; float c[T] = 0;
  float a[T] = *p;
  for (int k = K; k > 0; k -= T) {{
    c += a;
    p += T;
    a = *p;
    *({"p" if target == "p" else target + " + r + k"}) = 3;
  }}"""
    made = pytriton.translate(HEAD + body + TAIL, {"T": T})
    assert made.text.count("tl.load(") == 2, made.text
    notes = [*map(str, made.warnings), made.text]
    assert any("prefetch" in note or "alias" in note or "may write" in note for note in notes), notes
    out, x = torch.zeros(T), ends(X)
    run(HEAD + body + TAIL, x, x, torch.tensor(D), out, 24, 1, defines={"T": T})
    memory, c, a, at = np.append(X, np.zeros(64, np.float32)), np.zeros(T, np.float32), X[:T].copy(), 0
    for k in (24, 16, 8):
        c += a
        at += T
        a = memory[at : at + T].copy()
        memory[at if target == "p" else k :][:T] = 3
    same(out, c)
