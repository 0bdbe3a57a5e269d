"""Sections 6 and 7: built-in functions, atomics and locks, constants.

Functions of every type are in conversions/test_functions.py, constant buffers in runtime/launch/test_constants.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.specification.asking import DTYPES, Row, inf, nan, ptx, refused, row, run, same

ROWS = [
    row("program ids", "int", "get_program_id(0) * 10 + get_num_programs(0)", [3, 13, 23], programs=3),
    row("axes beyond the grid", "int", "get_program_id(1) * 10 + get_program_id(2) + get_num_programs(2)", 1),
    row("pow", "float[3]", "pow(x, 2.0f)", [4, 9, 0.25], x=[2.0, -3.0, 0.5], tolerance=1e-6),
    row("pow of a double", "double", "pow(d, 0.5)", math.sqrt(2), d=np.float64(2), tolerance=1e-15),
    row("exp keeps infinities and NaN", "float[3]", "exp(x)", [inf, 0, nan], x=[inf, -inf, nan]),
    row("log of 0 and of a negative", "float[3]", "log(x)", [-inf, nan, inf], x=[0.0, -1.0, inf]),
    row("sqrt of a negative", "float[2]", "sqrt(x)", [nan, 0], x=[-1.0, 0.0]),
    row("abs of ints", "int[3]", "abs(x)", [3, 0, 4], x=[-3, 0, 4]),
    row("abs of floats", "float[3]", "abs(x)", [3.5, 0, inf], x=[-3.5, 0.0, -inf]),
    row("abs of chars promotes", "int", "abs(c)", 128, c=np.int8(-128)),
    row("abs of long", "long", "abs(l)", 1 << 40, l=np.int64(-(1 << 40))),
    row("abs of half is half", "float", "abs(h) + 1", 2048.0, h=np.float16(-2048)),
    row("fabs", "float[2]", "fabs(x)", [2, nan], x=[-2.0, nan]),
    row("floor", "float[4]", "floor(x)", [-2, 1, 0, -inf], x=[-1.5, 1.5, 0.25, -inf]),
    row("ceil", "float[4]", "ceil(x)", [-1, 2, 1, nan], x=[-1.5, 1.5, 0.25, nan]),
    row("floor of a double", "double", "floor(d)", float(1 << 40), d=np.float64((1 << 40) + 0.5)),
    row("fma", "float[2]", "fma(x, y, 1.0f)", [7, -2], x=[2.0, -1.0], y=[3.0, 3.0]),
    row("fma in the common type", "double", "fma(d, f, i)", 0.1 * 2 + 3, d=np.float64(0.1), f=2.0, i=3,
        tolerance=1e-15),
    row("fma rounds once", "double", "fma(d, d, e)", 2.0**-60, d=np.float64(1 + 2.0**-30),
        e=np.float64(-1 - 2.0**-29)),
    row("select", "float[4]", "select(x > 0, x, -1.0f)", [1, -1, 2, -1], x=[1.0, -2.0, 2.0, nan]),
    row("select in the common type", "float", "select(c, i, f)", 3.0, c=True, i=3, f=0.5),
    row("select with a number as condition", "int", "select(c, 4, 5)", 4, c=2),
    row("select broadcasts", "int[2, 2]", "select(c[:, newaxis], a[newaxis, :], 0)", [1, 2, 0, 0], c=[1, 0],
        a=[1, 2]),
    row("a variable may be called sum", "int", "int sum = 4; int id = 5; int result = sum * id;", 20),
    row("or max, beside max()", "int", "int max = 4; int min = 5; int result = max + min;", 9),
    row("or exp, and exp( is the built-in", "float",
        "int exp = 1; float log = 0; float result = exp + log;", 1.0),
    row("a block may be called max beside x[max]", "int",
        "int max[4] = 0 ... 4; int result = max[max] + max[+];", 9),
    row("a variable dot and the product", "float",
        "float dot = 2; float a[1, 1] = 3; float result = dot * (a @ a)[+, +];", 18.0),
    row("hex, octal, binary", "int", "0x1F + 017 + 0b101 + 0XaB", 31 + 15 + 5 + 171),
    row("suffixes", "long", "1u + 2l + 3ll + 4ul + 5LL + 6U + 7lu", 28),
    row("u is unsigned", "bool", "0u - 1 > 0", 1),
    row("an int that does not fit is a long", "long", "4294967296 + 2147483648", 4294967296 + 2147483648),
    row("a hex that does not fit an int is unsigned", "bool", "0xFFFFFFFF > -1", 0),
    row("a decimal that does not is a long", "bool", "4294967295 > -1", 1),
    row("character constants", "int", "'A' * 1000 + '\\n' * 10 + '\\0' + '\\x7'", 65107),
    row("float constants", "float", "1.5e2f + .5 + 2. + 1e-1f", 152.6, tolerance=1e-5),
    row("hexadecimal floats", "float", "0x1p-3f + 0x1.8p1", 3.125),
    row("INFINITY", "float", "INFINITY", inf),
    row("-INFINITY", "float", "-INFINITY", -inf),
    row("F32_INFINITY", "float", "F32_INFINITY - 1", inf),
    row("F16_INFINITY is of half", "half", "-F16_INFINITY", -inf),
    row("INFINITY is a float: half meets it", "float", "h < INFINITY ? h : -INFINITY", 2.0, h=np.float16(2)),
    row("a block of -INFINITY", "float[2]", "float result[2] = -INFINITY;", [-inf, -inf]),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


def test_ids_of_a_grid_of_three_axes() -> None:
    out = torch.zeros(24, dtype=torch.int32)
    text = """void f(int* out) {
      int x = get_program_id(0); int y = get_program_id(1); int z = get_program_id(2);
      int at = (z * get_num_programs(1) + y) * get_num_programs(0) + x;
      *(out + at) = x * 100 + y * 10 + z;
    }"""
    run(text, out, grid=(4, 3, 2))
    same(out, [x * 100 + y * 10 + z for z in range(2) for y in range(3) for x in range(4)])


def test_the_axis_is_a_constant() -> None:
    refused("void f(int* out, int n) { *out = get_program_id(n); }", "n")
    refused("void f(int* out) { *out = get_num_programs(3); }", "3")


KERNEL_NAMES = [
    "dot",
    "sin",
    "forward",
    "exp",
    "max",
    "load",
    "tl",
    "triton",
    "lambda",
    "print",
    "sum",
    "kernel",
    "grid",
]


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_kernels_and_parameters_may_have_the_names_of_built_ins(name: str) -> None:
    out = torch.zeros(1)
    x = torch.tensor([0.25])
    run(
        f"void {name}(float* X, float* out, float {name}_2) {{ *out = exp(*X) + sin(*X) + {name}_2; }}",
        x,
        out,
        1.0,
    )
    same(out, [math.exp(0.25) + math.sin(0.25) + 1], 1e-6)
    out = torch.zeros(1)
    run(f"void f(float* out, float {name}) {{ *out = {name} * 2; }}", out, 1.5)
    same(out, [3])


def test_kernels_cannot_be_called() -> None:
    refused("void f(float* X) { g(X); }\nvoid g(float* X) { *X = 1; }", "g")


# ---------------------------------------------------------------- atomics

ADDS = [
    "atomic_add_float_4(p, v, m);",
    "atomic_add(p, v, m);",
    "atomic_add(p, v, 0 ... 4 < 2);",
    "atomic_add(p, m ? v : 0);",
    "atomic_add(p, (half)10, m);",
    "atomic_add(p, 10, (0 ... 4 < 2) * 3);",
]


@pytest.mark.parametrize("call", ADDS)
def test_the_spellings_of_atomic_add(call: str) -> None:
    out = torch.tensor([1.0, -2.0, 3.0, -4.0])
    text = (
        "void f(float* out) { float* p[4] = out + 0 ... 4; float v[4] = 10; bool m[4] = 0 ... 4 < 2; "
        + call
        + " }"
    )
    run(text, out, grid=3)
    same(out, [31, 28, 3, -4])


def test_atomic_add_of_two_axes() -> None:
    out = torch.zeros(8)
    text = """void f(float* out) {
      float* p[2, 4] = out + (0 ... 2)[:, newaxis] * 4 + (0 ... 4)[newaxis, :];
      float v[2, 4] = (0 ... 4)[newaxis, :];
      bool m[2, 4] = (0 ... 2 > 0)[:, newaxis];
      atomic_add_float_2x4(p, v, m);
    }"""
    run(text, out, grid=2)
    same(out, [0, 0, 0, 0, 0, 2, 4, 6])


def test_scalar_adds_and_the_old_value() -> None:
    out, old = torch.tensor([5.0]), torch.zeros(3)
    text = "void f(float* X, float* old) { float was = f32_atomic_add(X, 2.0f); *(old + get_program_id(0)) = was; }"
    run(text, out, old, grid=3)
    same(out, [11])
    same(old.sort().values, [5, 7, 9])
    counter, old = torch.tensor([-1], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    run("void f(int* n, int* old) { *(old + 0 ... 4) = atomic_add(n, 1); }", counter, old)
    assert counter.item() == 0
    same(old, [-1] * 4)


def test_equal_pointers_add_up() -> None:
    out = torch.zeros(1)
    text = (
        "void f(float* X) { float* p[8] = X; float v[8] = 0 ... 8; bool m[8] = v > 1; atomic_add(p, v, m); }"
    )
    run(text, out)
    same(out, [27])


@pytest.mark.parametrize("type_", ["int", "unsigned", "long", "float", "double", "half"])
def test_atomic_add_of_types(type_: str) -> None:
    out = torch.tensor([4, 5]).to(DTYPES[type_])
    run(f"void f({type_}* out) {{ atomic_add(out + 0 ... 2, ({type_}[2])3); }}", out, grid=4)
    same(out, [16, 17])


def test_cas_and_xchg_give_the_old_value() -> None:
    lock, old = torch.tensor([0], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    text = """void f(int* lock, int* old) {
      *old = atomic_cas(lock, 1, 5);
      *(old + 1) = atomic_cas(lock, 0, 7);
      *(old + 2) = atomic_xchg(lock, -3);
      *(old + 3) = *lock;
    }"""
    run(text, lock, old)
    same(old, [0, 0, 7, -3])


SPIN = """
void f(float* X, float* C, int* locks, int TZ) {
  int pid = get_program_id(0) / TZ;
  int i[16] = 0 ... 16;
  float c[16] = *(X + get_program_id(0) * 16 + i);
  float* pc[16] = C + pid * 16 + i;
  bool m[16] = i < 13;
  int* plock = locks + pid;
  int* pcount = plock + get_num_programs(0);
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *?(m)pc = c;
  else
    *?(m)pc = c + *?(m)pc;
  atomic_xchg(pcount, (count + 1) % TZ);
  atomic_xchg(plock, 0);
}"""


def test_spin_locks_add_in_turn_and_leave_the_counters_at_zero() -> None:
    x, c = torch.arange(96.0).reshape(6, 16) - 40, torch.full((2, 16), 5.0)
    locks = torch.zeros(20, dtype=torch.int32)
    for _ in range(2):
        run(SPIN, x, c, locks, 3, grid=6)
        same(c[:, :13], x.reshape(2, 3, 16).sum(1)[:, :13])
        assert (c[:, 13:] == 5).all()
        assert not locks.any()


@pytest.mark.parametrize(
    "spin",
    [
        "for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));",
        "while (atomic_cas(plock, 0, 1) == 1);",
        "while (atomic_cas(plock, 0, 1)) { }",
        "do { } while (atomic_cas(plock, 0, 1) != 0);",
        "int r = 1; while (r) r = atomic_cas(plock, 0, 1);",
    ],
)
def test_locks_in_machine_code(spin: str) -> None:
    """The exchange stands in the loop; a barrier follows the acquire, and one stands before the release."""
    code = ptx(SPIN.replace("for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));", spin))
    lines = [line.strip() for line in code.split("\n")]
    acquire = next(at for at, line in enumerate(lines) if ".cas." in line)
    label = max(at for at, line in enumerate(lines) if line.startswith("$L__BB") and at < acquire)
    back = f"bra \t{lines[label].split(':')[0]};"
    assert any(line.endswith(back) for line in lines[acquire:])
    release = max(at for at, line in enumerate(lines) if ".exch." in line)
    stores = [at for at, line in enumerate(lines) if "st.global" in line and acquire < at < release]
    loads = [at for at, line in enumerate(lines) if "ld.global" in line and acquire < at < release]
    barriers = [at for at, line in enumerate(lines) if "bar.sync" in line]
    assert stores
    assert loads
    assert any(acquire < at < min(loads) for at in barriers)
    assert any(max(stores) < at < release for at in barriers)
    assert "acq_rel" in lines[acquire]


def test_debug_barrier() -> None:
    text = "void f(float* X) { *X = 1; __debug_barrier(); *X = 2; }"
    assert ptx(text).count("bar.sync") == 1
    assert "bar.sync" not in ptx(text.replace("__debug_barrier();", ""))
