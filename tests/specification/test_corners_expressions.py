"""Corners of several sentences, in expressions: types at their limits, constants, shapes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import Row, inf, nan, row

ROWS = [
    row("a literal compared with half is a half", "bool", "h < 0.1", 0, h=np.float16(0.1)),
    row("a literal compared with float is a float", "bool", "f == 0.1", 1, f=0.1),
    row("1/2*1.0", "float", "1 / 2 * 1.0", 0.0),
    row("a character constant is signed", "int", "'\\xff'", -1),
    row("hex unsigned", "bool", "0x80000000 > 0", 1),
    row("-2147483648 - 1", "long", "-2147483648 - 1", -2147483649),
    row("1<<31", "int", "1 << 31", -(1 << 31)),
    row("1u<<31>>31", "int", "1u << 31 >> 31", 1),
    row("~0u>>28", "int", "~0u >> 28", 15),
    row("-5%3u", "unsigned", "-5 % 3u", (2**32 - 5) % 3),
    row("b<<3", "int", "b << 3", 8, b=True),
    row("~b", "int", "~b", -2, b=True),
    row("b/2", "int", "b / 2", 0, b=True),
    row("bool +=", "int", "bool c = b; c += 1; int result = c + c;", 2, b=True),
    row("bool block ~", "int[2]", "~x", [-2, -1], x=np.array([True, False])),
    row("bool block - ", "int[2]", "-x", [-1, 0], x=np.array([True, False])),
    row("bool block * 3", "int[2]", "x * 3 - 4", [-1, -4], x=np.array([True, False])),
    row("bool ^ bool", "int", "(a ^ b) + (a | b) + (a & b)", 1 + 1 + 0, a=True, b=False),
    row("bool < bool", "bool", "b < a", 1, a=True, b=False),
    row("?: mix", "long", "c ? a : u", 4294967295, c=True, a=-1, u=np.uint32(3)),
    row("char* diff", "long", "(char*)(X + 3) - (char*)X", 12, X=[1.0] * 4),
    row(
        "p -= q - p",
        "float",
        "float* p = X + 1; float* q = X + 2; p -= q - p; float result = *p;",
        1.0,
        X=[1.0, 2.0, 3.0],
    ),
    row("x[newaxis, +]", "int[1]", "x[newaxis, +]", [10], x=[1, 2, 3, 4]),
    row("x[+, newaxis, :]", "int[1,2]", "x[+, newaxis, :]", [4, 6], x=[[1, 2], [3, 4]]),
    row("x[:, newaxis, +]", "int[2,1]", "x[:, newaxis, +]", [3, 7], x=[[1, 2], [3, 4]]),
    row("reduce axis1", "int[4]", "x[:, newaxis][:, +]", [1, 2, 3, 4], x=[1, 2, 3, 4]),
    row("init [4,1] = [4]", "int[4,1]", "int result[4, 1] = x;", [1, 2, 3, 4], x=[1, 2, 3, 4]),
    row("init [1] fills [4]", "int[4]", "int y[1] = 5; int result[4] = y;", [5] * 4),
    row("init [4] = [2,2]", "int[4]", "int result[4] = x;", [1, 2, 3, 4], x=[[1, 2], [3, 4]]),
    row("init [2,2,2]=[2,2]", "int[2,2,2]", "int result[2,2,2] = x;", [1, 2, 3, 4] * 2, x=[[1, 2], [3, 4]]),
    row(
        "i shadows loop var",
        "int",
        "int result = 0; for (int i = 0; i < 3; i += 1) { int i = 5; result += i; }",
        15,
    ),
    row(
        "int<unsigned loop",
        "int",
        "int result = 0; for (int i = -1; i < u; i += 1) result += 1;",
        0,
        u=np.uint32(5),
    ),
    row("wrap loop", "int", "int result = 0; for (int i = a; i > 0; i += 4) result += 1;", 2, a=2147483640),
    row("unsigned down", "int", "int result = 0; for (unsigned i = 3; i < 4; i -= 1) result += 1;", 4),
    row(
        "long var bound int",
        "long",
        "long result = 0; for (int i = 0; i < n; i += 1) result += 3000000000;",
        9000000000,
        n=np.int64(3),
    ),
    row("enum shadow", "int", "enum { A = 4 }; int r; { int A = 3; r = A; } int result = r * 10 + A;", 34),
    row("-0.0", "float", "1 / -f", -inf, f=0.0),
    row("-0.0 lit", "float", "1 / -0.0f * g", -inf, g=1.0),
    row("0 - x", "float", "1 / (0 - f)", inf, f=0.0),
    row("1e400", "float", "1e39", inf),
    row("ulong->float", "float", "(float)u", 2.0**64, u=np.uint64(2**64 - 1)),
    row("uint->half", "half", "(half)u", inf, u=np.uint32(65535)),
    row("double to half rounds once", "half", "(half)d", 1 + 2**-10, d=np.float64(1 + 2**-11 + 2**-30)),
    row(
        "of a block too", "half[2]", "(half)x", [1 + 2**-10, 1], x=np.array([1 + 2**-11 + 2**-30, 1 + 2**-11])
    ),
    row(
        "double to bfloat16 rounds once",
        "bfloat16",
        "(bfloat16)d",
        1 + 2**-7,
        d=np.float64(1 + 2**-8 + 2**-30),
    ),
    row(
        "long to bfloat16 rounds once",
        "bfloat16",
        "(bfloat16)l",
        2.0**40 + 2**33,
        l=np.int64((1 << 40) + (1 << 32) + 1),
    ),
    row(
        "int to bfloat16 rounds once",
        "bfloat16",
        "(bfloat16)a",
        2.0**30 + 2**23,
        a=(1 << 30) + (1 << 22) + 1,
    ),
    row(
        "long to float rounds once",
        "float",
        "(float)l",
        2.0**60 + 2**37,
        l=np.int64((1 << 60) + (1 << 36) + 1),
    ),
    row(
        "unsigned long to float rounds once",
        "float",
        "(float)l",
        2.0**60 + 2**37,
        l=np.uint64((1 << 60) + (1 << 36) + 1),
    ),
    row("half lit", "half", "half result = 2049;", 2048),
    row(
        "define float as half",
        "half",
        "h * S",
        float(np.float16(3) * np.float16(0.1)),
        h=np.float16(3),
        defines={"S": 0.1},
    ),
    row(
        "define float int", "float", "a * S", float(np.float32(3) * np.float32(0.1)), a=3, defines={"S": 0.1}
    ),
    row("define big int", "long", "X * 2", 2**40, defines={"X": 2**39}),
    row("define int wraps", "int", "X * X", 0, defines={"X": 65536}),
    row("define int wraps long", "long", "X * X", 0, defines={"X": 65536}),
    row("define shift neg", "int", "X >> 1", -4, defines={"X": -7}),
    row("define uint", "bool", "X - 1u > 0", 1, defines={"X": 0}),
    row("define / param", "int", "n / X + n % X", -3 - 1, n=-7, defines={"X": 2}),
    row("define compare", "bool", "X < 1u", 0, defines={"X": -1}),
    row("define ~", "int", "~X & 0xff", ~5 & 0xFF, defines={"X": 5}),
    row("define ! ", "int", "!X * 10 + !!X", 1, defines={"X": 5}),
    row("define minmax", "int", "min(X, Y) * 10 + max(X, Y)", -28, defines={"X": -3, "Y": 2}),
    row("define ?:", "int", "X > Y ? X : Y", 2, defines={"X": -3, "Y": 2}),
    row("define bool arithmetic", "int", "B + B", 2, defines={"B": True}),
    row("ternary define scalar load", "float", "X ? *P : 2.0f", 2.0, defines={"X": 0}, P=[5.0]),
    row("u8 wrap compare", "bool", "(unsigned char)(c + 1) == 0", 1, c=np.uint8(255)),
    row("an unsigned char promotes before it is compared", "bool", "c + 1 == 256", 1, c=np.uint8(255)),
    row("u16 mul", "int", "s * s", 65535 * 65535 - (1 << 32), s=np.uint16(65535)),
    row("neg char shift", "int", "c << 1", -256, c=np.int8(-128)),
    row("long shift by int blk", "long[2]", "l << x", [1 << 40, 1 << 41], l=np.int64(1), x=[40, 41]),
    row("int shift by long", "int", "1 << l", 8, l=np.int64(3)),
    row("compound shift", "int", "char c = -128; c >>= 2; int result = c;", -32),
    row("compound u8 shift", "int", "unsigned char c = 255; c <<= 4; c >>= 4; int result = c;", 15),
    row("compound mod float refused?", "int", "int x = 7; x -= 0.5f; int result = x;", 6),
    row("unsigned /= neg", "unsigned", "unsigned x = 10; x /= -1; unsigned result = x;", 0),
    row("sum of bf16 1", "bfloat16", "x[+]", -1.5, x=torch.tensor([-1.5]).bfloat16()),
    row(
        "min bf16",
        "bfloat16[2]",
        "min(x, y)",
        [-2.0, nan],
        x=torch.tensor([-2.0, 1.0]).bfloat16(),
        y=torch.tensor([1.0, nan]).bfloat16(),
    ),
    row(
        "bf16 cmp",
        "bool[2]",
        "x < y",
        [1, 0],
        x=torch.tensor([-2.0, nan]).bfloat16(),
        y=torch.tensor([1.0, 1.0]).bfloat16(),
    ),
    row("bf16 -> int", "int[2]", "(int)x", [-2, 255], x=torch.tensor([-2.75, 255.0]).bfloat16()),
    row("bf16 * int", "float[1]", "x * a", [256.0], x=torch.tensor([1.0]).bfloat16(), a=257),
    row("bf16 with half", "float[1]", "x * h", [3.0], x=torch.tensor([1.5]).bfloat16(), h=np.float16(2)),
    row("half && ", "bool", "h && 0.1", 1, h=np.float16(1e-7)),
    row("float && denormal", "bool", "f && 1", 1, f=1e-45),
    row("select nan cond", "int", "select(f, 1, 2)", 1, f=nan),
    row("exp2 big", "float", "exp2(x)", 2.0**-140, x=-140.0),
    row("pow neg", "float", "pow(f, 3.0f)", -8.0, f=-2.0, tolerance=1e-5),
    row("pow ints", "float", "pow(2, 3)", 8.0, tolerance=1e-5),
    row("floor of int", "float", "floor(a)", -7.0, a=-7),
    row("sqrt const", "float", "sqrt(2.0)", 2**0.5, tolerance=1e-6),
    row("log const int", "float", "log(N)", np.log(8), defines={"N": 8}, tolerance=1e-6),
    row("exp(1)", "float", "exp(1)", np.e, tolerance=1e-6),
    row("abs(define)", "int", "abs(N)", 8, defines={"N": -8}),
    row("fabs(-0.5)", "float", "fabs(-0.5)", 0.5),
    row("fma ints", "int", "fma(a, a, a)", (65537 * 65537 + 65537 + 2**31) % 2**32 - 2**31, a=65537),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


@pytest.mark.parametrize("operator", ["&&", "||"])
@pytest.mark.parametrize("count", [1, 4, 8])
def test_every_load_of_a_chain_waits_for_those_before_it(operator: str, count: int) -> None:
    """A null pointer is never read, however far along the chain it stands."""
    chain = f" {operator} ".join(f"*(p + {i}) {'!=' if operator == '&&' else '=='} 0" for i in range(count))
    first = "n" if operator == "&&" else "!n"
    text = f"void f(int* X, int* Y, int n) {{ int* p = n ? X : 0; *Y = {first} {operator} {chain}; }}"
    made = pytriton.kernel(text)
    for n, x, wanted in ((0, 1, operator == "||"), (1, 1, operator == "&&"), (1, 0, operator == "||")):
        y = torch.full((1,), 7, dtype=torch.int32)
        made(torch.full((8,), x, dtype=torch.int32), y, n, grid=1)
        assert y.item() == wanted


def test_a_chain_whose_masks_grow_too_large_is_refused() -> None:
    chain = " && ".join(f"*(X + {i})" for i in range(40))
    with pytest.raises(pytriton.CompileError, match="TC318"):
        pytriton.translate(f"void f(int* X, int* Y) {{ *Y = {chain}; }}")
