"""What the evaluator must call undefined, and the near misses that it must not.

Each text is a kernel over ``X`` (16 ints, 0 to 15), ``Y`` (16 ints) and n = 3.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.evaluator import Undefined
from tests.oracle.judges import Case, evaluated, launch

R = "int r[8] = 0 ... 8; "


def case(body: str, programs: int = 1, parameters: str = "int *X, int *Y, int n") -> Case:
    x = np.arange(16, dtype=np.int32)
    return launch(f"void f({parameters}) {{ {body} }}", x, np.zeros_like(x), 3, grid=(programs,))


UNDEFINED = {
    "an element that a mask left out is stored": (R + "*(Y + r) = *?(r < n)(X + r);", 1),
    "such an element in a sum": (R + "*Y = (*?(r < n)(X + r))[+];", 1),
    "such an element as an address of a store": (R + "*(Y + *?(r < n)(X + r)) = 1;", 1),
    "such an element in a branch": (R + "int v = (*?(r < n)(X + r))[max]; if (v > 100) *Y = 1;", 1),
    "a load below a buffer": ("*Y = *(X - 1);", 1),
    "a load behind a buffer": (R + "*(Y + r) = *(X + r + 9);", 1),
    "a store behind a buffer": (R + "*(Y + r + 9) = r;", 1),
    "an address between two elements": ("*Y = *(int *)((char *)X + 2);", 1),
    "a variable never assigned": ("int v; *Y = v;", 1),
    "a variable assigned on one path": ("int v; if (n > 3) v = 1; *Y = v;", 1),
    "division by zero": ("*Y = n / (n - 3);", 1),
    "remainder by zero": ("*Y = n % (n - 3);", 1),
    "a shift by the width": ("*Y = n << (n + 29);", 1),
    "a negative shift": ("*Y = n >> -n;", 1),
    "a float too large for an int": ("*Y = (int)(n * 1e9f);", 1),
    "a NaN as an int": ("float z = 0; *Y = (int)(z / z);", 1),
    "two values to one address": (R + "*(Y + r / 2) = r;", 1),
    "a broken promise of a local": ("int v __multipleof(8) = n; *Y = v;", 1),
    "two programs store to one address": ("*Y = get_program_id(0);", 2),
    "a program reads what another stores": ("int p = get_program_id(0); *(Y + p) = *(Y + 1 - p);", 2),
    "a plain load of what another adds to": ("atomic_add(Y, 1); int v = *(Y + 1); *(Y + 1) = v;", 2),
    "a loop without an end": ("while (n == 3) { }", 1),
    "such an element in a product": (
        "int r[2] = 0 ... 2; int i[2, 2] = r[:, newaxis] * 2 + r[newaxis, :];"
        " *(Y + i) = (*?(i < n)(X + i)) @ (*(X + i));",
        1,
    ),
    "such an element as the bound of a loop": (R + "int v = (*?(r < n)(X + r))[+]; while (v > 0) v -= 1;", 1),
    "such an element moved by a permutation": (
        "int r[4] = 0 ... 4; int i[4, 4] = r[:, newaxis] * 4 + r[newaxis, :]; int v[4, 4] = *?(i < n)(X + i);"
        " *(Y + i) = i < n ? ^v : 0;",
        1,
    ),
    "the old value of a masked-off atomic": (R + "*(Y + r) = atomic_add(Y + 8 + r, r, r < n);", 1),
    "an atomic behind a buffer": ("atomic_add(Y + 16, 1);", 1),
    "a store between two elements": ("*(int *)((char *)Y + 2) = 1;", 1),
    "a read through a pointer that was never assigned": ("int *p; *Y = *p;", 1),
    "a broken promise in a later turn": (
        "for (int i = 8; i < 16; i += 6) { int v __multipleof(8) = i; *Y = v; }",
        1,
    ),
    "a char of an int that another program stores": (
        "int p = get_program_id(0); if (p == 0) *Y = 5; else *(char *)(Y + 4) = *((char *)Y + 1);",
        2,
    ),
    "a store behind the release of a lock": (
        "for (int i = 1; i == 1; i = atomic_cas(Y, 0, 1)); atomic_xchg(Y, 0); *(Y + 1) = *(Y + 1) + 1;",
        3,
    ),
    "two locks for one place": (
        "int *l = Y + 8 + get_program_id(0); for (int i = 1; i == 1; i = atomic_cas(l, 0, 1));"
        " *(Y + 1) = *(Y + 1) + 1; atomic_xchg(l, 0);",
        2,
    ),
    "old values of elements that share an address": (R + "*(Y + r) = atomic_add(Y + 8 + r / 2, 1);", 1),
}

DEFINED = {
    "a load masked where it is stored": (R + "*?(r < n)(Y + r) = *?(r < n)(X + r + 12);", 1),
    "the other branch of ?:": (R + "*(Y + r) = r < n ? *(X + r + 12) : -1;", 1),
    "division by zero in the branch not taken": (R + "*(Y + r) = r > 0 ? 8 / r : 0;", 1),
    "false and unspecified is false": (R + "*?(r < n && *?(r < n)(X + r) > 0)(Y + r) = 1;", 1),
    "a dead load past the end": (R + "int v[8] = *(X + 4 + r); v = *(X + 12 + r); *Y = 1;", 1),
    "the smallest int divided by -1 wraps": ("*Y = (-2147483647 - n + 2) / (n - 4);", 1),
    "equal values to one address": (R + "*(Y + r / 2) = r / 2;", 1),
    "programs add to one address": ("atomic_add(Y, get_program_id(0));", 3),
    "a lock orders plain accesses": (
        "for (int i = 1; i == 1; i = atomic_cas(Y, 0, 1)); *(Y + 1) = *(Y + 1) + 1; atomic_xchg(Y, 0);",
        3,
    ),
    "a counter hands a place on": (
        "int p = get_program_id(0); if (p == 0) { *(Y + 1) = 7; atomic_xchg(Y, 1); }"
        " else { while (atomic_add(Y, 0) == 0) { } *(Y + 2) = *(Y + 1); }",
        2,
    ),
    "an unspecified element under a mask of its own": (
        R + "int v[8] = *?(r < n)(X + r); int w[8] = v * 2; *?(r < n)(Y + r) = w;",
        1,
    ),
    "a promise kept in every turn": (
        "for (int i = 0; i < 16; i += 8) { int v __multipleof(8) = i; *Y = v; }",
        1,
    ),
    "programs read what nobody writes": ("*(Y + get_program_id(0)) = *X;", 3),
}


@pytest.mark.parametrize("about", UNDEFINED)
def test_undefined(about: str) -> None:
    body, programs = UNDEFINED[about]
    with pytest.raises(Undefined):
        evaluated(case(body, programs))


@pytest.mark.parametrize("about", DEFINED)
def test_defined(about: str) -> None:
    body, programs = DEFINED[about]
    evaluated(case(body, programs))


def test_a_race_is_found_whichever_program_runs_first() -> None:
    body = "int p = get_program_id(0); if (p == 0) *Y = 1; else *(Y + 1) = *Y;"
    for backwards in (False, True):
        with pytest.raises(Undefined, match="race"):
            evaluated(case(body, 2), backwards=backwards)


def test_what_the_lock_leaves() -> None:
    body = "for (int i = 1; i == 1; i = atomic_cas(Y, 0, 1)); *(Y + 1) = *(Y + 1) + n; atomic_xchg(Y, 0);"
    memory = evaluated(case(body, 4))
    assert memory.contents(1)[0].view(np.int32)[:2].tolist() == [0, 12]
