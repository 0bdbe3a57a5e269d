"""A printed module on Triton's interpreter without pytriton's patches computes what the launch computes."""

from __future__ import annotations

import os
import sys
from typing import Final

import pytest

from tests.processes import ROOT, run
from tests.translate.cases import GOLDENS

# Parameters, body, and the numbers to pass after the first parameter, which is a tensor of zeros.
PROGRAMS: Final = (
    ("int* o, int n", "unsigned char c = n; int a = 5; *o = a - c;", (200,)),
    ("int* o, int n", "unsigned int u = n; int a = -1; *o = a < u;", (3,)),
    ("int* o", "int a = -7; *o = a / 2; *(o + 1) = a % 3; *(o + 2) = a >> 1;", ()),
    ("int* o", "int a = -7; int b = a + 2; *o = b / 2; *(o + 1) = b % 3;", ()),
    ("int* o, int n", "int a = 7; if (n > 3) a = -7; *o = a / 2; *(o + 1) = a % 4;", (5,)),
    ("float* o", "int v = T % 8; *o = v;", ()),
    ("float* o", "int a = 1; int b = 2; *o = a + b > 0.25;", ()),
    ("float* o", "int a = 1; int b = 2; *o = (a + b) * 0.25;", ()),
    ("float* o", "bool b = true; *o = b;", ()),
    ("int* o", "int a = 2147483647; a += 1; *o = a; *(o + 1) = a / 2;", ()),
    ("int* o, int n", "int a = 1; for (int i = 0; i < n; i += 1) a = a * 31 + 7; *o = a;", (20,)),
    ("int* o, int n", "int i = 0; while (i < n) i += 3; *o = i; *(o + 1) = -i / 2;", (20,)),
    ("int* o, int n", "bool b = false; *o = !b; *(o + 1) = b + 3; *(o + 2) = ~b;", (1,)),
    ("int* o", "bool b = false; atomic_add(o, 5, b); *?(b)(o + 1) = 3;", ()),
    ("float* o, int n", "float a = 0.1; for (int i = 0; i < n; i += 1) a = a * 3; *o = a;", (20,)),
    ("float* o", "float a = 0.1; *o = a * 3; *(o + 1) = a + 1e-9f == a;", ()),
    ("float* o", "float a = 16777216; float b = a + 1; *o = b - a;", ()),
    ("float* o", "float a = 0.1; double b = a; *o = b == 0.1;", ()),
    ("float* o", "float a = 0; a = -a; *o = 1 / a;", ()),
    ("int* o", "int a = 3; int r[4] = 0 ... 4; *(o + r) = r / a + (a < r ? a : r);", ()),
)

# What stops, or differs, on Triton's interpreter as it comes, whatever is assigned: comparisons as masks, extremes
# of NaN, bfloat16, null pointers, parameters that are floats or wider than their values, library functions.
_TRITON: Final = frozenset(
    "atomic_broadcast bfloat16_arithmetic cast_bitcast constants_narrow dot_bfloat16 fast_division "
    "fast_exp_of_scores float_suffix floor_of_subnormal half_with_float load_masked_forms logic_loads math_double "
    "math_double_more math_float math_scalar min_max_int null_block null_conditions null_present param_every_type "
    "param_half_arithmetic range_counter_wraps reduce_bfloat16 store_converts store_masked strict_literals "
    "unsigned_with_int was_shift weak_literals".split()
)
_SPELLED: Final = (
    "assign_chained",
    "assign_compound",
    "atomic_mask_constant",
    "comma",
    "effects_in_expressions",
    "scope_blocks",
    "scope_parameter_shadow",
    "ternary_types",
)
SAMPLE: Final = sorted({*_SPELLED, *GOLDENS[::12]} - _TRITON)


@pytest.mark.slow
def test_as_launched() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}
    done = run([sys.executable, "-m", "tests.emit.executed"], env=environment, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
