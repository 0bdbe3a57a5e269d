"""Section 2: the spelled types, pointers, declarators and block shapes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import DTYPES, Row, kernel_of, refused, row, run, same, warned

# spelled, torch dtype, a value out of range for an integer type, and what C makes of it
SPELLED = [
    ("bool", torch.bool, 2, 1),
    ("_Bool", torch.bool, -4, 1),
    ("char", torch.int8, 200, -56),
    ("signed char", torch.int8, 200, -56),
    ("int8", torch.int8, -129, 127),
    ("unsigned char", torch.uint8, -1, 255),
    ("uint8", torch.uint8, 256, 0),
    ("short", torch.int16, 40000, -25536),
    ("short int", torch.int16, 40000, -25536),
    ("int16", torch.int16, -32769, 32767),
    ("unsigned short", torch.uint16, -1, 65535),
    ("unsigned short int", torch.uint16, -1, 65535),
    ("uint16", torch.uint16, 65537, 1),
    ("int", torch.int32, 1 << 31, -(1 << 31)),
    ("signed", torch.int32, 1 << 31, -(1 << 31)),
    ("signed int", torch.int32, 1 << 31, -(1 << 31)),
    ("int32", torch.int32, (1 << 32) + 5, 5),
    ("unsigned", torch.uint32, -1, (1 << 32) - 1),
    ("unsigned int", torch.uint32, -1, (1 << 32) - 1),
    ("uint32", torch.uint32, 1 << 32, 0),
    ("long", torch.int64, 1 << 40, 1 << 40),
    ("long int", torch.int64, 1 << 40, 1 << 40),
    ("long long", torch.int64, -(1 << 40), -(1 << 40)),
    ("long long int", torch.int64, -(1 << 40), -(1 << 40)),
    ("int64", torch.int64, -(1 << 63), -(1 << 63)),
    ("unsigned long", torch.uint64, -1, (1 << 64) - 1),
    ("unsigned long long", torch.uint64, -1, (1 << 64) - 1),
    ("long unsigned int", torch.uint64, -1, (1 << 64) - 1),
    ("uint64", torch.uint64, -2, (1 << 64) - 2),
    ("half", torch.float16, 2049, 2048),
    ("bfloat16", torch.bfloat16, 257, 256),
    ("float", torch.float32, (1 << 24) + 1, 1 << 24),
    ("double", torch.float64, (1 << 53) + 1, 1 << 53),
]


@pytest.mark.parametrize(("spelled", "dtype", "given", "kept"), SPELLED, ids=[x[0] for x in SPELLED])
def test_spelled_types(spelled: str, dtype: torch.dtype, given: int, kept: int) -> None:
    """As variable, as block, as what a pointer points to and as the tensor's dtype."""
    out = torch.zeros(3, dtype=dtype)
    text = f"""__global__ void f({spelled}* out, long v) {{
      {spelled} s = v;
      {spelled} b[2] = v;
      *out = s;
      *(out + 1 + 0 ... 2) = b;
    }}"""
    run(text, out, np.int64(given))
    assert [int(x) for x in out.double().tolist()] == [kept] * 3 or out.tolist() == [kept] * 3


SIZES = [
    ("bool", 1), ("char", 1), ("short", 2), ("int", 4), ("long", 8), ("long long", 8), ("half", 2), ("bfloat16", 2),
    ("float", 4), ("double", 8), ("unsigned", 4), ("float*", 8), ("char**", 8), ("uint16", 2),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "size"), SIZES, ids=[x[0] for x in SIZES])
def test_sizeof_is_an_integer_constant(type_: str, size: int) -> None:
    row("", f"int[{size}]", f"0 ... sizeof({type_})", range(size)).hold()
    row("", "int", f"-(int)sizeof({type_})", -size, top=f"_Static_assert(sizeof({type_}) == {size});").hold()


ROWS = [
    row("(T*)p reinterprets the address", "int", "*(int*)X", 0x3F800000, X=[1.0]),
    row("and counts in the new elements", "short", "*((short*)X + 1)", 0x3F80, X=[1.0, 2.0]),
    row("the old pointer counts in its own", "float", "*(X + 1)", 2.0, X=[1.0, 2.0]),
    row("so does a block of pointers", "int[2]", "*((int*)(X + 0 ... 2))", [0x3F800000, 0x40000000], X=[1.0,
        2.0]),
    row("to a narrower type, as a block", "unsigned char[4]", "*((unsigned char*)X + 0 ... 4)", [4, 3, 2,
        1], X=[0x01020304]),
    row("to a wider one", "long", "*((long*)X + 1)", (4 << 32) + 3, X=[1, 2, 3, 4]),
    row("an assignment reinterprets too", "int", "int* q = X; int result = *(q + 1);", 0x40000000, X=[1.0,
        2.0]),
    row("a pointer in a block declaration", "float[3]",
        "float* p[3] = X + 0 ... 3; p += 1; float result[3] = *p;",
        [2, 3, 4], X=[1.0, 2.0, 3.0, 4.0]),
    row("pointer arithmetic goes back too", "float", "*(X + 3 - 2)", 2.0, X=[1.0, 2.0, 3.0, 4.0]),
    row("integer plus pointer", "float", "*(1 + X)", 2.0, X=[1.0, 2.0]),
    row("long offsets", "float", "*(X + (long)a * 3 - 5)", 2.0, X=[1.0, 2.0], a=2),
    row("a char offset is signed", "float", "float* p = X + 2; char d = -1; float result = *(p + d);", 2.0,
        X=[1.0, 2.0, 3.0]),
    row("pointer differences are in elements, a long", "long", "(q - X) * 3000000000", 9000000000,
        X=[1.0] * 4,
        before="float* q = X + 3;"),
    row("and may be negative, and blocks", "long[2]", "X - (X + 0 ... 2)", [0, -1], X=[1.0, 2.0]),
    row("of 8-byte elements", "long", "(X + 3) - (X + 1)", 2, X=np.zeros(4)),
    row("pointers compare", "bool", "X + 1 > X && X == X && !(X != X)", 1, X=[1.0]),
    row("const, volatile, restrict, static, inline", "int", "int result = v + w; ", 3,
        before="const int v = 1; volatile int w = 2; static int z; const float* restrict p;",
        top="static inline"),
    row("a const before and after the type", "float",
        "const float x = 1.5f; float const y = 2; float result = x * y;", 3.0),
    row("a const pointer to const", "float", "const float* const p = X; float result = *p;", 4.0, X=[4.0]),
    row("typedef of a scalar", "float", "real r = 7; float result = r / 2;", 3.5, top="typedef float real;"),
    row("typedef of a pointer", "float", "ptr p = X; float result = *(p + 1);", 2.0,
        top="typedef float* ptr;", X=[1.0, 2.0]),
    row("typedef of a block", "float[4]", "row r = 2; float result[4] = r + 0 ... 4;", [2, 3, 4, 5],
        top="typedef float row[4];"),
    row("typedef of a block of pointers", "float[2]", "ptrs p = X + 0 ... 2; float result[2] = *p;", [1, 2],
        top="typedef float* ptrs[2];", X=[1.0, 2.0]),
    row("typedef of a typedef", "int", "b x = 3.9f; int result = x;", 3, top="typedef int a; typedef a b;"),
    row("typedef within a kernel", "int", "typedef char c; c x = 300; int result = x;", 44),
    row("enum constants", "int", "A * 100 + B * 10 + C", 56, top="enum { A, B = 5, C };"),
    row("enum constants as sizes", "int[6]", "0 ... N", range(6), top="enum sizes { M = 2, N = M * 3 };"),
    row("enum constants may be negative", "int", "A + B", -5, top="enum { A = -3, B };"),
    row("an enum in a kernel", "int", "enum { A = 4 }; int result = A;", 4),
    row("_Static_assert in a kernel", "int", '_Static_assert(N % 2 == 0, "even"); int result = N;', 4,
        defines={"N": 4}),
    row("shapes are constant expressions", "int[2, 4]",
        "int t[TM / 2, sizeof(int)] = 5; int result[2, 4] = t;", [5] * 8,
        defines={"TM": 4}),
    row("a product as shape", "int[8]", "int t[TM*TN] = 0 ... (TM * TN); int result[8] = t;", range(8),
        defines={"TM": 4, "TN": 2}),
    row("a ternary as shape", "int[3]", "int t[TM > 2 ? 3 : 5] = 1; int result[3] = t;", [1] * 3,
        defines={"TM": 4}),
    row("conversions, truths and min as shape", "int[3]",
        "int t[min((int)TM, 3)] = 0 ... (3l - (TM > 9)); int result[3] = t;",
        [0, 1, 2], defines={"TM": 4}),
    row("shift, mask and complement as shape", "int[4]",
        "int t[(1 << 4) >> 2 & ~3] = 1; int result[4] = t;", [1] * 4),
    row("rank 4", "int[2, 1, 3, 2]",
        "(0 ... 2)[:, newaxis, newaxis, newaxis] * 6 + (0 ... 3)[newaxis, newaxis, :, newaxis]"
        " * 2 + (0 ... 2)[newaxis, newaxis, newaxis, :]", range(12)),
    row("one-element blocks", "int[1, 1]", "int t[1, 1] = a; int result[1, 1] = t;", [-3], a=-3),
    row("several names in one declarator", "int[4]",
        "int a[4] = 0 ... 4, b[4], c = 7; b = a * c; int result[4] = b;",
        [0, 7, 14, 21]),
    row("the star binds to the name", "float[2]",
        "float *p[2] = X + 0 ... 2, *q = X, v[2]; v = *p + *q; float result[2] = v;",
        [2, 3], X=[1.0, 2.0]),
    row("a blank before the bracket", "int[4]", "int n    [4] = 0 ... 4; int result   [4] = n;", range(4)),
    row("768 in a row", "float[768]", "x - x[max]", -np.arange(768)[::-1].astype(np.float32),
        x=np.arange(768, dtype=np.float32)),
    row("a row of three", "int[3]", "x * 2", [-2, 4, -6], x=[-1, 2, -3]),
    row("96 by 3", "int[96, 3]", "-x", -np.arange(288).reshape(96, 3), x=np.arange(288,
        dtype=np.int32).reshape(96, 3)),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


def test_pointer_to_pointers() -> None:
    """``T**``: memory that holds addresses."""
    rows = [torch.tensor([1.0, -2.0]), torch.tensor([3.0, 4.0])]
    table = torch.tensor([x.data_ptr() for x in rows])
    out = torch.zeros(4)
    text = """void f(float** table, float* out) {
      float* p = *(table + get_program_id(0));
      float* ps[2] = *(table + 0 ... 2);
      *(out + get_program_id(0)) = *(p + 1);
      *(out + 2 + 0 ... 2) = *ps;
    }"""
    run(text, table, out, grid=2)
    same(out, [-2, 4, 1, 3])


@pytest.mark.parametrize(
    "declared", ["__constant__ float* X", "float __constant__* X", "const float __constant__ * X"]
)
def test_constant_before_or_after_the_type_changes_nothing(declared: str) -> None:
    x, out = torch.tensor([1.5]), torch.zeros(1)
    run(f"void f({declared}, float* out) {{ *out = *X * 2; }}", x, out)
    same(out, [3])


def test_implicit_reinterpretation_draws_a_warning() -> None:
    assert len(warned(kernel_of("int* q = X; *out = *q;"))) == 1
    assert not warned(kernel_of("int* q = (int*)X; *out = *q;"))


def test_integer_addresses_for_pointers() -> None:
    x, out = torch.tensor([1.5, 2.5], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    run("void f(double* X, double* out) { *out = *(X + 1); }", x.data_ptr(), out.data_ptr())
    same(out, [2.5])


REFUSED = [
    ("struct s { int a; };\n" + kernel_of(";"), "struct"),
    (kernel_of("struct s x;"), "struct"),
    ("union u { int a; };\n" + kernel_of(";"), "union"),
    (kernel_of("goto end; end: ;"), "goto"),
    (kernel_of("end: a = 1;"), "label"),
    (kernel_of("float* p = &X;"), "address"),
    (kernel_of("int (*f)(int);"), "pointers to functions"),
    ("int helper(int a) { return a; }\n" + kernel_of("*out = helper(a);"), "helper"),
    ("_Static_assert(sizeof(int) == 8, \"int is wide\");\n" + kernel_of(";"), "int is wide"),
    (kernel_of("int x[2, 2, 2, 2, 2];"), "4"),
    (kernel_of("int x[a];"), "a"),
    (kernel_of("int x[0];"), "0"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), REFUSED)
def test_what_is_refused_is_named(text: str, word: str) -> None:
    refused(text, word)


@pytest.mark.parametrize("size", [1, 3, 5, 96, 768])
def test_padding_is_never_loaded_stored_reduced_or_seen(size: int) -> None:
    """Negative numbers for a maximum, NaN behind the row, ones for a count, and a mark behind the store."""
    x = torch.full((size + 300,), torch.nan)
    x[:size] = torch.linspace(-9, -3, size)
    y = torch.full((size + 300,), 77.0)
    out = torch.zeros(5, dtype=torch.float64)
    text = """void f(float* X, float* Y, double* out) {
      float x[T] = *(X + 0 ... T);
      *(Y + 0 ... T) = x * 2;
      *(out + 0) = x[max];
      *(out + 1) = (0 - x)[min];
      *(out + 2) = (x < 0)[+];
      *(out + 3) = (exp(x))[min];
      bool ones[T] = 1;
      *(out + 4) = ones[+] + (0 ... T)[max] + 1;
    }"""
    run(text, x, y, out, defines={"T": size})
    same(y[:size], x[:size] * 2)
    assert (y[size:] == 77).all()
    same(out, [x[size - 1], -x[size - 1], size, np.exp(np.float32(x[0])), 2 * size], 1e-6)


@pytest.mark.parametrize("dtype", sorted(set(DTYPES) - {"bool"}))
def test_padded_blocks_of_every_type(dtype: str) -> None:
    signed = not dtype.startswith("unsigned")
    x = torch.tensor([5, 3, 9, 4, 6]).to(DTYPES[dtype])
    want_max, want_min, want_sum = (9, 3, 27) if not signed else (-3, -9, -27)
    sign = "-" if signed else ""
    row("", "double[3]",
        "double result[3] = 0; result += (0 ... 3 == 0) * s + (0 ... 3 == 1) * a + (0 ... 3 == 2) * b;",
        [want_sum, want_max, want_min],
        before=f"double s = ({sign}x)[+]; double a = ({dtype})({sign}x)[max]; double b = ({sign}x)[min];",
        x=x).hold()  # fmt: skip


def test_pytriton_translates_without_a_global_word() -> None:
    assert pytriton.translate("void f(int* out) { *out = 1; }").kernels == ("f",)
