"""Section 4, second half: the matrix product, and C's conversions elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.conversions import c_types
from tests.fuzz.c import Number, binary, converted
from tests.specification.asking import DTYPES, Row, inf, nan, ptx, refused, row, run, same

# ---------------------------------------------------------------- matrix product


def ints(*shape: int, low: int = -4, seed: int = 0) -> np.ndarray[Any, Any]:
    """Small integers, exact in every type."""
    return np.random.default_rng(seed).integers(low, 5, shape)


PRODUCT_TYPES = [
    ("half", "float"), ("bfloat16", "float"), ("float", "float"), ("double", "double"), ("char", "int"),
]  # fmt: skip
SIZES = [(1, 1, 1), (8, 8, 8), (1, 16, 4), (16, 1, 2), (3, 5, 7), (32, 16, 64), (24, 2, 48)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("type_", "result"), PRODUCT_TYPES)
def test_products_of_any_size_and_type(type_: str, result: str, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b = ints(m, k), ints(k, n, seed=1)
    given = {"a": torch.tensor(a).to(DTYPES[type_]), "b": torch.tensor(b).to(DTYPES[type_])}
    row("", f"{result}[{m}, {n}]", "a @ b", a @ b, **given).hold()


A, B, C = ints(4, 8), ints(8, 2, seed=1), ints(4, 2, seed=2)
AF, BF, CF = (x.astype(np.float32) for x in (A, B, C))
BATCH_A, BATCH_B = ints(4, 8, 3).astype(np.float32), ints(8, 2, 3, seed=1).astype(np.float32)
BATCH_AB = np.einsum("mkb,knb->mnb", BATCH_A, BATCH_B)
DEEP_A, DEEP_B = ints(2, 4, 3, 2).astype(np.float32), ints(4, 5, 3, 2, seed=1).astype(np.float32)
BIG = np.array([[4096.0, 1.0]], np.float32)

PRODUCTS = [
    row("trailing batch axes", "float[4, 2, 3]", "a @ b", BATCH_AB, a=BATCH_A, b=BATCH_B),
    row("two of them", "float[2, 5, 3, 2]", "a @ b", np.einsum("mkbc,knbc->mnbc", DEEP_A, DEEP_B), a=DEEP_A,
        b=DEEP_B),
    row("a batched product plus a batch", "float[4, 2, 3]", "a @ b + c", BATCH_AB + 1, a=BATCH_A, b=BATCH_B,
        c=np.ones((4, 2, 3), np.float32)),
    row("different types convert first: half and float", "float[4, 2]", "a @ b",
        AF.astype(np.float16) @ (BF + 2.0**-12),
        a=A.astype(np.float16), b=BF + np.float32(2.0**-12), tolerance=1e-4),
    row("char and float", "float[4, 2]", "a @ b", A @ BF, a=A.astype(np.int8), b=BF),
    row("int and half are half", "float[1, 1]", "a @ b", [[2048.0]], a=[[2049]], b=np.array([[1]],
        np.float16)),
    row("float and double are double", "double[1, 1]", "a @ b", [[2.0**40 + 1]],
        a=np.array([[2.0**40, 1]]), b=np.ones((2, 1), np.float32)),
    row("float is true float, never TF32", "float[1, 1]", "a @ b", [[4097.0]], a=BIG, b=np.ones((2, 1),
        np.float32)),
    row("half products do not overflow", "float[1, 1]", "a @ b", [[120000.0]],
        a=np.array([[60000, 60000]], np.float16), b=np.ones((2, 1), np.float16)),
    row("half products are not rounded", "float[1, 1]", "a @ b", [[4096 + 1]],
        a=np.array([[2048, 1]], np.float16), b=np.array([[2], [1]], np.float16)),
    row("char products yield int", "int[1, 1]", "a @ b", [[128 * 128 * 2]],
        a=np.full((1, 2), -128, np.int8), b=np.full((2, 1), -128, np.int8)),
    row("dot(a, b)", "float[4, 2]", "dot(a, b)", A @ B, a=AF, b=BF),
    row("dot(a, b, c)", "float[4, 2]", "dot(a, b, c)", A @ B + C, a=AF, b=BF, c=CF),
    row("a transposed operand", "float[8, 2]", "^a @ b", A.T @ C, a=AF, b=CF),
    row("trans of the other", "float[4, 4]", "b @ trans(b)", C @ C.T, b=CF),
    row("both", "float[2, 2]", "^c @ ^^c", C.T @ C, c=CF),
    row("operands that are loads", "float[2, 2]", "(*p) @ (*q)", np.array([[1, 2], [3, 4]]) @ [[1, 2], [3,
        4]],
        before="float* p[2, 2] = X + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :]; float* q[2, 2] = p;",
        X=[1.0, 2.0, 3.0, 4.0]),
    row("operands that are expressions", "float[4, 2]", "(a > 0 ? a : 0) @ (b * 2) - c", np.maximum(A,
        0) @ (B * 2) - C,
        a=AF, b=BF, c=CF),
    row("subtracted from", "float[4, 2]", "c - a @ b", C - A @ B, a=AF, b=BF, c=CF),
    row("scaled and compared", "bool[4, 2]", "2 * (a @ b) > c", 2 * (A @ B) > C, a=AF, b=BF, c=CF),
    row("infinities and NaN go through", "float[1, 1]", "a @ b", [[nan]], a=[[inf, 1.0]], b=[[0.0], [1.0]]),
    row("c += a @ b with a half c rounds at each step", "half[1, 1]", "half result[1, 1] = 2048;"
        " for (int i = 0; i < 4; i += 1) result += a @ a;", [[2048.0]], a=np.array([[1]], np.float16)),
    row("with a float c it does not", "float[1, 1]", "float result[1, 1] = 2048;"
        " for (int i = 0; i < 4; i += 1) result += a @ a;", [[2052.0]], a=np.array([[1]], np.float16)),
    row("c = a @ b + c", "float[1, 1]", "float result[1, 1] = 0;"
        " for (int i = 0; i < 3; i += 1) result = a @ a + result;", [[12.0]], a=[[2.0]]),
    row("c -= a @ b", "float[1, 1]", "float result[1, 1] = 1; result -= a @ a;", [[-3.0]], a=[[2.0]]),
    row("assigned to half: rounded once", "half[1, 1]", "half result[1, 1] = a @ b;", [[2052.0]],
        a=np.array([[2048, 1, 1, 1]], np.float16), b=np.ones((4, 1), np.float16)),
    row("int products are ints", "int[1, 1]", "a @ b", [[0]], a=[[65536]], b=[[65536]]),
    row("a product of rank 2 of one row", "float", "((float[1])(a @ b))[+]", 11.0, a=[[1.0, 2.0]], b=[[3.0],
        [4.0]]),
]  # fmt: skip


@pytest.mark.parametrize("row", PRODUCTS, ids=str)
def test_products(row: Row) -> None:
    row.hold()


def test_products_in_machine_code() -> None:
    """Tensor cores for half, none for float: its products are IEEE's."""
    text = """void f(TYPE* X, float* Y) {
      int i[64, 64] = (0 ... 64)[:, newaxis] * 64 + (0 ... 64)[newaxis, :];
      float c[64, 64] = 0;
      for (int k = 0; k < 4; k += 1) c += (*(X + i)) @ (*(X + i + k * 4096));
      *(Y + i) = c;
    }"""
    half, single = (ptx(text, defines={"TYPE": type_}) for type_ in ("half", "float"))
    assert "wgmma" in half or "mma.sync" in half
    assert "mma" not in single
    assert "fma.rn.f32" in single


# ---------------------------------------------------------------- conversions

KINDS = [kind for kind in c_types.TYPES if kind is not c_types.BFLOAT16]


@pytest.mark.parametrize("left", KINDS, ids=str)
def test_usual_arithmetic_conversions(left: c_types.CType) -> None:
    """x - y of small numbers shows width and sign, x < y whether unsigned won, x / 2 how a type divides."""
    x = Number(left, {"b": 0, "i": -1, "u": 200, "f": -2.5}[left.kind])
    three = [converted(Number(c_types.INT, 3), right) for right in KINDS]
    asked = [(sign, f"y{at}", y) for sign in "-<" for at, y in enumerate(three)]
    asked.append(("/", "2", Number(c_types.INT, 2)))
    wanted = [binary(sign, x, y) for sign, _, y in asked]
    pointers = [f"{value.type.word}* d{at}" for at, value in enumerate(wanted)]
    given = [f"{right} y{at}" for at, right in enumerate(KINDS)]
    body = " ".join(f"*d{at} = x {sign} {name};" for at, (sign, name, _) in enumerate(asked))
    outs = [torch.zeros(1, dtype=c_types.TORCH[value.type.word]) for value in wanted]
    run(f"void f({', '.join([*pointers, f'{left} x', *given])}) {{ {body} }}", *outs,
        *(bool(one.value) if one.type.kind == "b" else one.value for one in (x, *three)))  # fmt: skip
    got = [out.item() for out in outs]
    assert [value.value for value in wanted] == got, asked


ROWS = [
    row("half - half is half, even when assigned to float", "float", "a - b", 2048.0, a=np.float16(2048),
        b=np.float16(-1)),
    row("half with an int is half", "float", "a + 1", 2048.0, a=np.float16(2048)),
    row("half times half rounds", "float", "a * a", float(np.float16(1.001) * np.float16(1.001)),
        a=np.float16(1.001)),
    row("half products overflow", "float", "a * a", inf, a=np.float16(300)),
    row("half divided by half is half", "float", "a / b", float(np.float16(1) / np.float16(3)),
        a=np.float16(1),
        b=np.float16(3)),
    row("half with float is float", "float", "a + f", 2049.0, a=np.float16(2048), f=1.0),
    row("bfloat16 rounds", "float[1]", "a + b", [256.0], a=torch.tensor([256.0]).bfloat16(),
        b=torch.tensor([1.0]).bfloat16()),
    row("compound assignment converts back", "int", "int x = 7; x *= 0.5f; int result = x;", 3),
    row("compound assignment of a narrow type", "char", "char x = 100; x += 100; char result = x;", -56),
    row("compound: half += float is float rounded once", "half",
        "half x = 2048; x += 1.5f; half result = x;", 2050.0),
    row("x++ of a narrow type wraps", "int", "char x = 127; x++; int result = x;", -128),
    row("x-- of an unsigned wraps", "long", "unsigned x = 0; x--; long result = x;", 0xFFFFFFFF),
    row("a scalar fills the block", "float[2, 2]", "float result[2, 2] = a;", [-3] * 4, a=-3),
    row("missing leading axes are added", "int[2, 3]", "int result[2, 3] = x;", [1, 2, 3] * 2, x=[1, 2, 3]),
    row("axes of size 1 repeat", "int[2, 3]", "int result[2, 3] = x;", [1, 1, 1, 2, 2, 2], x=[[1], [2]]),
    row("a one-element block becomes a scalar", "int", "int s = x; int result = s * 2;", -6, x=[[-3]]),
    row("equal counts at another rank reshape", "int[6]", "int result[6] = x;", range(6),
        x=np.arange(6).reshape(2, 3)),
    row("assignment converts and fills too", "int[2, 2]", "int result[2, 2]; result = 2.9f;", [2] * 4),
    row("assignment of a block to a block of another rank", "half[4]", "half result[4]; result = x;", [1, 2,
        3, 4],
        x=[[1, 2], [3, 4]]),
    row("a bool from a number: != 0", "bool[4]", "bool result[4] = x;", [1, 0, 1, 1], x=[256, 0, -1, 2]),
    row("NumPy broadcasting of ranks 2 and 1", "int[2, 3]", "x + y", [1, 3, 5, 4, 6, 8], x=[[0, 1, 2], [3,
        4, 5]], y=[1, 2, 3]),
    row("of ranks 3 and 2", "int[2, 2, 2]", "x * y", [0, 2, 6, 12, 4, 10, 18, 28],
        x=np.arange(8, dtype=np.int32).reshape(2, 2, 2), y=[[1, 2], [3, 4]]),
    row("of two axes of 1", "int[2, 3]", "x - y", [0, -1, -2, 1, 0, -1], x=[[0], [1]], y=[[0, 1, 2]]),
    row("pointers may be blocks of any rank", "int[2, 2]", "*(X + x)", [3, 2, 1, 0], X=[0, 1, 2, 3], x=[[3,
        2], [1, 0]]),
    row("division truncates toward zero", "int[4]", "x / y", [-3, -3, 3, 0], x=[-7, 7, -7, -1], y=[2, -2,
        -2, 2]),
    row("% has the sign of the dividend", "int[4]", "x % y", [-1, 1, -1, -1], x=[-7, 7, -7, -1], y=[2, -2,
        -2, 2]),
    row("constants divide so", "int", "-7 / 2 * 100 + -7 % 2 * 10 + 7 % -2", -300 - 10 + 1),
    row("defines divide so", "int", "A / B * 100 + A % B * 10 + A / -B", -300 - 10 + 3, defines={"A": -7,
        "B": 2}),
    row("a define by a parameter", "int", "A / n * 100 + n % A", -300 + 2, n=2, defines={"A": -7}),
    row("of defines by a range", "int[3]", "A / (1 ... 4)", [-7, -3, -2], defines={"A": -7}),
    row("long division", "long", "a / b", -((1 << 40) // 3), a=np.int64(-(1 << 40)), b=3),
    row("char division promotes", "int", "a / b", 128, a=np.int8(-128), b=np.int8(-1)),
    row("unsigned division", "unsigned", "u / 2", 0x7FFFFFFF, u=np.uint32(0xFFFFFFFF)),
    row("unsigned wins at equal width: -1 / u", "unsigned", "a / u", 0x7FFFFFFF, a=-1, u=np.uint32(2)),
    row("not at a higher width", "long", "a / u", -1, a=np.int64(-3), u=np.uint32(2)),
    row("int wraps: +", "int", "a + 1", -(1 << 31), a=(1 << 31) - 1),
    row("int wraps: *", "int", "a * a", (123456789 * 123456789 + (1 << 31)) % (1 << 32) - (1 << 31),
        a=123456789),
    row("int wraps before it widens", "long", "a + a", -2, a=(1 << 31) - 1),
    row("constants wrap at their width", "int", "2147483647 + A", -(1 << 31), defines={"A": 1}),
    row("long wraps", "long", "a + 1", -(1 << 63), a=np.int64((1 << 63) - 1)),
    row("long is 64 bits", "long", "a * b", 10**18, a=np.int64(10**9), b=10**9),
    row("short + short is int", "int", "s + s", 65534, s=np.int16(32767)),
    row("char * char is int", "int", "s * s", 16384, s=np.int8(-128)),
    row("block of chars", "int[2]", "s * s", [16384, 16129], s=np.array([-128, 127], np.int8)),
    row("bool + bool is 2", "int[2]", "s + s", [2, 0], s=np.array([True, False])),
    row(">> of a negative int is arithmetic", "int", "a >> 1", -4, a=-7),
    row(">> of an unsigned is logical", "unsigned", "u >> 31", 1, u=np.uint32(1 << 31)),
    row(">> of a char promotes first", "int", "c >> 1", -64, c=np.int8(-128)),
    row("<< of a char promotes first", "int", "c << 4", 127 * 16, c=np.int8(127)),
    row("a shift has its left operand's type", "long", "a << b", -(1 << 31), a=1, b=np.int64(31)),
    row("a long shift", "long", "l << 40", -(1 << 40), l=np.int64(-1)),
    row("an unsuffixed literal meets half", "float", "h * 0.1", float(np.float16(3) * np.float16(0.1)),
        h=np.float16(3)),
    row("and float", "float", "f * 0.1", float(np.float32(3) * np.float32(0.1)), f=3.0),
    row("and double", "double", "d * 0.1", 3 * 0.1, d=np.float64(3)),
    row("and bfloat16", "float[1]", "b + 1.0", [256.0], b=torch.tensor([256.0]).bfloat16()),
    row("beside an int it is float", "double", "a / 3.0", float(np.float32(1) / np.float32(3)), a=1),
    row("beside a long it is float", "double", "l + 0.5", 2.0**24, l=np.int64(1 << 24)),
    row("a float suffix makes it float beside half", "float", "h + 1.0f", 2049.0, h=np.float16(2048)),
    row("min(a, b) is a < b ? a : b: b for NaN", "float[3]", "min(x, y)", [2, nan, 2], x=[nan, 2.0, 2.0],
        y=[2.0, nan, 3.0]),
    row("max(a, b) is a > b ? a : b: b for NaN", "float[3]", "max(x, y)", [2, nan, 3], x=[nan, 2.0, 2.0],
        y=[2.0, nan, 3.0]),
    row("min in the common type", "unsigned", "min(a, u)", 5, a=-1, u=np.uint32(5)),
    row("min of int and float", "float", "min(a, f)", 0.5, a=1, f=0.5),
    row("min of blocks and scalars", "int[3]", "min(x, n)", [-1, 2, 2], x=[-1, 5, 2], n=2),
    row("min of NaN and a define", "float", "min(f, T) + max(f, T)", 8.0, f=nan, defines={"T": 4}),
    row("a pointer is a bool: not null", "bool[2]", "bool result[2] = X;", [1, 1], X=[1.0]),
    row("float comparisons with NaN", "int", "(f == f) * 100 + (f != f) * 10 + !(f < 1) + (f >= 1)", 11,
        f=nan),
    row("int against float compares as float", "bool", "a == f", 1, a=16777217, f=16777216.0),
    row("a char compares signed", "bool", "c < 0", 1, c=np.int8(-1)),
    row("an unsigned never is below 0", "bool", "u < 0 || u - 1 < 0", 0, u=np.uint32(0)),
    row("-1 > 0u", "bool", "-1 > 0u", 1),
    row("an unsigned long wins over an int", "bool", "a < u", 0, a=-1, u=np.uint64(1)),
    row("double is exact", "double", "d * d - d", 0.1 * 0.1 - 0.1, d=np.float64(0.1)),
    row("int to float is signed", "float", "(float)a", -1.0, a=-1),
    row("unsigned to float is not", "float", "(float)u", 4294967296.0, u=np.uint32(0xFFFFFFFF)),
    row("unsigned long to double", "double", "(double)u", 2.0**64, u=np.uint64((1 << 64) - 1)),
    row("float to unsigned", "unsigned", "(unsigned)f", 3000000000, f=3e9),
    row("float to long", "long", "(long)f", -(1 << 40), f=-(2.0**40)),
    row("an int widens with its sign", "long", "(long)a", -1, a=-1),
    row("an unsigned without", "long", "(long)u", 0xFFFFFFFF, u=np.uint32(0xFFFFFFFF)),
    row("strict_literals: a literal is a double", "double", "f * 0.1", float(np.float32(3)) * 0.1, f=3.0,
        strict=True),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


def test_an_absent_tensor_is_null() -> None:
    text = "void f(int* out, float* RPE) { bool has[2] = RPE; *(out + 0 ... 2) = has ? 1 : 2; *(out + 2) = !RPE; }"
    for absent, want in ((None, [2, 2, 1]), (0, [2, 2, 1]), (torch.ones(1), [1, 1, 0])):
        out = torch.zeros(3, dtype=torch.int32)
        run(text, out, absent)
        same(out, want)


def test_literals_do_not_run_in_double() -> None:
    """``x * 0.5`` of a float has no 64-bit arithmetic; with strict_literals it has."""
    text = "void f(float* X) { int i[64] = 0 ... 64; *(X + i) = *(X + i) * 0.1; }"
    assert ".f64" not in ptx(text)


def test_block_conversion_that_no_rule_allows_is_refused() -> None:
    refused("void f(float* X) { float a[4] = 0; float b[8] = a; *X = b[+]; }", "4", "8")
    refused("void f(float* X) { float a[4] = 0; float b = a; *X = b; }", "4")
