"""Section 9, row by row: what pytriton does where it leaves the old compiler on purpose."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.specification.asking import Row, inf, nan, row, run, same, warned

ROWS = [
    row(">> of signed values is arithmetic", "int[3]", "x >> 4", [-1, -16, 15], x=[-1, -256, 255]),
    row(">> of signed longs", "long", "l >> 60", -8, l=np.int64(-(1 << 63))),
    row(">> of signed shorts", "int", "s >> 15", -1, s=np.int16(-1)),
    row(">> of unsigned is logical", "unsigned[2]", "x >> 28", [15, 8], x=np.array([0xFFFFFFFF, 1 << 31],
        np.uint32)),
    row(">> of constants", "int", "-256 >> 4", -16),
    row(">>= of a signed block", "int[2]", "int y[2] = x; y >>= 1; int result[2] = y;", [-2, 1], x=[-3, 3]),
    row("int to float is signed", "float[2]", "(float[2])x", [-1, -2147483648], x=[-1, -(1 << 31)]),
    row("char to half is signed", "half", "(half)c", -128, c=np.int8(-128)),
    row("float to int is signed", "int[2]", "(int)x", [-3, 3], x=[-3.9, 3.9]),
    row("double to long is signed", "long", "(long)d", -(1 << 50), d=np.float64(-(2.0**50))),
    row("int widening extends the sign", "long[2]", "(long)x", [-1, 5], x=[-1, 5]),
    row("char widening extends the sign", "long", "(long)c", -128, c=np.int8(-128)),
    row("int to bool is != 0", "bool[3]", "(bool)x", [1, 1, 0], x=[2, -256, 0]),
    row("long to bool looks at all bits", "bool", "(bool)l", 1, l=np.int64(1 << 40)),
    row("&& of ints are truth values", "bool[4]", "x && y", [1, 0, 0, 1], x=[1, 2, 0, -4], y=[2, 0, 1, 4]),
    row("|| of ints are truth values", "int[2]", "(x || y) + 0", [1, 0], x=[2, 0], y=[4, 0]),
    row("a ternary within another statement masks its own loads only", "float[2]",
        "float* p[2] = X + 0 ... 2; float a[2] = *p; float result[2] = (0 ... 2 < 1 ? *p : 0) + a;", [6, 5],
        X=[3.0, 5.0]),
    row("the false branch is masked by the negation", "float[2]", "0 ... 2 < 1 ? *X : *(X + 0 ... 2)", [3,
        5], X=[3.0, 5.0]),
    row("a for body does not run before its test", "int",
        "int result = 5; for (int i = n; i < 0; i += 1) result = 0;", 5, n=0),
    row("nested for", "int",
        "int result = 0; for (int i = 0; i < n; i += 1) for (int j = 0; j < i; j += 1) result += 1;", 6, n=4),
    row("for(;;)", "int", "int result = 0; for (;;) { if (++result == n) break; }", 4, n=4),
    row("two reductions in one subscript", "float", "x[max, max]", -1.0, x=[[-4.0, -1.0], [-2.0, nan]]),
    row("float + unsigned", "float", "f + u", 4294967296.0, f=0.5, u=np.uint32(0xFFFFFFFF)),
    row("exp of half is a float", "float", "exp(h) * 65504", np.exp(1) * 65504, h=np.float16(1),
        tolerance=1e-2),
    row("float ? half : float", "float[2]", "x ? h : y", [1.5, np.float32(0.1)], x=[nan, 0.0], y=[9.0, 0.1],
        h=np.float16(1.5)),
    row("(T)x of a block", "half[2]", "(half)x", [2048, -inf], x=[2049.0, -1e9]),
    row("*?(m) with an int mask", "float[3]", "*?(x)(X + 0 ... 3)", [1, 0, 3], x=[-4, 0, 256], X=[1.0, 2.0,
        3.0]),
    row("0...16 without blanks", "int[16]", "0...16", range(16)),
    row("0x0...4 too", "int[4]", "0x0...4", range(4)),
    row("a shadowing declaration leaves the outer variable alone", "float",
        "float x = 1; if (n) { int x = 7; n = x; }"
        " float result = x + n;", 8.0, n=1),
    row("unsuffixed literals are weak", "float", "f * 0.1 == (float)(f * 0.1f)", 1.0, f=3.0),
    row("float != is true on NaN", "bool[2]", "x != x", [1, 0], x=[nan, 1.0]),
    row("of halves and doubles", "bool", "h != h && d != d", 1, h=np.float16(np.nan), d=np.float64(np.nan)),
    row("a sum of bools counts", "int", "(x > 0)[+]", 3, x=[1.0, 2.0, 3.0, -1.0]),
    row("half sums are accumulated in float", "half", "x[+]", 2052, x=np.array([2048, 1, 1, 1], np.float16)),
    row("unary + ~ !", "int", "+a * 100 + ~a * 10 + !a", -5 * 100 + 40, a=-5),
    row("x++ as a statement", "int", "int result = 4; result++; ++result; result--;", 5),
    row("while, continue", "int", "int result = 0; while (n-- > 0) { if (n == 1) continue; result += n; }",
        5, n=4),
    row("a block of 12", "float[12]", "x - x[min]", np.arange(12), x=np.arange(12, dtype=np.float32) - 40),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


def test_attributes_that_do_not_hold() -> None:
    """It runs, with a warning; the attribute is dropped for that parameter only."""
    text = """void f(float* X __readonly, float* Y __writeonly, float* Z __readonly) {
      *(X + 0 ... 2) = *(Y + 0 ... 2) * 2;
      *(Y + 0 ... 2) = *(X + 1 - 0 ... 2) + *Z;
    }"""
    notes = warned(text)
    assert len(notes) == 2
    assert any("'X'" in note for note in notes)
    assert any("'Y'" in note for note in notes)
    x, y, z = torch.zeros(2), torch.tensor([3.0, -4.0]), torch.ones(1)
    run(text, x, y, z)
    same(x, [6, -8])
    same(y, [-7, 7])
