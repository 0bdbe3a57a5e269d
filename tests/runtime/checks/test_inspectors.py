"""What inspectors judge, run by the interpreter: they may doubt what is right, but never trust what is wrong."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.checks.memory import bounds, inspectable
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.tuning.compiled import with_table


def trusts(text: str, *arguments: Any, grid: Any = 1) -> bool:
    """Whether the inspector finds nothing outside, and there is nothing that it does not look at."""
    kernel = pytriton.kernel(f"__global__ void f({text}", check=True)
    plan, bound = kernel._plan(arguments, None, None, None)._bound(arguments)
    launch = plan._launch_of(bound, arguments, grid)
    assert launch is not None
    assert launch.memory is not None
    text_of, config = launch.candidate._text, launch.candidate.config
    made = text_of.translate(config, checked=True, part="inspector")
    assert made.inspected is not None
    if text_of.translate(config, checked=True, part="executor").sites:
        return False
    if not inspectable(made.inspected, made.sites, launch.memory):
        return False
    whole, _ = with_table(made, launch.specialization)
    table = torch.tensor(bounds(made.inspected, launch.memory), dtype=torch.int64)
    run = Interpreted(load(whole.function, whole.text), whole.parameters, whole.constexprs)
    run.run(launch.grid, [*launch.values, table.data_ptr()])
    return table[0].item() == 0


def is_right(text: str, *arguments: Any, grid: Any = 1) -> bool:
    """Whether the check of each element, on the CPU, finds nothing outside."""
    kernel = pytriton.kernel(f"__global__ void f({text}", check="strict")
    with warnings.catch_warnings(action="ignore"):
        try:
            kernel(*arguments, grid=grid)
        except LaunchError:
            return False
    return True


def ints(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def zeros(count: int) -> torch.Tensor:
    return torch.zeros(count)


MASKED = "float* z, int n) { int i[8] = get_program_id(0) * 8 + 0 ... 8; *?(i < n)(z + i) = 1; }"
ROWS = """float* z, int m, int n, int s) { int i[4] = 0 ... 4; int j[8] = 0 ... 8;
  *?(i[:, newaxis] < m && j[newaxis, :] < n)(z + i[:, newaxis] * s + j[newaxis, :]) = 1; }"""
WALK = """float* z, int* steps, int n) { float* p = z; for (int k = 0; k < n; k += 1) { *p = 1;
  p += *(steps + k); } }"""
WALK_OF_BLOCKS = """float* z, int* steps, int n) {
  int i[4] = 0 ... 4;
  float* p[4, 4] = z + i[:, newaxis] * 4 + i[newaxis, :];
  for (int k = 0; k < n; k += 1) { *p = 1; p += *(steps + k * 4 + i)[:, newaxis]; } }"""
ONE_OF_TWO = "float* z, int n) { int at = n; if (n > 7) at = 0; *(z + at) = 1; }"
PRODUCT = """float* z, int a, int b) {
  int i[4, 4] = (0 ... 4)[:, newaxis] * a + (0 ... 4)[newaxis, :] * b;
  *(z + i) = 1; }"""
LAST = "float* z, int n) { for (int k = 0; k < n; k += 2) { if (k < 6) *(z + k) = 1; } }"
BACK = "float* z, int n) { for (int k = n; k > 0; k -= 1) *(z + k - 1) = 1; }"
TWICE = """float* z, int n) {
  float* p = z;
  for (int a = 0; a < n; a += 1) { for (int b = 0; b < n; b += 1) p += 1; *p = 1; } }"""

CASES: list[tuple[str, tuple[Any, ...], int, bool]] = [
    (MASKED, (zeros(20), 20), 3, True),
    (MASKED, (zeros(20), 21), 3, False),
    (MASKED, (zeros(20), 20), 30, True),  # programs with nothing to do
    (MASKED, (None, 0), 1, True),
    (MASKED, (None, 1), 1, False),
    (ROWS, (zeros(20), 4, 5, 5), 1, True),
    (ROWS, (zeros(20), 4, 6, 5), 1, False),
    (ROWS, (zeros(20), 0, 80, 5), 1, True),  # a mask that lets nothing through on one axis
    (ROWS, (zeros(20), 3, 5, 7), 1, True),
    (ROWS, (zeros(20), 3, 5, -7), 1, False),
    (WALK, (zeros(9), ints(3, 4, -6, 99), 4), 1, True),
    (WALK, (zeros(9), ints(3, 6, -6, 99), 4), 1, False),
    (WALK, (zeros(9), ints(3, 4, -8, 0), 4), 1, False),
    (WALK, (zeros(9), ints(1, 1), 4), 1, False),  # the table ends
    (WALK_OF_BLOCKS, (zeros(40), ints(*[4] * 8, *[99] * 4), 3), 1, True),
    (WALK_OF_BLOCKS, (zeros(24), ints(*[0, 4, 8, 12], *[0] * 8), 3), 1, False),
    (ONE_OF_TWO, (zeros(8), 7), 1, True),
    (ONE_OF_TWO, (zeros(8), 9), 1, True),
    (ONE_OF_TWO, (zeros(7), 7), 1, False),
    (PRODUCT, (zeros(20), 4, 1), 1, True),
    (PRODUCT, (zeros(20), 6, 1), 1, False),
    (PRODUCT, (zeros(20), 1 << 30, 1 << 30), 1, False),  # the sum leaves 32 bits
    (LAST, (zeros(5), 20), 1, True),
    (LAST, (zeros(4), 20), 1, False),
    (BACK, (zeros(5), 5), 1, True),
    (BACK, (zeros(5), 6), 1, False),
    (BACK, (zeros(5), -6), 1, True),
    (TWICE, (zeros(10), 3), 1, True),
    (TWICE, (zeros(9), 3), 1, False),
]


@pytest.mark.parametrize("at", range(len(CASES)))
def test_cases(at: int) -> None:
    text, arguments, grid, right = CASES[at]
    assert is_right(text, *arguments, grid=grid) == right
    assert trusts(text, *arguments, grid=grid) == right


DOUBTED = {
    "a mask of two axes together": (
        "float* z, int n) { int i[8, 8] = (0 ... 8)[:, newaxis] + (0 ... 8)[newaxis, :]; *?(i < n)(z + i) = 1; }",
        (zeros(8), 8),
    ),
    "memory that is written": ("int* z) { *(z + *z) = 1; }", (ints(0, 0),)),
    "a loop that is no range": (
        "float* z, int n) { int i = 0; while (i < n) { *(z + i) = 1; i += i + 1; } }",
        (zeros(8), 8),
    ),
    "a lock": (
        "int* lock, float* z) { int got = 1; while (got == 1) got = atomic_cas(lock, 0, 1); *(z + got) = 1; "
        "atomic_xchg(lock, 0); }",
        (ints(0), zeros(1)),
    ),
    "sums that leave 32 bits and come back": (
        "float* z, int a) { int i[2, 2] = (0 ... 2)[:, newaxis] * a + (0 ... 2)[newaxis, :] * a; "
        "*?(i < 2 && i > -1)(z + i) = 1; }",
        (zeros(2), -(1 << 31)),
    ),
}


@pytest.mark.parametrize("case", DOUBTED)
def test_what_is_right_and_doubted(case: str) -> None:
    text, arguments = DOUBTED[case]
    assert is_right(text, *arguments)
    assert not trusts(text, *arguments)


def test_a_table_that_the_launch_may_write_over() -> None:
    steps = ints(1, 1, 1, 0, 0, 0, 0)
    walk = WALK.replace("float*", "int*").replace("*p = 1", "*(p + 2) = 9")
    assert trusts(walk, ints(*[0] * 6), steps, 3)
    assert not trusts(walk, steps, steps[:4], 3)
    assert not trusts(walk, steps.data_ptr(), steps[:4], 3)


def test_an_address_has_no_end() -> None:
    assert not trusts(MASKED, zeros(20).data_ptr(), 20)
