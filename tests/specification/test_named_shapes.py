"""Blocks of any size, masks, scopes, products and locks in the shapes that real kernels have, two texts each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import DTYPES, Row, inf, nan, ptx, row, run, same

RNG = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(np.float32)


# ---------------------------------------------------------------- blocks of any size

SOFTMAX = """
void softmax(float* X, float* Y, int n) {
  int j[TN] = 0 ... TN;
  bool in[TN] = j < n;
  float x[TN] = in ? *(X + get_program_id(0) * n + j) : -INFINITY;
  float e[TN] = exp(x - x[max]);
  *?(in)(Y + get_program_id(0) * n + j) = e / e[+];
}"""
ROWS_SOFTMAX = """
void softmax(float* X, float* Y, int rows) {
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  bool in[TM, TN] = (i < rows)[:, newaxis];
  float* px[TM, TN] = X + i[:, newaxis] * TN + (0 ... TN)[newaxis, :];
  float x[TM, TN] = *?(in)px;
  x = exp(x - (x[:, max])[:, newaxis]);
  *?(in)(px - X + Y) = x / (x[:, +])[:, newaxis];
}"""


@pytest.mark.parametrize("n", [768, 96, 3, 1, 700])
def test_softmax_of_rows(n: int) -> None:
    """A wrapper rounds the row up to 256 at times, and gives the exact size at others."""
    x, y = torch.tensor(normal(2, n)), torch.zeros(2, n)
    width = -(-n // 256) * 256 if n > 256 else n
    run(SOFTMAX, x, y, n, grid=2, defines={"TN": width})
    same(y, torch.softmax(x, 1), 1e-6)


@pytest.mark.parametrize(("m", "n"), [(3, 96), (5, 3), (1, 24)])
def test_softmax_of_blocks_of_rows(m: int, n: int) -> None:
    x, y = torch.tensor(normal(7, n)), torch.full((7, n), nan)
    text = ROWS_SOFTMAX.replace("(px - X + Y)", "(Y + i[:, newaxis] * TN + (0 ... TN)[newaxis, :])")
    run(text, x, y, 7, grid=-(-7 // m), defines={"TM": m, "TN": n})
    same(y, torch.softmax(x, 1), 1e-6)


ODD = normal(6, 12)
ODD_NAN = np.where(ODD > 1, np.float32(nan), ODD)
SIZES = [
    row("ranges of 3 in two axes", "int[3, 5]", "(0 ... 3)[:, newaxis] * 5 + (0 ... 5)[newaxis, :]",
        range(15)),
    row("a range from 5 to 17", "int", "(5 ... 17)[+] * 100 + (5 ... 17)[min]", sum(range(5, 17)) * 100 + 5),
    row("a product as reduction of ones", "int",
        "bool one[96] = 1; bool two[3, 7] = 1; int result = one[+] + two[+, +];", 117),
    row("maxima of negative numbers", "float[6]", "(x - 100)[:, max]", (ODD - 100).max(1), x=ODD),
    row("minima of positive numbers", "float[12]", "(x + 100)[min, :]", (ODD + 100).min(0), x=ODD),
    row("sums of exp, which is 1 in padding", "float[6]", "(exp(x))[:, +]", np.exp(ODD).sum(1), x=ODD,
        tolerance=1e-5),
    row("sums of a constant block", "float", "float c[5, 6] = 2.5f; float result = c[+, +];", 75.0),
    row("sums of a comparison that padding would satisfy", "int", "(x < 50)[+, +]", 72, x=ODD),
    row("NaN in odd rows", "float[6]", "x[:, max]", np.nanmax(ODD_NAN, 1), x=ODD_NAN),
    row("permuted, then reduced", "float[12]", "(^x)[:, min]", ODD.min(0), x=ODD),
    row("reshaped 6x12 -> 72 -> 8x9", "float[8, 9]", "(float[8, 9])(float[72])x", ODD, x=ODD),
    row("a product with a long sum", "float[6, 6]", "x @ ^x", ODD @ ODD.T, x=ODD, tolerance=1e-5),
    row("a product of odd sizes, added to one", "float[3, 5]", "a @ b + 1", np.full((3, 5), 8),
        a=np.ones((3, 7), np.float32),
        b=np.ones((7, 5), np.float32)),
    row("0 / 0 in padding is not seen", "float", "(x / y)[+]", 3.0, x=[2.0, 2.0, 2.0], y=[2.0, 2.0, 2.0]),
    row("integer division in padding neither", "int", "(x / x)[+]", 3, x=[5, -6, 7]),
    row("an index gathered from an odd block", "float[3]", "*(X + x)", [3, 1, 2], x=[2, 0, 1], X=[1.0, 2.0,
        3.0]),
    row("odd blocks carried by a loop", "float",
        "float s[3] = 1; for (int i = 0; i < 3; i += 1) s = s * 2 + i; float result = s[+];",
        3 * 12.0),
    row("an atomic of an odd block", "float",
        "atomic_add(X + (0 ... 3) * 0, (float[3])1); float result = *X;", 8.0, X=[5.0]),
]  # fmt: skip


@pytest.mark.parametrize("row", SIZES, ids=str)
def test_sizes(row: Row) -> None:
    row.hold()


@pytest.mark.parametrize("sizes", [(96, 48, 24), (3, 5, 7), (48, 3, 96)], ids=str)
@pytest.mark.sampled(3)
def test_a_matrix_product_of_odd_tiles(sizes: tuple[int, int, int]) -> None:
    text = """
    void dot(half* A, half* B, float* C, int M, int N, int K) {
      int m[TM] = get_program_id(0) * TM + 0 ... TM;
      int n[TN] = get_program_id(1) * TN + 0 ... TN;
      int k[TK] = 0 ... TK;
      half* pa[TM, TK] = A + m[:, newaxis] * K + k[newaxis, :];
      half* pb[TK, TN] = B + k[:, newaxis] * N + n[newaxis, :];
      float c[TM, TN] = 0;
      for (int left = K; left > 0; left -= TK) {
        half a[TM, TK] = (m < M)[:, newaxis] && (k < left)[newaxis, :] ? *pa : 0;
        half b[TK, TN] = (k < left)[:, newaxis] && (n < N)[newaxis, :] ? *pb : 0;
        c += a @ b;
        pa += TK; pb += TK * N;
      }
      *?((m < M)[:, newaxis] && (n < N)[newaxis, :])(C + m[:, newaxis] * N + n[newaxis, :]) = c;
    }"""
    tm, tn, tk = sizes
    a, b = torch.randint(-4, 5, (50, 33)).half(), torch.randint(-4, 5, (33, 41)).half()
    c = torch.full((50, 41), nan)
    run(text, a, b, c, 50, 41, 33, grid=(-(-50 // tm), -(-41 // tn)), defines={"TM": tm, "TN": tn, "TK": tk})
    same(c, a.float() @ b.float())


# ---------------------------------------------------------------- masks

P = [1.0, -2.0, 3.0, -4.0]
MASKS = [
    row("at depth: within a call, a cast, a product", "float[4]",
        "r < 2 ? exp(-(float[4])*(X + r)) * *(X + r) : 0.5",
        [np.exp(-1), -2 * np.exp(2), 0.5, 0.5], before="int r[4] = 0 ... 4;", X=P, tolerance=1e-6),
    row("at depth: an index that is loaded", "float[4]", "r < 2 ? *(X + *(L + r)) : 7", [-4, 3, 7, 7],
        before="int r[4] = 0 ... 4;",
        X=P, L=[3, 2]),
    row("in both branches", "float[4]", "r < n ? *(X + r) : *(Y + r - n)", [1, 10, 20, 30],
        before="int r[4] = 0 ... 4;", X=P,
        Y=[10.0, 20.0, 30.0], n=1),
    row("in both branches, with work", "float[4]", "r > 1 ? *(X + r) * 2 : -*(Y + r)", [-5, 6, 6, -8],
        before="int r[4] = 0 ... 4;", X=P, Y=[5.0, -6.0]),
    row("nested in the true branch", "float[4]", "r < 3 ? (r > 0 ? *(X + r) : *Y) : -1", [9, -2, 3, -1],
        before="int r[4] = 0 ... 4;", X=P, Y=[9.0]),
    row("nested in the false branch", "float[4]", "r < 1 ? *Y : r < 2 ? 5 : *(X + r)", [9, 5, 3, -4],
        before="int r[4] = 0 ... 4;", X=P, Y=[9.0]),
    row("a ternary as condition", "float[4]", "(r < 2 ? *(X + r) > 0 : 1) ? *(X + r) : 0", [1, 0, 3, -4],
        before="int r[4] = 0 ... 4;", X=P),
    row("a mask of lower rank", "float[2, 2]",
        "(m[newaxis, :] ? *(X + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :]) : 0)",
        [0, -2, 0, -4], X=P, m=[0, 1]),
    row("a scalar mask in a ternary", "float[2]", "n > 0 ? *(X + 0 ... 2) : *(Y + 0 ... 2)", [5, 6], X=P,
        Y=[5.0, 6.0], n=0),
    row("a scalar mask of a scalar", "float", "n > 0 ? *X : -*Y", -5.0, X=P, Y=[5.0], n=-1),
    row("*?() as operand", "float[4]", "1 - *?(r % 2)(X + r) * 2", [1, 5, 1, 9],
        before="int r[4] = 0 ... 4;", X=P),
    row("*?() under ?:", "float[4]", "r < 3 ? *?(r > 0)(X + r) : 9", [0, -2, 3, 9],
        before="int r[4] = 0 ... 4;", X=P),
    row("*?() whose mask is a load", "float[4]", "*?(*(L + r))(X + r)", [1, 0, 3, 0],
        before="int r[4] = 0 ... 4;", X=P,
        L=[1, 0, 5, 0]),
    row("*?() whose mask is a ternary", "float[4]", "*?(n ? r < 1 : r > 2)(X + r)", [0, 0, 0, -4],
        before="int r[4] = 0 ... 4;",
        X=P, n=0),
    row("GNU ?: of a load", "float[4]", "*?(r < 2)(X + r) ?: 8", [1, -2, 8, 8],
        before="int r[4] = 0 ... 4;", X=P),
    row("-INFINITY as other", "float", "(r < n ? *(X + r) : -INFINITY)[max]", 3.0,
        before="int r[4] = 0 ... 4;", X=P, n=3),
    row("NaN where no one looks", "float", "(r < n ? *(X + r) : 0)[+]", -1.0, before="int r[4] = 0 ... 4;",
        X=[1.0, -2.0, nan, inf],
        n=2),
]  # fmt: skip


@pytest.mark.parametrize("row", MASKS, ids=str)
def test_masks(row: Row) -> None:
    row.hold()


@pytest.mark.parametrize(
    ("store", "want"),
    [
        ("*?(r < 2)(Z + r) = *?(r < 1)(X + r);", [1, 0, 9, 9]),
        ("*?(r > 0 && *(X + r) < 0)(Z + r) = r;", [9, 1, 9, 3]),
        ("*?(n)(Z + r) = 1;", [9, 9, 9, 9]),
        ("*?(r == 2)(Z + r) += 5;", [9, 9, 14, 9]),
        ("*?((r < 2)[:] ? r < 1 : r > 2)(Z + r) = -1;", [-1, 9, 9, -1]),
        ("*?(m[newaxis, :])(Z + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :]) = (5 + 0 ... 2)[:, newaxis];",
         [9, 5, 9, 6]),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_masked_stores(store: str, want: list[int]) -> None:
    z = torch.full((4,), 9.0)
    text = f"void f(float* X, float* Z, int n) {{ int r[4] = 0 ... 4; int m[2] = 0 ... 2; {store} }}"
    run(text, torch.tensor(P), z, 0)
    same(z, want)


# ---------------------------------------------------------------- scopes

SCOPES = [
    row("masks declared outside and inside", "float",
        "bool m[4] = r < 3; float s = 0; for (int k = 0; k < n; k += 1) {"
        " float a[4] = m ? *(X + r) : 0; s += a[+]; bool m[4] = r < k; s += (m ? *(X + r) : 0)[+];"
        " } float result = s;",
        3 * 2.0 + 0 + 1 + (1 - 2), before="int r[4] = 0 ... 4;", X=P, n=3),
    row("an inner block of pointers, an outer number", "float",
        "int p = 3; float s = p; { float* p[2] = X + 0 ... 2;"
        " { float p[2] = *(X + 2 + 0 ... 2); s += p[+]; } s += (*p)[+]; } float result = s * p;", 3.0, X=P),
    row("a scalar in one arm, a block in the other", "float",
        "\n#if BLOCK\nfloat v[4] = *(X + 0 ... 4);\n#else\nfloat v = *X;\n#endif\n"
        "float w[4] = v; float result = w[+];", -2.0, X=P, defines={"BLOCK": 1}),
    row("the other arm", "float", "\n#if BLOCK\nfloat v[4] = *(X + 0 ... 4);\n#else\nfloat v = *X;\n#endif\n"
        "float w[4] = v; float result = w[+];", 4.0, X=P, defines={"BLOCK": 0}),
    row("declared without initialiser, set in both arms", "float",
        "float v; if (n > 0) v = *X; else { v = *(X + 1); } float result = v;",
        -2.0, X=P, n=0),
    row("declared without initialiser, set in a loop", "float",
        "float last; int i; for (i = 0; i < n; i += 1) last = *(X + i);"
        " float result = last + i;", 6.0, X=P, n=3),
    row("a parameter assigned in a loop", "int",
        "for (int i = 0; i < 3; i += 1) { n = n * 2; } int result = n;", -40, n=-5),
    row("a pointer parameter advanced in a loop", "float",
        "float s = 0; while (n > 0) { s = s * 2 + *X; X += 1; n -= 1; } float result = s;",
        3.0, X=P, n=3),
    row("one name in three loops, of three types", "float",
        "float s = 0; for (int i = 0; i < 2; i += 1) s += i;"
        " for (float i = 0; i < 1; i += 0.5f) s += i; for (long i = 5; i > 3; i -= 1) s += i;"
        " float result = s;", 1 + 0.5 + 9),
    row("break out of a loop in an if in a loop", "int",
        "int result = 0; for (int i = 0; i < 4; i += 1) { if (i % 2) {"
        " for (;;) { result += 10; if (result > n) break; } } else result += 1; }", 1 + 20 + 1 + 10, n=15),
    row("continue in an inner while", "int",
        "int result = 0; for (int i = 0; i < 3; i += 1) { int j = 0; while (j < 3) { j += 1;"
        " if (j == i) continue; result += j; } }", 6 + 5 + 4),
    row("do while over blocks", "int",
        "int x[4] = 0 ... 4; do { x = x * 2; } while (x[max] < n); int result = x[+];", 6 * 8, n=20),
]  # fmt: skip


@pytest.mark.parametrize("row", SCOPES, ids=str)
def test_scopes(row: Row) -> None:
    row.hold()


RETURNS = [
    ("at the top of a program beyond the end",
    "int i = get_program_id(0); if (i >= n) return; *(Z + i) = i + 1;", [1, 2, 9, 9]),
    ("in a nested if",
    "int i = get_program_id(0); if (i > 0) { if (i < n + 1) return; *(Z + i) = 5; } *Z = 1;", [1, 9, 9, 5]),
    ("in a loop",
    "int p = get_program_id(0); for (int i = 0; i < 4; i += 1) { if (i == p) { *(Z + i) = n; return;"
        " } } *Z = 7;",
     [2, 2, 2, 2]),
    ("in a while of a for",
    "for (int i = 0; ; i += 1) { while (1) { *(Z + i) = i; if (i == n) return; break; } }", [0, 1, 2, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("says", "body", "want"), RETURNS, ids=[x[0] for x in RETURNS])
def test_early_returns(says: str, body: str, want: list[int]) -> None:
    z = torch.full((4,), 9, dtype=torch.int32)
    run(f"void f(int* Z, int n) {{ {body} }}", z, 2, grid=4)
    same(z, want)


# ---------------------------------------------------------------- products and locks


@pytest.mark.parametrize("type_", ["half", "bfloat16", "float", "double", "char"])
@pytest.mark.parametrize(
    "form", ["(*pa) @ (*pb)", "^(*pat) @ (*pb)", "dot(a, ^(*pbt), c) - c", "dot(^(*pat), ^(*pbt))"]
)
def test_products_of_loads_of_every_type(type_: str, form: str) -> None:
    """Either operand from row- or column-major memory."""
    text = f"""
    void f(TYPE* A, TYPE* B, OUT* C) {{
      int m[4] = 0 ... 4; int n[8] = 0 ... 8; int k[2] = 0 ... 2;
      TYPE* pa[4, 2] = A + m[:, newaxis] * 2 + k[newaxis, :];
      TYPE* pb[2, 8] = B + k[:, newaxis] * 8 + n[newaxis, :];
      TYPE* pat[2, 4] = A + k[:, newaxis] + m[newaxis, :] * 2;
      TYPE* pbt[8, 2] = B + n[:, newaxis] + k[newaxis, :] * 8;
      TYPE a[4, 2] = *pa;
      OUT c[4, 8] = 3;
      *(C + m[:, newaxis] * 8 + n[newaxis, :]) = {form};
    }}"""
    result = {"double": "double", "char": "int"}.get(type_, "float")
    a, b = torch.randint(-4, 5, (4, 2)), torch.randint(-4, 5, (2, 8))
    c = torch.zeros(4, 8, dtype=DTYPES[result])
    run(text, a.to(DTYPES[type_]), b.to(DTYPES[type_]), c, defines={"TYPE": type_, "OUT": result})
    same(c, a @ b)


def test_accumulation_is_chained_where_the_accumulator_has_the_products_type() -> None:
    text = """
    void f(half* A, float* C, int K) {
      int i[64, 64] = (0 ... 64)[:, newaxis] * 64 + (0 ... 64)[newaxis, :];
      ACC c[64, 64] = 0;
      for (int k = 0; k < K; k += 1) { c += (*(A + i)) @ (*(A + i + k * 4096)); }
      *(C + i) = c;
    }"""
    chained, rounded = (pytriton.translate(text, {"ACC": type_}).text for type_ in ("float", "half"))
    assert "c = tl.dot(" in chained
    assert ", c)" in chained
    assert ", c)" not in rounded


SPLIT = """
void split(float* A, float* B, float* C, int* locks, int n, int K, int Z) {
  int z = get_program_id(1);
  K = K / Z;
  int m[T] = 0 ... T;
  int j[T] = get_program_id(0) * T + 0 ... T;
  float* pa[T, TK] = A + m[:, newaxis] * (K * Z) + (z * K + 0 ... TK)[newaxis, :];
  float* pb[TK, T] = B + (z * K + 0 ... TK)[:, newaxis] * n + j[newaxis, :];
  float a[T, TK] = *pa;
  float b[TK, T] = *pb;
  float acc[T, T] = 0;
  for (int k = K; k > 0; k -= TK) {
    acc += a @ b;
    pa += TK;
    pb += TK * n;
    a = k > TK ? *pa : 0;
    b = k > TK ? *pb : 0;
  }
  float* pc[T, T] = C + m[:, newaxis] * n + j[newaxis, :];
  int* lock = locks + get_program_id(0);
  LOCK;
  int* turn = lock + get_num_programs(0);
  int t = *turn;
  if (t) acc += *pc;
  *pc = acc;
  atomic_xchg(turn, (t + 1) % Z);
  UNLOCK;
}"""
LOCKS = [
    ("while (atomic_cas(lock, 0, 1) == 1);", "atomic_xchg(lock, 0)"),
    ("int got = 1; do { got = atomic_cas(lock, 0, 1); } while (got != 0);",
    "int was = atomic_xchg(lock, 0);"),
]  # fmt: skip


@pytest.mark.parametrize(("acquire", "release"), LOCKS)
def test_split_products_under_a_lock(acquire: str, release: str) -> None:
    """K split over 3 programs, of which each adds to what the ones before it stored."""
    text = SPLIT.replace("UNLOCK", release).replace("LOCK;", acquire)
    a, b = torch.randint(-4, 5, (8, 24)).float(), torch.randint(-4, 5, (24, 16)).float()
    c, locks = torch.full((8, 16), nan), torch.zeros(16, dtype=torch.int32)
    for _ in range(2):
        run(text, a, b, c, locks, 16, 24, 3, grid=(2, 3), defines={"T": 8, "TK": 4})
        same(c, a @ b)
        assert not locks.any()
    code = ptx(text, defines={"T": 16, "TK": 16})
    cas, exchange = code.index(".cas."), code.rindex(".exch.")
    assert cas < code.index("bar.sync", cas) < code.index("ld.global", cas)
    assert code.rindex("st.global", 0, exchange) < code.rindex("bar.sync", 0, exchange)
