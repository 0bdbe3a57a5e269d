"""Section 4, first half: precedence, and what each form of expression computes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.specification.asking import Row, inf, kernel_of, nan, ptx, refused, row, run, same

R3 = np.arange(24, dtype=np.int32).reshape(2, 3, 4) - 7
R4 = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2) - 20
F = np.array([3.5, -2.25, 0, -7], dtype=np.float32)
M22 = np.array([[1, 2], [3, 4]], dtype=np.float32)
I23 = np.arange(6, dtype=np.int32).reshape(2, 3)

PRECEDENCE = [
    row("1 before 2: -x[+]", "int", "-x[+]", -6, x=[1, 2, 3, 0]),
    row("1 before 2: ^x[...] moves an axis of the subscripted", "int[4, 1]", "^x[newaxis, :]", [1, 2, 3, 4],
        x=[1, 2, 3, 4]),
    row("1 before 2: (float)x[+]", "float", "(float)x[+] / 4", 1.5, x=[1, 2, 3, 0]),
    row("1 before 2: *p++ loads, then moves", "float",
        "float* p = X; float a = *p++; float result = a * 10 + *p;", 12.0,
        X=[1.0, 2.0]),
    row("2 right to left: - - ! ~", "int", "- -a * 10 + !!a + ~-a", -30 + 1 + ~3, a=-3),
    row("2 right to left: *(T*)p", "int", "-*(int*)X", -0x40000000, X=[2.0]),
    row("2 before 3: -1 ... 3", "int[4]", "-1 ... 3", [-1, 0, 1, 2]),
    row("2 before 3: (int)2.9f ... 4", "int[2]", "(int)2.9f ... 4", [2, 3]),
    row("3 before 4: a range is an operand of @", "int[1, 1]",
        "(0 ... 1)[newaxis, :] @ (1 ... 2)[:, newaxis]", [0]),
    row("3 before 5: 2 * 0 ... 4", "int[4]", "2 * 0 ... 4", [0, 2, 4, 6]),
    row("3 before 5: 0 ... TM / 2", "int[8]", "0 ... TM / 2", [0, 0, 1, 1, 2, 2, 3, 3], defines={"TM": 8}),
    row("3 before 5: 0 ... TM % 3", "int[4]", "0 ... TM % 3", [0, 1, 2, 0], defines={"TM": 4}),
    row("3 before 6: pm * TM + 0 ... TM", "int[4]", "pm * TM + 0 ... TM", [-8, -7, -6, -5], pm=-2,
        defines={"TM": 4}),
    row("3 before 6: 0 ... 4 - 1", "int[4]", "0 ... 4 - 1", [-1, 0, 1, 2]),
    row("3 before 8: 0 ... 4 < n", "bool[4]", "0 ... 4 < n", [1, 1, 1, 0], n=3),
    row("4 before 5: c * a @ b", "float[2, 2]", "a * a @ a", M22 * (M22 @ M22), a=M22),
    row("4 before 5: a @ b * c", "float[2, 2]", "a @ a * a", (M22 @ M22) * M22, a=M22),
    row("4 before 5: a @ b / c", "float[2, 2]", "a @ a / 2", (M22 @ M22) / 2, a=M22),
    row("4 before 6: a @ b + c", "float[2, 2]", "a @ a + a", M22 @ M22 + M22, a=M22),
    row("2 before 4: -a @ b, ^a @ b", "float[2, 2]", "^a @ -a", M22.T @ -M22, a=M22),
    row("4 from the left", "float[2, 2]", "a @ b @ a", (M22 @ np.array([[0, 1], [0, 0]])) @ M22, a=M22,
        b=np.array([[0, 1], [0, 0]], dtype=np.float32)),
    row("5 from the left", "int", "100 / 7 * 7 % 5 / 2", 1),
    row("5 before 6", "int", "1 + 2 * 3 - 8 / 4 + 7 % 4", 8),
    row("6 from the left", "int", "a - b - c + d", 10 - 3 - 4 + 1, a=10, b=3, c=4, d=1),
    row("6 before 7", "int", "1 << 2 + 1", 8),
    row("7 from the left", "int", "64 >> 2 >> 1 << 1", 16),
    row("7 before 8", "bool", "1 << 3 > 7", 1),
    row("8 from the left", "bool", "3 > 2 > 1", 0),
    row("8 before 9", "bool", "2 < 1 == 0 > 1", 1),
    row("9 from the left", "bool", "3 == 3 != 2", 1),
    row("9 before 10", "int", "a & b == 2", 1, a=3, b=2),
    row("10 before 11", "int", "a ^ b & c", 6 ^ (3 & 5), a=6, b=3, c=5),
    row("11 before 12", "int", "a | b ^ c", 1 | (1 ^ 3), a=1, b=1, c=3),
    row("12 before 13", "bool", "a && b | c", 1, a=1, b=0, c=2),
    row("13 before 14", "bool", "a || b && c", 1, a=1, b=1, c=0),
    row("14 before 15", "int", "a || b ? 5 : 6", 5, a=1, b=0),
    row("15 from the right", "int", "a ? 1 : b ? 2 : 3", 2, a=0, b=1),
    row("15: the middle takes anything", "int", "a ? b ? 1 : 2 : 3", 2, a=1, b=0),
    row("GNU ?:", "int[4]", "x ?: 9", [9, -2, 9, 4], x=[0, -2, 0, 4]),
    row("GNU ?: in a row", "int", "a ?: b ?: 7", 7, a=0, b=0),
    row("15 before 16", "int", "int x; x = a ? 4 : 5; int result = x;", 5, a=0),
    row("16 from the right", "int",
        "int x = 1; int y = 2; int z = 3; x = y += z *= 2; int result = x * 100 + y * 10 + z;",
        8 * 100 + 80 + 6),
    row("each of 16", "int",
        "int x = 37; x += 3; x -= 1; x *= 5; x /= 4; x %= 30; x <<= 3; x >>= 1; x &= 28; x ^= 5; x |= 64;"
        " int result = x;", ((((37 + 3 - 1) * 5 // 4 % 30) << 3 >> 1) & 28 ^ 5) | 64),
    row("16 before 17", "int", "int x; int y; x = 1, y = 5; int result = x * 10 + y;", 15),
    row("17: the value of the last", "int", "(a, b)", 8, a=1, b=8),
    row("x++ is the old value, ++x the new", "int",
        "int x = 5; int a = x++; int b = ++x; int c = x--; int d = --x;"
        " int result = a * 1000 + b * 100 + c * 10 + d;", 5000 + 700 + 70 + 5),
    row("a cast takes the unary that follows: loads", "float[2]",
        "int* p[2] = X + 0 ... 2; float result[2] = (float[2]) * p / 2;",
        [0.5, -1.5], X=[1, -3]),
    row("a cast takes the unary that follows: negates", "float[2]", "(float[2]) - INFINITY", [-inf, -inf]),
    row("a cast, not a product", "int", "(int)*X", -3, X=[-3.9]),
    row("*?(m)p binds as a prefix", "float", "*?(1)X * 2 + 1", 5.0, X=[2.0]),
    row("bitcast is a prefix", "int", "bitcast<int>(1.0f) >> 23", 127),
    row("sizeof is a prefix", "int", "sizeof(int) * 2 ", 8),
]  # fmt: skip

FORMS = [
    row("a range counts from a to b - 1", "int[3]", "5 ... 8", [5, 6, 7]),
    row("of negative numbers", "int[5]", "-3 ... 2", range(-3, 2)),
    row("of one element", "int[1]", "7 ... 8", [7]),
    row("of a parenthesised expression", "int[8]", "0 ... (TM * 2)", range(8), defines={"TM": 4}),
    row("without blanks", "int[16]", "0...16", range(16)),
    row("without blanks, defines", "int[4]", "1 + 0...TM", [1, 2, 3, 4], defines={"TM": 4}),
    row("a range is int32: it wraps", "int[2]", "(0 ... 2) + 2147483647", [2147483647, -(1 << 31)]),
    row("newaxis between two axes", "int[2, 1, 3]", "x[:, newaxis, :]", I23, x=I23),
    row("newaxis at both ends", "int[1, 4, 1]", "x[newaxis, :, newaxis]", [1, 2, 3, 4], x=[1, 2, 3, 4]),
    row("broadcasting tells the place of newaxis", "int[2, 3]", "a[:, newaxis] * 10 + b[newaxis, :]",
        [0, 1, 2, 10, 11, 12], before="int a[2] = 0 ... 2; int b[3] = 0 ... 3;"),
    row("of any expression in parentheses", "bool[2, 1]", "(x < 1)[:, newaxis]", [1, 0], x=[0, 1]),
    row("of a subscript", "int[1, 2, 1]", "x[:, newaxis][newaxis, :, :]", [3, 4], x=[3, 4]),
    row("sum of one axis", "int[3]", "x[+, :]", [3, 5, 7], x=I23),
    row("sum of the other", "int[2]", "x[:, +]", [3, 12], x=I23),
    row("sum of both", "int", "x[+, +]", 15, x=I23),
    row("each operator names its own axis", "int[3]", "x[+, :, +]", R3.sum((0, 2)), x=R3),
    row("maximum of the first and last axis", "int[3]", "x[max, :, max]", R3.max((0, 2)), x=R3),
    row("minimum of all", "int", "x[min, min, min]", -7, x=R3),
    row("maximum of the middle", "int[2, 4]", "x[:, max, :]", R3.max(1), x=R3),
    row("rank 4", "float[2, 4]", "x[:, +, :, +]", R4.sum((1, 3)), x=R4),
    row("rank 4, three at once", "float[4]", "x[+, +, :, +]", R4.sum((0, 1, 3)), x=R4),
    row("a ternary reduced", "int", "(c > 1 ? x : 0)[+]", 5, x=[1, 2, 3, 4], c=[0, 2, 5, 0]),
    row("a call of a reduction", "float", "log(exp(x)[+])", np.log(np.exp(F).sum()), x=F, tolerance=1e-6),
    row("a reduction of a reduction", "int", "(x[:, max])[+]", 2 + 5, x=I23),
    row("one-element blocks", "float", "x[max] + x[min] + x[+]", -9.0, x=[-3.0]),
    row("one-element axes", "float[2]", "x[:, +]", [-3, 4], x=[[-3.0], [4.0]]),
    row("bools are counted", "int", "(x > 0)[+]", 300, x=np.ones(300, np.float32)),
    row("chars are summed as int", "int", "x[+]", 127 * 3, x=np.array([127, 127, 127, 0], np.int8)),
    row("unsigned chars are", "int", "x[+]", 1020, x=np.array([255] * 4, np.uint8)),
    row("shorts are", "int", "x[+] * 2", 32767 * 8, x=np.array([32767] * 4, np.int16)),
    row("their maximum is an int", "int", "x[max] + x[max]", 254, x=np.array([127, -128], np.int8)),
    row("an unsigned maximum is unsigned", "unsigned", "x[max]", 0xFFFFFFFE, x=np.array([5, 0xFFFFFFFE],
        np.uint32)),
    row("an unsigned short's minimum", "int", "x[min] - 1", 39999, x=np.array([40000, 65535], np.uint16)),
    row("int sums wrap", "int", "x[+]", -(1 << 31), x=np.array([2147483647, 1], np.int32)),
    row("long sums do not", "long", "x[+]", 1 << 31, x=np.array([2147483647, 1], np.int64)),
    row("a bool's maximum is an int", "int", "x[max] + x[max]", 2, x=np.array([False, True])),
    row("half sums are accumulated in float, rounded once", "float", "x[+]", 2052.0,
        x=np.array([2048, 1, 1, 1], np.float16)),
    row("and do not overflow on the way", "half", "x[+]", 0.0, x=np.array([60000, 60000, -60000, -60000],
        np.float16)),
    row("a half sum is a half: rounded before use", "float", "x[+] - 2048", 4.0, x=np.array([2048, 1, 1, 1],
        np.float16)),
    row("bfloat16 sums too", "float", "x[+]", float(torch.tensor(259.0).bfloat16()),
        x=torch.tensor([256.0, 1, 1, 1]).bfloat16()),
    row("maximum skips NaN", "float", "x[max]", -3.0, x=[nan, -3.0, nan, -7.0]),
    row("minimum skips NaN", "float", "x[min]", -7.0, x=[nan, -3.0, nan, -7.0]),
    row("at any place of NaN, in any axis", "float[2]", "x[:, max]", [2, -inf], x=[[1.0, nan, 2.0], [nan,
        -inf, nan]]),
    row("all NaN: NaN", "float", "x[min]", nan, x=[nan, nan]),
    row("maximum of halves skips NaN", "half", "x[max]", -3.0, x=np.array([np.nan, -3], np.float16)),
    row("of doubles", "double", "x[min]", -1e300, x=np.array([np.nan, -1e300])),
    row("of bfloat16", "bfloat16", "x[max]", -3.0, x=torch.tensor([nan, -3.0]).bfloat16()),
    row("a sum keeps NaN", "float", "x[+]", nan, x=[nan, 1.0]),
    row("infinities", "float", "x[max] + x[+]", inf, x=[inf, 1.0, 3.0]),
    row("doubles are summed in double", "double", "x[+]", 2.0**40 + 1, x=np.array([2.0**40, 1])),
    row("permutation: result axis i is operand axis k_i", "int[4, 2, 3]", "x[^2, ^0, ^1]", R3.transpose(2,
        0, 1), x=R3),
    row("permutation: the other way round", "int[3, 4, 2]", "x[^1, ^2, ^0]", R3.transpose(1, 2, 0), x=R3),
    row("permutation: the identity", "int[2, 3, 4]", "x[^0, ^1, ^2]", R3, x=R3),
    row("permutation of rank 4", "float[2, 4, 2, 3]", "x[^3, ^2, ^0, ^1]", R4.transpose(3, 2, 0, 1), x=R4),
    row("permutation by a define", "int[3, 2]", "x[^A, ^B]", I23.T, x=I23, defines={"A": 1, "B": 0}),
    row("permutation of an expression", "int[3, 2]", "(x + 1)[^1, ^0]", (I23 + 1).T, x=I23),
    row("permutation of bools", "bool[3, 2]", "(x > 2)[^1, ^0]", (I23 > 2).T, x=I23),
    row("^x: the first axis goes to the end", "int[3, 4, 2]", "^x", R3.transpose(1, 2, 0), x=R3),
    row("^^x", "int[4, 2, 3]", "^^x", R3.transpose(2, 0, 1), x=R3),
    row("^x for 2-D: the transpose", "int[3, 2]", "^x", I23.T, x=I23),
    row("trans(x) is ^x", "int[3, 4, 2]", "trans(x)", R3.transpose(1, 2, 0), x=R3),
    row("^ of a product", "float[2, 2]", "^(a @ a)", (M22 @ M22).T, a=M22),
    row("a load of a scalar and of a block", "float[2]", "*X + *(X + 0 ... 2)", [2, -1], X=[1.0, -2.0]),
    row("a masked load gives 0 elsewhere", "float[4]", "*?(0 ... 4 < 2)(X + 0 ... 4)", [1, -2, 0, 0],
        X=[1.0, -2.0, 3.0, 4.0]),
    row("blanks between * and ? and (", "float[4]", "*  ?  (0 ... 4 < 2)  (X + 0 ... 4)", [1, -2, 0, 0],
        X=[1.0, -2.0, 3.0, 4.0]),
    row("the mask is any expression", "float[4]",
        "*?(m[:] && !(0 ... 4 == 1) || (0 ... 4 == 3))(X + 0 ... 4)", [1, 0, 0, 4],
        X=[1.0, 2.0, 3.0, 4.0], m=np.array([True, True, False, False])),
    row("a number counts as != 0", "float[4]", "*?(0 ... 4 - 1)(X + 0 ... 4)", [1, 0, 3, 4], X=[1.0, 2.0,
        3.0, 4.0]),
    row("even numbers too", "float[2]", "*?(m)(X + 0 ... 2)", [1, 0], X=[1.0, 2.0], m=[2, 0]),
    row("a float as mask", "float[4]", "*?(m)(X + 0 ... 4)", [1, 0, 3, 4], X=[1.0, 2.0, 3.0, 4.0], m=[0.5,
        0.0, -0.25, nan]),
    row("a scalar mask", "float[2]", "*?(n > 3)(X + 0 ... 2)", [0, 0], X=[1.0, 2.0], n=3),
    row("a scalar pointer under a block mask", "float[4]", "*?(0 ... 4 > 1)X", [0, 0, 5, 5], X=[5.0]),
    row("mask and pointer broadcast together", "float[2, 3]",
        "*?((0 ... 2 > 0)[:, newaxis])((X + 0 ... 3)[newaxis, :])",
        [0, 0, 0, 1, 2, 3], X=[1.0, 2.0, 3.0]),
    row("the operand is a cast expression", "int", "*?(1)(int*)X", 0x3F800000, X=[1.0]),
    row("m ? *p : v", "float[4]", "0 ... 4 < 2 ? *(X + 0 ... 4) : -1", [7, 8, -1, -1], X=[7.0, 8.0, 9.0,
        10.0]),
    row("m ? v : *p", "float[4]", "0 ... 4 < 2 ? -1 : *(X + 0 ... 4)", [-1, -1, 9, 10], X=[7.0, 8.0, 9.0,
        10.0]),
    row("select broadcasts all three", "int[2, 3]", "a[:, newaxis] ? b[newaxis, :] : c", [9, 9, 9, 1, 2, 3],
        a=[0, 4],
        b=[1, 2, 3], c=9),
    row("a scalar condition of blocks", "int[2]", "n ? a : b", [3, 4], a=[1, 2], b=[3, 4], n=0),
    row("a block condition of scalars", "int[4]", "0 ... 4 > 1 ? 5 : -5", [-5, -5, 5, 5]),
    row("the branches convert to their common type", "double", "(c ? i : f) / 2", 1.5, c=True, i=3, f=0.5),
    row("of int and half it is half", "float", "c ? i : h", 2048.0, c=True, i=2049, h=np.float16(1)),
    row("of char and unsigned", "bool", "(c ? b : u) > 0", 1, c=True, b=np.int8(-1), u=np.uint32(0)),
    row("a condition that is a float", "int[4]", "x ? 1 : 2", [1, 2, 1, 1], x=[0.5, -0.0, nan, inf]),
    row("both sides of && and || are evaluated, as truth values", "int", "(2 && 4) * 10 + (0 || 8)", 11),
    row("&& of numbers is no & of bits", "int", "a && b", 1, a=1, b=2),
    row("&& of blocks broadcasts", "bool[2, 2]", "a[:, newaxis] && b[newaxis, :]", [0, 0, 0, 1], a=[0, 5],
        b=[0.0, -1.0]),
    row("! elementwise", "bool[3]", "!x", [1, 0, 0], x=[0, 2, -1]),
    row("! of floats", "bool[3]", "!x", [1, 0, 0], x=[-0.0, nan, 0.5]),
    row("~ promotes", "int", "~c", ~200, c=np.uint8(200)),
    row("+ promotes", "int", "+c * 256", -32768, c=np.int8(-128)),
    row("- of an unsigned wraps", "unsigned", "-u", 0xFFFFFFFF, u=np.uint32(1)),
    row("- of a bool is an int", "int", "-b", -1, b=True),
]  # fmt: skip


@pytest.mark.parametrize("row", PRECEDENCE, ids=str)
def test_precedence(row: Row) -> None:
    row.hold()


@pytest.mark.parametrize("row", FORMS, ids=str)
def test_forms(row: Row) -> None:
    row.hold()


CASTS = [
    row("to a block of a scalar", "float[2, 2]", "(float[2, 2])a", [-3] * 4, a=-3),
    row("of a scalar load", "double[2]", "(double[2]) * X", [1.5, 1.5], X=[1.5]),
    row("the element type changes, the shape stays", "int[4]", "(int)x", [3, -2, 0, -7], x=F),
    row("both change", "int[2, 4]", "(int[2, 4])x", [3, -2, 0, -7] * 2, x=F),
    row("leading axes are added", "int[2, 3]", "(int[2, 3])x", [1, 2, 3] * 2, x=[1, 2, 3]),
    row("axes of 1 repeat", "int[2, 3]", "(int[2, 3])x", [1, 1, 1, 2, 2, 2], x=[[1], [2]]),
    row("a lower rank: row-major", "int[6]", "((int[6])x)", range(6), x=I23),
    row("a higher rank of equal counts? adds axes", "int[1, 4]", "(int[1, 4])x", [1, 2, 3, 4], x=[1, 2, 3,
        4]),
    row("3-D to 2-D", "int[6, 4]", "(int[6, 4])x", R3, x=R3),
    row("a reshaped sum", "float", "((float[4])c)[+]", 10.0, c=M22),
    row("(T[4])x reduced", "float", "((float[8])((float[2, 4])x))[max]", 3.5, x=F),
    row("a one-element block to a scalar", "float", "(float)x", -2.0, x=[[-2.0]]),
    row("to bool is != 0", "bool[4]", "(bool)x", [1, 1, 0, 1], x=[0.25, nan, -0.0, 2.0]),
    row("to half rounds to even", "float", "(half)a", 2048.0, a=2049),
    row("to half overflows to infinity", "float", "(half)f", inf, f=70000.0),
    row("int to float rounds", "float", "(float)a", 16777216.0, a=16777217),
    row("to char wraps", "int", "(char)a", -56, a=200),
    row("through char and back", "int", "(int)(unsigned char)(char)a", 200, a=200),
    row("bitcast of a float", "int", "bitcast<int>(f)", np.float32(-1.5).view(np.int32), f=-1.5),
    row("bitcast of an int", "float", "bitcast<float>(a)", 1.0, a=0x3F800000),
    row("bitcast of a block", "int[2]", "bitcast<int[2]>(x)", [0x3F800000, -(1 << 31)], x=[1.0, -0.0]),
    row("bitcast keeps a block's shape", "int[2]", "bitcast<int>(x)", [0x3F800000, 0x40000000], x=[1.0, 2.0]),
    row("bitcast of half", "int", "(int)bitcast<short>(h)", np.float16(-2).view(np.int16), h=np.float16(-2)),
    row("bitcast of half to bfloat16", "float", "bitcast<bfloat16>(h)",
        float(torch.tensor([np.float16(1.5)]).view(torch.bfloat16)), h=np.float16(1.5)),
    row("bitcast of a double", "long", "bitcast<long>(d)", np.float64(-0.1).view(np.int64),
        d=np.float64(-0.1)),
    row("bitcast of a sign", "unsigned", "bitcast<unsigned>(a)", 0xFFFFFFFF, a=-1),
    row("bitcast of a sign of 8 bits", "int", "bitcast<uint8>(c) + 1", 256, c=np.int8(-1)),
]  # fmt: skip


@pytest.mark.parametrize("row", CASTS, ids=str)
def test_casts(row: Row) -> None:
    row.hold()


def test_a_false_mask_touches_no_memory() -> None:
    """Each pointer is null, as an absent tensor's: a load or store would end this process."""
    text = """void f(float* N, int* P, float* out, int no) {
      float* n[4] = N + 0 ... 4;
      float a[4] = *?(no)n;
      float b[4] = no ? *n : 1;
      float c[4] = !no ? 2 : exp(-(float[4])*n);
      float d[4] = no ? (1 ? log(*n + *N) : *(N + 1)) * *N : 3;
      float e = no ? *N : 4;
      float g[4] = no ? *(N + *(P + 0 ... 4)) : 5;
      float h[4] = 1 ? (no ? *n : 6) : *n;
      *?(no)n = 1;
      *?((0 ... 4) < no)(N + 0 ... 4) = *?(no)N;
      atomic_add(n, a, (bool[4])no);
      *(out + 0 ... 4) = a + b + c + d + e + g + h;
    }"""
    out = torch.zeros(4)
    run(text, None, None, out, 0)
    same(out, [21] * 4)


def test_a_load_in_a_branch_has_the_other_branch_as_its_other_value() -> None:
    code = ptx(
        "void f(float* X, float* Y, int n) { int i[64] = 0 ... 64; *(Y + i) = i < n ? *(X + i) : -7; }"
    )
    assert "selp" not in code
    assert "0fC0E00000" in code or "-1059061760" in code  # -7 goes into the register before the load


REFUSED = [
    (kernel_of("float x[4] = X[0 ... 4];"), "*("),
    (kernel_of("float y = X[a];"), "*("),
    (kernel_of("float x[4] = 0; float y = x[0];"), ""),
    (kernel_of("float x[4] = 0; x[:] = 1;"), ""),
    (kernel_of("float x[4, 4] = 0; float y[4, 1] = x[:, newaxis];"), ""),
    (kernel_of("float x[4, 4] = 0; float y[4] = x[+];"), ""),
    (kernel_of("float x[4] = 0; float y = x[-];"), "-"),
    (kernel_of("float x[4, 4] = 0; float y[4, 4] = x[^0];"), ""),
    (kernel_of("float x[4, 4] = 0; float y[4, 4] = x[^0, ^0];"), ""),
    (kernel_of("int x[4] = 0 ... a;"), "a"),
    (kernel_of("int x[4] = 4 ... 0;"), "4 ... 0"),
    (kernel_of("int x[4] = a; int y[3] = 0 ... 3; y += x;"), "4"),
    (kernel_of("double d = bitcast<double>(a);"), "width"),
    (kernel_of("float y = a ? b++ : 2;"), "++"),
    (kernel_of("int y = a && (b = 2);"), "="),
    (kernel_of("int y = a || b++;"), "++"),
    (kernel_of("float y = a ? f32_atomic_add(X, 1) : 2;"), ""),
    (kernel_of("int y = a && atomic_cas(out, 0, 1);"), ""),
    (kernel_of("float x[4] = 0; float y[8] = (float[8])x;"), "8"),
    (kernel_of("float x[4] = 0; float y[4] = x @ x;"), "2"),
    (kernel_of("float x[4, 8] = 0; float y[4, 4] = x @ x;"), "8"),
    (kernel_of("float y = *a;"), ""),
    (kernel_of("float y = a + (X + X);"), ""),
    (kernel_of("float y = 7.5f % 2;"), "%"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), REFUSED, ids=[x[0][48:-3] for x in REFUSED])
def test_refused(text: str, word: str) -> None:
    refused(text, word)
