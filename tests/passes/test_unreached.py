"""What never runs in loops is left out, and nothing else: each kernel stores 7 where it must or must not stay."""

from __future__ import annotations

import time

import pytest

import pytriton

HEAD = "void f(int *X, int *Y, int n) {\n"

LEFT_OUT = {
    "first test fails": "char i = 4; while (i < 4) { *X = 7; i++; }",
    "for": "for (char i = 9; i < 9; i++) *X = 7;",
    "through a sum of variables": "int a = 2; int b = a + 1; while (b < a) { *X = 7; b--; }",
    "after another loop": "int i = 0; while (i < n) i++; int j = 0; while (j > 0) { *X = 7; j--; }",
    "in a loop, a flag that stays": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; i /= 2; }",
    "set to the same number in a turn": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; d = 0; i /= 2; }",
    "dead code does not count": "int d = 0; int i = n; while (i > 0) { if (d) { *X = 7; d = n; } i /= 2; }",
    "a range loop around": "int d = 0; for (int i = 0; i < n; i++) { char j = 3; while (j < d) { *X = 7; j++; } }",
    "both branches agree": "int d = 1; if (n) d = 5; else d = 5; while (d < 5) { *X = 7; d++; }",
    "wrapped around": "char c = 127; c++; while (c > 0) { *X = 7; c--; }",
}

KEPT = {
    "the second turn": "int d = 0; int i = n; while (i > 0) { if (d) *X = 7; d = 1; i /= 2; }",
    "two turns on": "int d = 0; int e = 0; int i = n; while (i > 0) { if (d) *X = 7; d = e; e = 1; i /= 2; }",
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
    "a float": "float d = 0; int i = n; while (i > 0) { if (d) *X = 7; d = 1; i /= 2; }",
    "the old value of an atomic": "int i = 0; while (atomic_add(Y, 0) * 0 < i) { *X = 7; }",
    "outside of loops the text stays": "int debug = 0; if (debug) *X = 7; char i = 0; while (i < n) i++;",
}


def stores(body: str) -> bool:
    return "tl.store(X, 7)" in pytriton.translate(HEAD + body + "\n}\n").text


@pytest.mark.parametrize("body", LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out(body: str) -> None:
    assert not stores(body)


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_kept(body: str) -> None:
    assert stores(body)


def test_an_effect_in_the_test_stays() -> None:
    """What the condition does happens once even where the loop is never entered."""
    text = pytriton.translate(HEAD + "while (atomic_add(Y, 1) * 0) *X = 7;\n}\n").text
    assert "tl.atomic_add(Y, 1)" in text


def test_nested_loops_take_no_longer_than_they_are_deep() -> None:
    names = [f"v{depth}" for depth in range(10)]
    opening = "".join(f"char {name} = 0; while ({name} < n) {{ {name} += {name}; " for name in names)
    start = time.process_time()
    pytriton.translate(HEAD + opening + "*X = 1;" + "}" * len(names) + "\n}\n")
    assert time.process_time() - start < 2
