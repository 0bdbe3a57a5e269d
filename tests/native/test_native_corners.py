"""Kernels in C that no golden case needs: each notices a mutant of the printer (tests/mutation/of_native.py)."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.native.c_compiler import NoLibrary, find
from tests.native.test_native_semantics import mapped, run

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")

SQUARE = "int i[8] = 0 ... 8; int at[8, 8] = i[:, newaxis] * 8 + i[newaxis, :];"


@pytest.fixture(autouse=True)
def in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CC", "cc")


def filled(body: str, *arguments: Any, parameters: str = "int *X", length: int = 64) -> torch.Tensor:
    """What a body leaves in ``Y``, of ints."""
    y = torch.full((length,), -7).int()
    run(f"__global__ void f(int *Y, {parameters}) {{ {body} }}", y, *arguments)
    return y


# ---------------------------------------------------------------- numbers


def test_an_integer_becomes_bfloat16_in_one_rounding() -> None:
    x = torch.tensor([(1 << 24) + (1 << 16) + 1, (1 << 24) + (1 << 16)])
    got = mapped("long,long,bfloat16", "x", x, out=torch.bfloat16)
    assert got.tolist() == [float((1 << 24) + (1 << 17)), float(1 << 24)]
    assert torch.equal(mapped("int,int,bfloat16", "x", x.int(), out=torch.bfloat16), got)


def test_a_double_becomes_bfloat16_in_one_rounding() -> None:
    """Of arguments and of constants; a float has no place for their last digit."""
    source = """__global__ void f(float *Y, bfloat16 b, bfloat16 c) {
      bfloat16 d = 1.003906250931322574615478515625;
      *Y = b; *(Y + 1) = c; *(Y + 2) = d;
    }"""
    y = torch.zeros(3)
    pytriton.kernel(source)(y, 1 + 2.0**-8 + 2.0**-30, -(2.0**-133) * 2.5, grid=[1])
    assert y.tolist() == [1 + 2.0**-7, -(2.0**-132), 1 + 2.0**-7]


@pytest.mark.parametrize(("word", "top"), [("long", 62), ("unsigned long", 63)])
def test_a_long_becomes_bfloat16_in_one_rounding(word: str, top: int) -> None:
    """A double has no place for the last digit of these, which decides between two neighbours."""
    tie = (1 << top) + (1 << top - 8)
    dtype = torch.int64 if word == "long" else torch.uint64
    x = torch.tensor([tie, tie + 1, tie - 1, 5], dtype=dtype)
    up, down = float((1 << top) + (1 << top - 7)), float(1 << top)
    got = mapped(f"{word},{word},bfloat16", "x", x, out=torch.bfloat16)
    assert got.tolist() == [down, up, down, 5]
    if word == "long":
        got = mapped("long,long,bfloat16", "-x", x, out=torch.bfloat16)
        assert got.tolist() == [-down, -up, -down, -5]


def test_any_byte_but_zero_is_true() -> None:
    x = torch.tensor([0, 1, 2, 255], dtype=torch.uint8)
    assert mapped("bool,bool,int", "x ? 5 : 6", x, out=torch.int32).tolist() == [6, 5, 5, 5]


def test_fma_rounds_once() -> None:
    x, y = torch.tensor([1 + 2.0**-12]), torch.tensor([-1 - 2.0**-11])
    assert mapped("float,float,float", "fma(x, x, y)", x, y, out=torch.float32).item() == 2.0**-24


def test_fma_of_half_rounds_once() -> None:
    """3 * 683 lies in the middle between two halves, and a float has no place for what is added."""
    x, y = torch.tensor([3.0, 3.0]).half(), torch.tensor([2.0**-24, -(2.0**-24)]).half()
    assert mapped("half,half,half", "fma(x, 683, y)", x, y, out=torch.float16).tolist() == [2050, 2048]


def test_large_floats_become_unsigned() -> None:
    x = torch.tensor([2.0**63 + 2.0**60, 3.0])
    assert mapped("float,float,unsigned long", "x", x, out=torch.uint64).tolist() == [2**63 + 2**60, 3]


# ---------------------------------------------------------------- blocks


def test_axes_of_size_1_broadcast() -> None:
    x = torch.arange(8).int()
    operands = "int x[1, 8] = *(X + i[newaxis, :]); int y[8, 1] = *(X + i[:, newaxis]);"
    body = f"{SQUARE} {operands} *(Y + at) = x * 10 + y;"
    assert torch.equal(filled(body, x).view(8, 8), x * 10 + x[:, None])


@pytest.mark.parametrize("expression", ["trans(x)", "x + trans(x)"])
def test_a_block_is_read_before_it_is_overwritten(expression: str) -> None:
    x = torch.arange(64).int()
    got = filled(f"{SQUARE} int x[8, 8] = *(X + at); x = {expression}; *(Y + at) = x;", x).view(8, 8)
    square = x.view(8, 8)
    assert torch.equal(got, square.T if expression == "trans(x)" else square + square.T)


@pytest.mark.parametrize("expression", ["c + c @ b", "b + b @ b", "d + b @ b"])
def test_a_product_is_added_to_what_it_does_not_read(expression: str) -> None:
    b, c, d = (torch.arange(64).int().view(8, 8) % size for size in (5, 7, 9))
    target = "b" if expression[0] == "b" else "c"
    body = f"""{SQUARE} int b[8, 8] = *(B + at); int c[8, 8] = *(C + at); int d[8, 8] = *(D + at);
      {target} = {expression}; *(Y + at) = {target};"""
    got = filled(body, b, c, d, parameters="int *B, int *C, int *D").view(8, 8)
    assert torch.equal(got, {"b": b + b @ b, "c": c + c @ b, "d": d + b @ b}[expression[0]])


@pytest.mark.parametrize("columns", ["16", "24", "32", "48"])
@pytest.mark.parametrize("rows", ["3", "10", "13", "18"])
def test_products_of_any_number_of_rows(rows: str, columns: str) -> None:
    """Tiles of six and four rows, of one and two vectors of both sizes, and what is left."""
    height, width = int(rows), int(columns)
    a, b = torch.arange(4.0 * height).view(-1, 4) % 7, torch.arange(4.0 * width).view(4, width) % 5
    y = torch.zeros(height, width)
    source = """__global__ void f(float *Y, float *A, float *B) {
      int i[R] = 0 ... R; int j[C] = 0 ... C; int k[4] = 0 ... 4;
      float a[R, 4] = *(A + i[:, newaxis] * 4 + k[newaxis, :]);
      float b[4, C] = *(B + k[:, newaxis] * C + j[newaxis, :]);
      *(Y + i[:, newaxis] * C + j[newaxis, :]) = a @ b;
    }"""
    run(source, y, a, b, R=height, C=width)
    assert torch.equal(y, a @ b)


def test_extremes_of_columns_begin_with_their_own() -> None:
    x = torch.arange(64).int().view(8, 8) * 3 % 61 - 100
    body = f"{SQUARE} int x[8, 8] = *(X + at); *(Y + i) = x[max, :]; *(Y + 8 + i) = (0 - x)[min, :];"
    got = filled(body, x)
    assert torch.equal(got[:16], torch.cat([x.amax(0), (-x).amin(0)]))


def test_an_atomic_beside_a_block_runs_once() -> None:
    x = torch.tensor([5]).int()
    got = filled("int r[8] = 0 ... 8; *(Y + r) = r * 0 + atomic_add(X, 1);", x)
    assert (got[:8].tolist(), x.item()) == ([5] * 8, 6)


@pytest.mark.parametrize(
    "change", ["n = 100; s = 200;", "for (n = 0; n < 3; n++) *(Y + 20) = n; for (s = 0; s < 9; s++);"]
)
def test_a_block_keeps_what_it_was_computed_from(change: str) -> None:
    body = f"""int n = 1; int r[8] = 0 ... 8; int a[8] = r + n; int b[8] = r + s;
      {change} *(Y + r) = a; *(Y + 8 + r) = b;"""
    got = filled(body, 3, parameters="int s")
    assert got[:16].tolist() == [*range(1, 9), *range(3, 11)]


@pytest.mark.parametrize("step", ["p -= 8", "p += n", "p += r"])
def test_pointers_move(step: str) -> None:
    body = f"""int r[8] = 0 ... 8; int *p[8] = X + 24 + r;
      for (int k = 0; k < 3; k += 1) {{ *(Y + k * 8 + r) = *p; {step}; }}"""
    got = filled(body, torch.arange(64).int(), -8, parameters="int *X, int n").view(8, 8)[:3]
    r = torch.arange(8).int()
    want = [24 + r * (k + 1) if step == "p += r" else 24 - 8 * k + r for k in range(3)]
    assert torch.equal(got, torch.stack(want))


# ---------------------------------------------------------------- names

NAMES = "auto near grid arguments number reached larger_int32 sum_int32 site half_vector"


@pytest.mark.parametrize("name", NAMES.split())
def test_names_that_c_or_the_library_has(name: str) -> None:
    x = torch.arange(64).int()
    body = f"""{SQUARE} int {name} = n + get_program_id(0); int x[8, 8] = *(X + at);
      *Y = x[max, :][max] + x[+, :][+] + {name};"""
    assert filled(body, x, 100, parameters="int *X, int n")[0] == 63 + 63 * 32 + 100


# ---------------------------------------------------------------- loops


def test_a_condition_that_needs_a_loop() -> None:
    x = torch.ones(8).int()
    got = filled("int i[8] = 0 ... 8; int n = 0; while ((*(X + i) * n)[+] < 20) n += 1; *Y = n;", x)
    assert got[0] == 3


def test_continue_runs_both_steps() -> None:
    body = """int j = 0; int turns = 0;
      for (int k = 0; k < 9; k += 2, j += 1) { turns += 1; if (k == 4 && turns < 9) continue; *(Y + j) = k; }"""
    assert filled(body, 0, parameters="int s", length=6).tolist() == [0, 2, -7, 6, 8, -7]


@pytest.mark.parametrize("step", ["*(Y + i) = i", "*?(i > 2)(Y + i) = i", "atomic_add(Y + i, i + 7, i > 2)"])
def test_a_step_that_stores(step: str) -> None:
    body = f"for (int i = 0; i < 4; {step}) i++;"
    assert filled(body, 0, parameters="int s", length=5)[3:].tolist() == [3, 4]


# ---------------------------------------------------------------- memory


def test_blocks_of_bool_fit_in_the_stack() -> None:
    """Each takes 1 MiB; a stack that is too small ends the process."""
    bools = "".join(f"bool m{n}[16, T] = *(B + {n} + (0 ... T))[newaxis, :];" for n in range(9))
    body = f"bool a[16, T] = *B; {bools} a = a{''.join(f' ^ m{n}' for n in range(9))};"
    source = f"__global__ void f(int *Y, bool *B) {{ {body} *(Y + 0 ... T) = a[+, :]; }}"
    y, b = torch.zeros(1 << 16).int(), torch.ones((1 << 16) + 9).bool()
    pytriton.kernel(source, defines={"T": 1 << 16})(y, b, grid=[1])
    assert (y == 0).all()


@pytest.mark.parametrize("mask", ["i + n < 0", "(unsigned)i + m < 9u"])
def test_a_mask_that_wraps(mask: str) -> None:
    """It holds for the last elements of a row, behind which the sum has wrapped."""
    body = f"int i[16] = 0 ... 16; *?({mask})(Y + i) = i;"
    got = filled(body, 2**31 - 8, 2**32 - 8, parameters="int n, unsigned m", length=16)
    assert got.tolist() == [*[-7] * 8, *range(8, 16)]


def test_both_sides_of_a_mask_count() -> None:
    got = filled("int i[16] = 0 ... 16; *?(i < 16 && i < n)(Y + i) = i;", 5, parameters="int n", length=16)
    assert got.tolist() == [*range(5), *[-7] * 11]


def test_offsets_that_wrap_inside_a_row() -> None:
    x = torch.arange(256).int()
    body = "int i[8] = 0 ... 8; *(Y + i) = *(X + 128 + (char[8])(i + n));"
    assert filled(body, x, 124, parameters="int *X, int n", length=8).tolist() == [
        252,
        253,
        254,
        255,
        0,
        1,
        2,
        3,
    ]


def test_offsets_of_32_bits_that_wrap_inside_a_row() -> None:
    """The memory of a tensor that is not touched is not there."""
    try:
        x = torch.empty((1 << 32) + 16, dtype=torch.int8)
    except RuntimeError:
        pytest.skip("the system promises less memory")
    x[:4], x[-20:-16], x[-16:] = torch.arange(4), torch.arange(4) + 10, 99
    body = "unsigned int i[8] = 0 ... 8; *(Y + i) = *(X + (i - 4));"
    assert filled(body, x, parameters="char *X", length=8).tolist() == [10, 11, 12, 13, 0, 1, 2, 3]


def test_offsets_that_wrap_and_end_as_if_they_had_not() -> None:
    """First 0, last 65535, but -128 in the middle, which becomes 65408."""
    x = torch.arange(1 << 16).int()
    body = "int i[65536] = 0 ... 65536; *(Y + i) = *(X + (unsigned short)(char)i);"
    got = filled(body, x, length=1 << 16)
    assert torch.equal(got, x.to(torch.int8).int() & 0xFFFF)


def test_a_mask_is_read_before_elements_are_stored() -> None:
    x = torch.ones(8).int()
    filled("int i[8] = 0 ... 8; *?(*X)(X + i) = 0;", x)
    assert x.tolist() == [0] * 8


def test_masked_atomics() -> None:
    x = torch.arange(8).int()
    body = "int r[8] = 0 ... 8; bool m[8] = r < 3; atomic_add(X + r, 10, m); *(Y + r) = atomic_add(X + r, 100, m);"
    got = filled(body, x)
    assert x.tolist() == [110, 111, 112, *range(3, 8)]
    assert got[:3].tolist() == [10, 11, 12]


def test_atomics_of_floats_give_the_old_value() -> None:
    for dtype, word in ((torch.float32, "float"), (torch.float16, "half"), (torch.float64, "double")):
        x, y = torch.tensor([2.5]).to(dtype), torch.zeros(1, dtype=dtype)
        run(f"__global__ void f({word} *X, {word} *Y) {{ *Y = atomic_add(X, ({word})1); }}", x, y)
        assert (x.item(), y.item()) == (3.5, 2.5)


@pytest.mark.parametrize("access", ["atomic_add(X + i * s, 1);", "*(X + i * s) = i;"])
def test_scattered_elements_are_checked(access: str) -> None:
    text = f"void f(int *X, int *Y, int s) {{ int i[8] = 0 ... 8; {access} }}"
    with pytest.raises(LaunchError, match=r"element \[6\] of the block \[8\]; 1 more element"):
        pytriton.kernel(text)(torch.zeros(16).int(), torch.zeros(8).int(), 3, grid=1)


def test_scattered_loads_are_checked() -> None:
    text = "void f(int *X, int *Y, int s) { int i[8] = 0 ... 8; *(Y + i) = *(X + i * s); }"
    with pytest.warns(match=r"element \[6\] of the block \[8\]; 1 more element"):
        pytriton.kernel(text)(torch.zeros(16).int(), torch.zeros(8).int(), 3, grid=1)


@pytest.mark.parametrize("access", ["*(X + n) = 1;", "*(X + n - 7 + 0 ... 8) = 1;"])
def test_one_past_the_end(access: str) -> None:
    x = torch.zeros(16, dtype=torch.int8)
    with pytest.raises(LaunchError, match="store outside 'X': 1 element past the end"):
        pytriton.kernel(f"void f(char *X, int n) {{ {access} }}")(x, 16, grid=1)


@pytest.mark.parametrize(
    ("loop", "end"),
    [
        ("while (*X != 5) *X = *X + 1;", 5),  # memory changes
        ("while (*X == 0) { k += 1; if (k == 5) *X = 1; }", 1),  # a variable does
        ("while (*X == 0) { if (k != 0) *X = 7; k = 1; }", 7),  # not in the first iteration
    ],
)
def test_a_wait_that_ends(loop: str, end: int | str) -> None:
    x = torch.zeros(1).int()
    pytriton.kernel(f"void f(int *X) {{ int k = 0; {loop} }}")(x, grid=1)
    assert x.item() == int(end)


@pytest.mark.parametrize(
    ("loop", "total"),
    [
        ("for (n = n - 1; n >= 0; n -= 1) s += n;", 21),
        ("for (n = n; n > 0; n -= 2) s += 1;", 4),  # it may count up, as nothing reads n
        ("int k = n; for (k = k + 1; k < 10; k += 1) s += k;", 17),
    ],
)
def test_a_loop_that_begins_from_its_own_variable(loop: str, total: int) -> None:
    assert filled(f"int s = 0; {loop} *Y = s;", 7, parameters="int n")[0] == total
