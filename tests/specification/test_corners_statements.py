"""Corners of several sentences, in statements: effects in conditions, masks of masks, null pointers, odd sizes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.specification.asking import nan, run, same, tensor

# what it is about, a kernel, its arguments, the place of one of them, what stands there, perhaps the programs
TEXTS: list[tuple[Any, ...]] = [
    (
        "no && *N",
        "void f(float* N, int* o, int n) { *o = (n && *N > 0) * 10 + (!n || *N > 0); }",
        [None, torch.zeros(1, dtype=torch.int32), 0],
        1,
        [1],
    ),
    (
        "block no && *N",
        "void f(float* N, int* o, int n) { int r[4] = 0 ... 4; *(o + r) = r < n && *(N + r) > 0; }",
        [None, torch.ones(4, dtype=torch.int32), 0],
        1,
        [0] * 4,
    ),
    ("a ?: *N", "void f(float* N, float* o, float n) { *o = n ?: *N; }", [None, torch.zeros(1), 2.0], 1, [2]),
    ("X ? *X : 0", "void f(float* N, float* o) { *o = N ? *N : 3; }", [None, torch.zeros(1)], 1, [3]),
    ("if (X) load", "void f(float* N, float* o) { *o = 1; if (N) *o = *N; }", [None, torch.zeros(1)], 1, [1]),
    (
        "pointer mask",
        "void f(float* N, float* o) { *?(N)(o + 0 ... 2) = 5; *?(!N)(o + 2 + 0 ... 2) = 6; }",
        [None, torch.zeros(4)],
        1,
        [0, 0, 6, 6],
    ),
    (
        "*p++ = *q++",
        "void f(float* X, float* o) { float* p = o; for (int i = 0; i < 3; i += 1) *p++ = *X++ * 2; }",
        [torch.tensor([1.0, -2, 3]), torch.zeros(3)],
        1,
        [2, -4, 6],
    ),
    (
        "*--p",
        "void f(float* X, float* o) { float* p = X + 3; for (int i = 0; i < 3; i += 1) *(o + i) = *--p; }",
        [torch.tensor([1.0, -2, 3]), torch.zeros(3)],
        1,
        [3, -2, 1],
    ),
    (
        "(*p)++ 2",
        "void f(int* X) { (*X)++; ++*(X + 1); (*(X + 1))--; *(X+1) *= 3; }",
        [torch.tensor([1, 5], dtype=torch.int32)],
        0,
        [2, 15],
    ),
    (
        "store value of",
        "void f(int* X, char* C) { int a = *C = 300; *X = a; }",
        [torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int8)],
        0,
        [44],
    ),
    (
        "masked compound",
        "void f(int* X, int n) { *?(0 ... 4 < n)(X + 0 ... 4) <<= 2; }",
        [torch.tensor([1, -2, 3, 4], dtype=torch.int32), 2],
        0,
        [4, -8, 3, 4],
    ),
    (
        "old val masked",
        "void f(int* X, int* o) { int r[4] = 0 ... 4;"
        " int old[4] = atomic_add(X + r, r + 1, r < 2); *?(r < 2)(o + r) = old; }",
        [torch.tensor([10, 20, 30, 40], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)],
        1,
        [10, 20, 0, 0],
    ),
    (
        "atomic scalar mask",
        "void f(int* X, int n) { atomic_add(X, 5, n > 3); atomic_add(X + 1, 5, n > 2); }",
        [torch.tensor([1, 1], dtype=torch.int32), 3],
        0,
        [1, 6],
    ),
    (
        "atomic in if",
        "void f(int* X, int n) { if (n > 2) atomic_add(X, 5); else atomic_add(X + 1, 7); }",
        [torch.tensor([1, 1], dtype=torch.int32), 3],
        0,
        [6, 1],
    ),
    ("atomic conv", "void f(long* X, float v) { atomic_add(X, v); }", [torch.tensor([1]), -2.7], 0, [-1]),
    (
        "atomic narrow int",
        "void f(unsigned* X) { atomic_add(X, -1); }",
        [torch.tensor([0]).to(torch.uint32)],
        0,
        [2**32 - 1],
    ),
    (
        "while cas value",
        "void f(int* L, int* o) { int got; while ((got = atomic_cas(L, 0, 1)) != 0);"
        " *o = got; *(o + 1) = atomic_xchg(L, 0); }",
        [torch.zeros(1, dtype=torch.int32), torch.full((2,), 9, dtype=torch.int32)],
        1,
        [0, 1],
    ),
    (
        "loop carried ptr select",
        "void f(float* X, float* Y, float* o, int n) { float* p = X; float s = 0;"
        " for (int i = 0; i < n; i += 1) { s = s * 10 + *p; p = i % 2 ? X + i : Y + i; } *o = s; }",
        [torch.tensor([1.0, 2, 3]), torch.tensor([4.0, 5, 6]), torch.zeros(1), 3],
        2,
        [1 * 100 + 4 * 10 + 2],
    ),
    (
        "nested mask loops",
        "void f(float* X, float* o, int n) { int r[4] = 0 ... 4; float s[4] = 0;"
        " for (int i = 0; i < n; i += 1) { bool m[4] = r < i; for (int j = 0; j < i; j += 1) {"
        " bool m[4] = r == j; s += m ? *(X + r) : 0; } s += m ? 100 : 0; } *(o + r) = s; }",
        [torch.tensor([1.0, 2, 3, 4]), torch.zeros(4), 3],
        1,
        [2 * 1 + 200, 1 * 2 + 100, 0, 0],
    ),
    (
        "return value of if block assigned later",
        "void f(int* o, int n) { int x; if (n > 1) x = 5; if (n > 1) *o = x; }",
        [torch.zeros(1, dtype=torch.int32), 3],
        0,
        [5],
    ),
    (
        "three programs return",
        "void f(int* o, int n) { int p = get_program_id(0); if (p == n) return;"
        " atomic_add(o, p); if (p > n) return; atomic_add(o, 100); }",
        [torch.zeros(1, dtype=torch.int32), 1],
        0,
        [100 + 0 + 2],
        3,
    ),
    (
        "swap via xor",
        "void f(int* o, int a, int b) { a ^= b; b ^= a; a ^= b; *o = a; *(o + 1) = b; }",
        [torch.zeros(2, dtype=torch.int32), -3, 7],
        0,
        [7, -3],
    ),
    (
        "loop var long wrap int",
        "void f(long* o, int n) { long s = 0; for (int i = n; i < n + 3; i += 1) s += (long)i * i; *o = s; }",
        [torch.zeros(1, dtype=torch.int64), 100000],
        0,
        [100000**2 + 100001**2 + 100002**2],
    ),
    (
        "continue in for w/ step side effects",
        "void f(int* o, int n) { int j = 0; int s = 0; for (int i = 0;"
        " i < n; i += 1, j += 2) { if (i == 1) continue; s += j; } *o = s; *(o+1) = j; }",
        [torch.zeros(2, dtype=torch.int32), 4],
        0,
        [0 + 4 + 6, 8],
    ),
    (
        "do while with continue & post",
        "void f(int* o, int n) { int s = 0; do { if (n == 2) continue;"
        " s += n; } while (n-- > 0); *o = s; *(o + 1) = n; }",
        [torch.zeros(2, dtype=torch.int32), 3],
        0,
        [3 + 1 + 0, -1],
    ),
    (
        "while n--",
        "void f(int* o, int n) { int s = 0; while (n--) { if (n % 2) continue; s += n;"
        " if (n < 2) break; } *o = s; *(o+1) = n; }",
        [torch.zeros(2, dtype=torch.int32), 5],
        0,
        [4 + 2 + 0, 0],
    ),
    (
        "a step that stores is left out by a break",
        "void f(int* o) { int i = 0; for (; i < 9; *o = i) { i += 1; if (i == 4) continue;"
        " if (i == 6) break; } }",
        [torch.zeros(1, dtype=torch.int32)],
        0,
        [5],
    ),
    (
        "float for with block",
        "void f(float* o) { float a[4] = 1; for (float t = 1; t > 0.2f;"
        " t /= 2) a = a + t; *(o + 0 ... 4) = a; }",
        [torch.zeros(4)],
        0,
        [2.75] * 4,
    ),
    (
        "goto-like nested break flags",
        "void f(int* o, int n) { int s = 0; for (int i = 0; i < 3; i += 1) {"
        " int j; for (j = 0; j < 5; j += 1) { if (j * i == n) break; s += 1; } if (j < 5) { s += 100;"
        " continue; } s += 1000; } *o = s; }",
        [torch.zeros(1, dtype=torch.int32), 4],
        0,
        [5 + 1000 + 4 + 100 + 2 + 100],
    ),
    (
        "large block 3 axes reduce mid NaN",
        "void f(float* X, float* o) {"
        " float x[2, 3, 2] = *(X + (0 ... 2)[:, newaxis, newaxis] * 6 + (0 ... 3)[newaxis, :, newaxis] * 2"
        " + (0 ... 2)[newaxis, newaxis, :]);"
        " *(o + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :]) = x[:, min, :]; }",
        [torch.tensor([1.0, nan, -2, nan, 5, nan, 0, 1, 2, 3, 4, 5]), torch.zeros(4)],
        1,
        [-2, nan, 0, 1],
    ),
    (
        "ptr diff in loop bound",
        "void f(int* X, int* o) { int* e = X + 3; int s = 0; for (int* p = X; p < e;"
        " p += 1) s += *p; *o = s; }",
        [torch.tensor([1, 2, 3, 100], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)],
        1,
        [6],
    ),
    (
        "ptr loop !=",
        "void f(int* X, int* o, int n) { int s = 0; for (int* p = X; p != X + n; p++) s += *p; *o = s; }",
        [torch.tensor([1, 2, 3, 100], dtype=torch.int32), torch.zeros(1, dtype=torch.int32), 3],
        1,
        [6],
    ),
    (
        "block of bool stored to char",
        "void f(char* o) { *(o + 0 ... 4) = 0 ... 4 > 1; }",
        [torch.ones(4, dtype=torch.int8)],
        0,
        [0, 0, 1, 1],
    ),
    (
        "bool ptr store 2",
        "void f(bool* o) { *(o + 0 ... 4) = 0 ... 4; }",
        [torch.zeros(4, dtype=torch.bool)],
        0,
        [0, 1, 1, 1],
    ),
    (
        "bool tensor to char* ",
        "void f(char* X, int* o) { *(o + 0 ... 2) = *(X + 0 ... 2) * 5; }",
        [torch.tensor([True, False]), torch.zeros(2, dtype=torch.int32)],
        1,
        [5, 0],
    ),
    (
        "uint8 tensor char* sign",
        "void f(char* X, int* o) { *o = *X; }",
        [torch.tensor([200], dtype=torch.uint8), torch.zeros(1, dtype=torch.int32)],
        1,
        [-56],
    ),
    (
        "odd masked atomics",
        "void f(int* o) { int r[3] = 0 ... 3; atomic_add(o + r * 0, r + 1, r > 0); }",
        [torch.zeros(1, dtype=torch.int32)],
        0,
        [5],
    ),
    (
        "odd ternary gather",
        "void f(float* X, float* o) { int r[3] = 0 ... 3; *(o + r) = r > 0 ? *(X + r - 1) : *(X + 2); }",
        [torch.tensor([1.0, 2, 3]), torch.zeros(3)],
        1,
        [3, 1, 2],
    ),
    (
        "odd carried ptr",
        "void f(float* X, float* o, int n) { float* p[3] = X + 0 ... 3; float s[3] = 0;"
        " for (int i = 0; i < n; i += 1) { s += *p; p += 3; } *(o + 0 ... 3) = s;"
        " *(o + 3) = s[max] + (s > 0)[+]; }",
        [torch.arange(6.0) - 8, torch.zeros(4), 2],
        1,
        [-13, -11, -9, -9],
    ),
    (
        "odd bool count neg",
        "void f(int* o) { bool m[5] = !(0 ... 5 < 2); *o = m[+] + (!m)[+] * 10 + (~(0 ... 5))[max] * 100; }",
        [torch.zeros(1, dtype=torch.int32)],
        0,
        [3 + 20 - 100],
    ),
    (
        "odd dot accumulate",
        "void f(float* o) { float a[3, 5] = 1; float b[5, 6] = 2; float c[3, 6] = 1;"
        " for (int i = 0; i < 2; i += 1) c += a @ b; *o = c[+, +] + (^c)[max, min]*1000; }",
        [torch.zeros(1)],
        0,
        [18 * 21 + 21000],
    ),
    (
        "dims of one",
        "void f(float* o) { float a[1, 7] = 2; float c[1, 1] = a @ ^a; *o = c; }",
        [torch.zeros(1)],
        0,
        [28],
    ),
    (
        "half odd rows softmax-like",
        "void f(half* X, half* o) { half x[3] = *(X + 0 ... 3);"
        " float e[3] = exp(x - x[max]); *(o + 0 ... 3) = e / e[+]; }",
        [torch.tensor([1.0, 2, 3]).half(), torch.zeros(3).half()],
        1,
        torch.softmax(torch.tensor([1.0, 2, 3]), 0).half(),
    ),
    (
        "n-- && load",
        "void f(float* X, int* o, int n) { int r = 0; while (n-- > 0 && *(X + n) > 0) r += 1;"
        " *o = r; *(o + 1) = n; }",
        [torch.tensor([1.0, -2, 3, 4, 5]), torch.zeros(2, dtype=torch.int32), 5],
        1,
        [3, 1],
    ),
    (
        "i++ < n && load",
        "void f(float* X, int* o, int n) { int r = 0; int i = 0;"
        " while (i++ < n && *(X + i) > 0) r += 1; *o = r; *(o+1) = i; }",
        [torch.tensor([1.0, 2, 3, -4, 5]), torch.zeros(2, dtype=torch.int32), 5],
        1,
        [2, 3],
    ),
    (
        "assign && load",
        "void f(float* X, int* o, int n) { int i; if ((i = n - 1) >= 0 && *(X + i) > 0) *o = i; }",
        [torch.tensor([1.0, 2, 3, -4, 5]), torch.zeros(2, dtype=torch.int32), 3],
        1,
        [2, 0],
    ),
    (
        "mixed shapes",
        "void f(float* X, int* o, int n) { int r[4] = 0 ... 4;"
        " bool c[2, 4] = ((0 ... 2) > 0)[:, newaxis] && (*(X + r) > 0)[newaxis, :];"
        " *(o + (0 ... 2)[:, newaxis] * 4 + r[newaxis, :]) = c; }",
        [torch.tensor([1.0, -2, 3, -4]), torch.zeros(8, dtype=torch.int32), 3],
        1,
        [0] * 4 + [1, 0, 1, 0],
    ),
    (
        "reduce right",
        "void f(float* X, int* o, int n) { int r[4] = 0 ... 4;"
        " *o = n > 2 && (*(X + r) > 0)[+] == 2; *(o+1) = r[max] == 3 && (*(X + r))[max] > 2; }",
        [torch.tensor([1.0, -2, 3, -4]), torch.zeros(2, dtype=torch.int32), 3],
        1,
        [1, 1],
    ),
    (
        "reduce right masked none",
        "void f(float* X, int* o, int n) { int r[4] = 0 ... 4; *o = n > 2 && (*(X + r))[max] < -1; }",
        [None, torch.ones(1, dtype=torch.int32), 0],
        1,
        [0],
    ),
    (
        "block left, scalar load right",
        "void f(float* X, int* o, int n) { int r[4] = 0 ... 4; *(o + r) = r < n && *X > 0; }",
        [torch.tensor([1.0]), torch.zeros(4, dtype=torch.int32), 3],
        1,
        [1, 1, 1, 0],
    ),
    (
        "odd size",
        "void f(float* X, int* o, int n) { int r[3] = 0 ... 3;"
        " *(o + r) = (r < n && *(X + r) > 0) || *(X + 2 - r) > 2; }",
        [torch.tensor([1.0, -2, 3]), torch.zeros(3, dtype=torch.int32), 3],
        1,
        [1, 0, 1],
    ),
    (
        "as mask of load",
        "void f(float* X, int* L, float* o, int n) { int r[4] = 0 ... 4;"
        " *(o + r) = *?(r < n && *(L + r))(X + r); }",
        [torch.tensor([1.0, -2, 3, -4]), torch.tensor([1, 0, 2, 3], dtype=torch.int32), torch.zeros(4), 3],
        2,
        [1, 0, 3, 0],
    ),
    (
        "for cond",
        "void f(float* X, float* o, int n) { float s = 0; for (int i = 0; i < n && *(X + i) != 3;"
        " i += 1) s += *(X + i); *o = s; }",
        [torch.tensor([1.0, -2, 3, -4]), torch.zeros(1), 4],
        1,
        [-1],
    ),
    (
        "dot in &&",
        "void f(float* X, int* o, int n) { float a[2, 2] = 1;"
        " *o = n && ((a @ (*(X + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :])))[+, +] > 19); }",
        [torch.tensor([1.0, 2, 3, 4]), torch.zeros(1, dtype=torch.int32), 4],
        1,
        [1],
    ),
    (
        "null chain",
        "void f(float* N, int* o, int n) {"
        " *o = n && *N > 0 && *(N+1) > 0 && *(N + 2) > 0 && *(N + 3) > 0 && *(N + 4) > 0;"
        " *(o + 1) = !n || *N || *(N+1) || *(N+2) || *(N+3) || *(N+4) || *(N+5); }",
        [None, torch.ones(2, dtype=torch.int32), 0],
        1,
        [0, 1],
    ),
]


@pytest.mark.parametrize("case", TEXTS, ids=[case[0] for case in TEXTS])
def test_texts(case: tuple[Any, ...]) -> None:
    """An argument of None is a null pointer: a load through it would end this process."""
    _, text, given, place, want, *programs = case
    arguments = [tensor(value) if isinstance(value, torch.Tensor) else value for value in given]
    run(text, *arguments, grid=programs[0] if programs else 1)
    same(arguments[place], want)
