"""What never runs is left out, and nothing else: each kernel stores 7 where it must or must not stay."""

from __future__ import annotations

import pytest

import pytriton
from tests.work import counted

HEAD = "void f(int *X, int *Y, int n, int s, char c, float q) {\n"

LEFT_OUT = {
    "first test fails": "char i = 4; while (i < 4) { *X = 7; i++; }",
    "for": "for (char i = 9; i < 9; i++) *X = 7;",
    "through a sum of variables": "int a = 2; int b = a + 1; while (b < a) { *X = 7; b--; }",
    "after another loop": "int i = 0; while (i < n) i++; int j = 0; while (j > 0) { *X = 7; j--; }",
    "in a loop, a flag that stays": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; i /= 2; }",
    "set to the same number again": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; d = 0; i /= 2; }",
    "dead code does not count": "int d = 0; int i = n; while (i > 0) { if (d) { *X = 7; d = n; } i /= 2; }",
    "a range loop around": "int d = 0; for (int i = 0; i < n; i++) { char j = 3; while (j < d) { *X = 7; j++; } }",
    "both branches agree": "int d = 1; if (n) d = 5; else d = 5; while (d < 5) { *X = 7; d++; }",
    "wrapped around": "char d = 127; d++; while (d > 0) { *X = 7; d--; }",
}

# Outside of loops Triton takes out branches on constants itself, but not these in time.
LIKE = {
    "products the other way round": "if (s * n != n * s) *X = 7;",
    "narrow": "if (c > c) *X = 7; else if (n > 3) *Y = 1;",
    "else": "if (s / n <= s / n) *Y = 1; else *X = 7;",
    "sums": "if (2 * s + n - (n + (s << 1)) + 1 - 1) *X = 7;",
    "a difference that wraps": "if (s + 0x7fffffff + 0x7fffffff + 2 != s) *X = 7;",
    "minus and not": "if (-s - 1 != ~s) *X = 7;",
    "variables": "int a = s + n; int b = n + s; if (a != b) *X = 7;",
    "variables of constants found so": "int a = s * n - n * s; if (a) *X = 7;",
    "choices": "int a = s > 3 ? n * s : s * n; if (a != s * n) *X = 7;",
    "a choice that is decided": "int a = s * n == n * s ? n : s; if (a / s != n / s) *X = 7;",
    "branches that agree": "int a; if (s > 3) a = n * s; else a = s * n; if (a != s * n) *X = 7;",
    "one that cannot hold": "if (c > 3 && c * n != n * c) *X = 7;",
    "nothing is left": "if (!(c > 3 || c * n == n * c)) *X = 7;",
    "times nothing": "int a = s * n - n * s; if (a * *Y) *X = 7;",
    "masked": "int a = s * n; if ((a & a) != n * s) *X = 7;",
    "conversions": "if ((int)q != (int)q) *X = 7;",
    "functions": "if ((int)exp(q) != (int)exp(q)) *X = 7;",
    "pointers": "if (X + n != X + n) *X = 7;",
    "program ids": "int p = get_program_id(0); if (p != get_program_id(0)) *X = 7;",
    "two loads": "int a = *Y; int b = *Y; if (a < b) *X = 7;",
    "reductions of loads": "int r[8] = *(Y + 0 ... 8); if (r[+] - r[+] > 0) *X = 7;",
    "what a loop does not change": "int a = s * n; for (int i = 0; i < n; i++) { if (a != n * s) *X = 7; }",
    "in an iteration": "for (int i = 0; i < n; i++) { int a = i + s; if (a != s + i) *X = 7; }",
    "behind a loop": "int a = s; for (int i = 0; i < n; i++) { a *= 3; } int b = a; if (a * n != n * b) *X = 7;",
    "behind a return": "if (s * n == n * s) { *Y = 1; return; } *X = 7;",
    "a loop": "while (s * n != n * s) *X = 7;",
    "the loop's test": "for (int i = s * n; i - n * s > 0; i++) *X = 7;",
}

KEPT = {
    "the second iteration": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; d = 1; i /= 2; }",
    "two iterations on": "int d = 0; int e = 0; int i = n; while (i > 0) { if (d) *X = 7; d = e; e = 1; i /= 2; }",
    "changed in an inner loop": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7;"
    " int j = i; while (j > 3) { d = 1; j /= 2; } i /= 2; }",
    "changed in a branch": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; if (i == 3) d = 1; i /= 2; }",
    "changed by the step": "int d = 0; for (unsigned i = 0; i < n; d++) { if (d == 2) *X = 7; i++; }",
    "branches differ": "int d = 1; if (n) d = 5; else d = 4; while (d < 5) { *X = 7; d++; }",
    "only one branch sets": "int d = 5; if (n) d = 4; while (d < 5) { *X = 7; d++; }",
    "loaded": "int d = *Y; while (d < 0) { *X = 7; d++; }",
    "a parameter": "int d = n; while (d < 0) { *X = 7; d++; }",
    "changed behind a break": "int d = 0; int i = n; while (1) { if (d) *X = 7; d++; if (i == 1) break; i /= 2; }",
    "a range counter": "int d = 0; for (int i = 0; i < n; i++) { char j = i; while (j < 5) { *X = 7; j++; } }",
    "set by a loop": "int d = 0; char i = 0; while (i < n) { d = 1; i++; } while (d) { *X = 7; d = 0; }",
    "no initialiser": "int d; if (n) d = 1; while (d) { *X = 7; d = 0; }",
    "floats": "if (q * 2 != q * 2) *X = 7;",
    "a stored block of floats": "float r[4] = *((float*)Y + 0 ... 4); if (r[max] != r[max]) *X = 7;",
    "one more": "if (s * n != n * s + 1) *X = 7;",
    "another order": "if (s / n != n / s) *X = 7;",
    "another type": "if ((char)s != s) *X = 7;",
    "cut off and converted back": "if ((long)(s * n) != (long)s * n) *X = 7;",
    "differences of pointers": "int *p = (int*)((char*)X + n); if (p - X + (X - p) != (char*)p - (char*)X) *X = 7;",
    "loads around a store": "int a = *Y; *X = 3; int b = *Y; if (a != b) *X = 7;",
    "loads around an atomic": "int a = *Y; atomic_add(X, 1); int b = *Y; if (a != b) *X = 7;",
    "loads around an atomic with a name": "int a = *Y; int o = atomic_add(X, 1); int b = *Y; if (a != b) *X = 7;",
    "loads around a loop": "int a = *Y; for (int i = 0; i < n; i++) *X = i; int b = *Y; if (a != b) *X = 7;",
    "loads of two iterations": "int a = *Y; for (int i = 0; i < n; i++) { if (a != *Y) *X = 7; atomic_add(Y, 1); }",
    "two places": "int a = *Y; int b = *(Y + 1); if (a != b) *X = 7;",
    "two atomics": "int a = atomic_add(Y, 1); int b = atomic_add(Y, 1); if (a != b) *X = 7;",
    "an atomic, by times nothing": "int a = s * n - n * s; if (a + atomic_add(Y, 1)) *X = 7;",
    "what a loop changes": "int a = s; for (int i = 0; i < n; i++) { if (a != s) *X = 7; a = a * 3; }",
    "what a loop has changed": "int a = s; for (int i = 0; i < n; i++) { a = a * 3; } if (a != s) *X = 7;",
    "the iteration before": "int a = 0; for (int i = 0; i < n; i++) { if (a != i) *X = 7; a = i; }",
    "a copy of what changes": "int a = s; int b = s; while (a > 0) { a = a / 2; if (a != b) *X = 7; b = a + 1; }",
    "a branch of two iterations": "int v = 0; int w = 0; do { w = v; if (*Y == v) v = 5; if (w != v) *X = 7; n--; }"
    " while (n > 0);",
    "an inner loop of two iterations": "int v = 0; int w = 0; for (int i = 0; i < n; i++) { w = v;"
    " for (int j = 0; j < i; j++) v = v * 3 + 1; if (w != v) *X = 7; }",
    "the counter behind its loop": "int l = 0; int i; for (i = 0; i < n; i++) l = i; if (l != i) *X = 7;",
    "branches that do not agree": "int a = s; if (s > 3) a = n; if (a != s) *X = 7;",
    "behind a return that may not run": "if (s * n == n * s) { *Y = 1; if (n) return; } *X = 7;",
    "choices that differ": "int a = s > 3 ? n : s; if (a != s) *X = 7;",
    "a float": "float d = 0; int i = n; while (i > 0) { if (d) *X = 7; d = 1; i /= 2; }",
    "the old value of an atomic": "int i = 0; while (atomic_add(Y, 0) * 2 < i) { *X = 7; }",
    "outside of loops the text stays": "int debug = 0; if (debug) *X = 7; char i = 0; while (i < n) i++;",
    "a define": "if (s * n == n * s) { if (DEBUG) *X = 7; }",
}


def stores(body: str) -> bool:
    return "tl.store(X, 7)" in pytriton.translate(HEAD + body + "\n}\n", {"DEBUG": 0}).text


@pytest.mark.parametrize("body", [*LEFT_OUT.values(), *LIKE.values()], ids=[*LEFT_OUT, *LIKE])
def test_left_out(body: str) -> None:
    assert not stores(body)


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_kept(body: str) -> None:
    assert stores(body)


def test_an_effect_in_the_test_stays() -> None:
    """What the condition does happens once even where the loop is never entered."""
    text = pytriton.translate(HEAD + "while (atomic_add(Y, 1) * 0) *X = 7;\n}\n").text
    assert "tl.atomic_add(Y, 1)" in text


def test_an_effect_whose_value_only_the_loop_read_stays() -> None:
    text = pytriton.translate(HEAD + "int old = atomic_add(Y, 1); while (0) *X = old;\n}\n").text
    assert "tl.atomic_add(Y, 1)" in text
    assert "tl.store" not in text


def test_nested_loops_are_no_more_work_than_they_are_deep() -> None:
    names = [f"v{depth}" for depth in range(10)]
    opening = "".join(f"char {name} = 0; while ({name} < n) {{ {name} += {name}; " for name in names)
    text = HEAD + opening + "*X = 1;" + "}" * len(names) + "\n}\n"
    counted(lambda: pytriton.translate(text), most=2_000_000)
