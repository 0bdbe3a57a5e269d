"""``reads`` and ``writes``: which parameters a kernel's memory accesses go through, as exactly as can be proved."""

from __future__ import annotations

import pytest

import pytriton

HEAD = "void f(float *A, float *B, int *C __noalias, int n, float **P) {\n  int r[4] = 0 ... 4;\n"

CASES = {
    "nothing": ("int i = n;", "", ""),
    "a load": ("float x = *A;", "A", ""),
    "a store": ("*A = 1;", "", "A"),
    "a load and a store": ("*B = *A;", "A", "B"),
    "compound": ("*A += 1;", "A", "A"),
    "an increment": ("++*C;", "C", "C"),
    "arithmetic": ("float *p = A + n * 4 - 2; *(p - n) = 1;", "", "A"),
    "a block of pointers": ("float *p[4] = A + r; *(p + 4) = *(B + r);", "B", "A"),
    "an index that is loaded": ("*(A + *C) = 1;", "C", "A"),
    "a mask that is loaded": ("*?(*(C + r) > 0)(A + r) = 1;", "C", "A"),
    "masked": ("*?(n > 2)A = 1; float x = *?(n)B;", "B", "A"),
    "in a loop": ("float *p = A; for (int i = 0; i < n; i++) { *p = i; p += 4; }", "", "A"),
    "in a loop, carried": (
        "float *p = A; float *q = B; for (int i = 0; i < n; i++) { *p = i; p = q; }",
        "",
        "A B",
    ),
    "swapped in a loop": (
        "float *p = A; float *q = B; while (n > 0) { float *t = p; p = q; q = t; n--; } *p = *q;",
        "A B",
        "A B",
    ),
    "in a loop, two iterations later": (
        "float *p = A; float *q = A; while (n > 0) { *p = 1; p = q; q = B; n--; }",
        "",
        "A B",
    ),
    "a ternary": ("float *p = n ? A : B; *p = 1;", "", "A B"),
    "a ternary, nested": ("*(n ? A : n > 3 ? B : A + 4) = 1;", "", "A B"),
    "a ternary of blocks": ("float *p[4] = r < n ? A + r : B + r; float x[4] = *p;", "A B", ""),
    "a ternary's condition": ("*(C == 0 ? A : A + 1) = 1;", "", "A"),
    "an if": ("float *p = A; if (n) p = B; *p = 1;", "", "A B"),
    "a cast": ("*(int *)A = 1;", "", "A"),
    "a cast of a ternary": ("float x = *(float *)(n ? (int *)A : C);", "A C", ""),
    "a cast to a block": ("float *p[4] = (float *[4])A; *(p + r) = 1;", "", "A"),
    "an assignment that reinterprets": ("int *p = B; *p = n;", "", "B"),
    "casts and ternaries mixed": ("int *p = n ? (int *)(n > 1 ? A : B) : C + n; *p = 1;", "", "A B C"),
    "permuted, expanded": ("float *p[1, 4] = (A + r)[newaxis, :]; *(^p) = 1;", "", "A"),
    "only compared": ("bool b = A < B; *C = b;", "", "C"),
    "only subtracted": ("*C = A - B;", "", "C"),
    "only tested": ("if (A) *B = 1;", "", "B"),
    "an atomic": ("atomic_add(A + r, 1.0f);", "A", "A"),
    "a lock": ("while (atomic_cas(C, 0, 1) == 1); *B = 1; atomic_xchg(C, 0);", "C", "B C"),
    "a declaration that nothing uses": ("float *p = A; *B = 1;", "", "B"),
    "a variable of the same name in an inner scope": (
        "float *p = A; { float *p = B; *p = 1; } float x = *p;",
        "A",
        "B",
    ),
    "a parameter assigned": ("A = B; *A = 1;", "", "B"),
    "in each branch its own": (
        "float *p = A; if (n) { p = B; *p = 1; } else { p = (float *)C; float x = *p; }",
        "C",
        "B",
    ),
    "read before an if, written after": (
        "float *p = A; float x = *p; if (n) p = B; p = p + 1; *p = x;",
        "A",
        "A B",
    ),
    "read after a loop": (
        "float *p = A; for (int i = 0; i < n; i++) { *p = 1; p = B; } *C = *p;",
        "A B",
        "A B C",
    ),
    "a break between two assignments": (
        "float *p = A; while (n > 0) { n -= 1; p = B; if (n > 2) break; p = A; } *p = 1;",
        "",
        "A B",
    ),
    "assigned in both branches, then again": (
        "float *p; if (n) p = A; else p = B; *p = 1; p = (float *)C; float x = *p;",
        "C",
        "A B",
    ),
    "a copy keeps the old value": ("float *p = A; float *q = p; p = B; *q = *p;", "B", "A"),
    "select": ("float *p = select(n > 0, A, B); *p = 2;", "", "A B"),
    "an offset that is a difference": ("long d = B - A; *(A + d) = 1;", "", "A"),
    "a loaded pointer reaches anything": ("float *p = *P; *p = 1;", "P", "A B C P"),
    "so does a number": ("float *p = (float *)(long)n; *p = *C;", "C", "A B C P"),
    "so does an address made of a pointer": ("long a = (long)A; *(float *)(a + 4) = 1;", "", "A B C P"),
    "a dead branch of the preprocessor": ("\n#if 0\n*A = 1;\n#endif\n*B = 1;", "", "B"),
    "the dead load of a prefetch": (
        "float x = *A; for (int i = 0; i < n; i++) { *(B + i) = x; A += 1; x = *A; }",
        "A",
        "B",
    ),
}


@pytest.mark.parametrize(("body", "reads", "writes"), CASES.values(), ids=CASES)
@pytest.mark.filterwarnings("ignore")
def test_provenance(body: str, reads: str, writes: str) -> None:
    found = pytriton.translate(f"{HEAD}  {body}\n}}\n")
    assert (" ".join(found.reads), " ".join(found.writes)) == (reads, writes)
