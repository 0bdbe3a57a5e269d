"""Conflicts of programs and unfinished outputs in checked CPU launches: found where they are, nowhere else."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pytriton
from pytriton.runtime.native.c_compiler import NoLibrary, find

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")

LOCK = "for (int r = 1; r == 1; r = atomic_cas(lock, 0, 1)); "
CASES = 300


def told(text: str, *arguments: Any, grid: Any, calls: int = 1, **given: Any) -> list[str]:
    """What TC557 and TC558 say of launches of one kernel object."""
    kernel = pytriton.kernel(text, name="f.c", **given)
    with warnings.catch_warnings(record=True, action="always") as caught:
        for _ in range(calls):
            kernel(*arguments, grid=grid)
    return [said for one in caught if "[TC557]" in (said := str(one.message)) or "[TC558]" in said]


def of_body(
    body: str, grid: Any = 4, dtype: torch.dtype = torch.float32, size: int = 8, **given: Any
) -> list[str]:
    type_ = {torch.float32: "float", torch.int64: "long", torch.float16: "half", torch.bfloat16: "bfloat16"}
    text = (
        f"void f({type_[dtype]}* z, int* lock, float* x) {{\n  int pid = get_program_id(0);\n"
        f"  int i[8] = 0 ... 8;\n  {body}\n}}"
    )
    return told(
        text, torch.zeros(size, dtype=dtype), torch.zeros(2).int(), torch.arange(64.0), grid=grid, **given
    )


class TestConflicts:
    @pytest.mark.parametrize(
        "body",
        [
            "*(z + i) = pid;",
            "*(z + i) += 1;",
            "*z = -pid;",
            "if (pid > 1) *z = *(x + pid);",
            "*?(i < 4)(z + pid + i) = pid;",
            "*(z + (i + pid) % 8) = i;",
            "float nan = INFINITY - INFINITY; *z = pid == 0 ? 1 : nan;",
            "*z = pid == 0 ? 1 : INFINITY;",
        ],
    )
    def test_different_values(self, body: str) -> None:
        (said,) = [said for said in of_body(body) if "TC557" in said]
        assert said.startswith("f.c:4:")
        assert "store different values to element " in said
        assert "atomic_add; kernel.check_races finds all races" in said

    @pytest.mark.parametrize(
        "body",
        [
            "*(z + i) = 7;",
            "*(z + i) = INFINITY - INFINITY;",
            "*(z + pid) = pid;",
            "*?(i / 2 == pid)(z + i) = pid;",
            "*z = pid == 9;",
            "*(z + pid) = 0; *(z + pid) = 1; *(z + pid) += 3;",
            "*?(i == pid)(z + i) = i;",
            "atomic_add(z + i, 1);",
            # lock-ordered sums, as split-K has them
            LOCK + "*(z + i) = *(z + i) + 1; atomic_xchg(lock, 0);",
            LOCK + "*z = pid; atomic_xchg(lock, 0);",
            "if (atomic_add(lock, 1) == 3) *z = pid;",
            # overlapping tiles may round differently
            "*(z + i) = 1 + pid * 1e-6f;",
        ],
    )
    def test_no_alarm(self, body: str) -> None:
        assert of_body(body) == []

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64])
    def test_types(self, dtype: torch.dtype) -> None:
        assert "0" in of_body("*(z + i) = pid;", dtype=dtype)[0]
        assert of_body("*(z + i) = -3;", dtype=dtype) == []

    def test_integers_are_compared_exactly(self) -> None:
        assert "1000001" in of_body("*z = 1000000 + pid;", dtype=torch.int64, grid=2)[0]

    def test_once_a_place_and_only_where_checked(self) -> None:
        text = "void f(float* z) { *z = get_program_id(0); }"
        assert len(told(text, torch.zeros(1), grid=3, calls=3)) == 1
        assert told(text, torch.zeros(1), grid=3, check=False) == []
        assert told(text, torch.zeros(1), grid=1) == []

    def test_views_of_one_storage_and_ragged_grids(self) -> None:
        text = "void f(float* a, float* b) { *(get_program_id(1) ? a : b) = get_program_id(0); }"
        shared = torch.zeros(2)
        assert told(text, shared, shared, grid=(2, 2)) == []  # one of two parameters: not certain
        text = "void f(float* a, float* b) { if (get_program_id(0)) *a = 1; else *b = 2; }"
        assert "element 0 of 'b'" in told(text, shared, shared, grid=2)[0] or told(
            text, shared, shared, grid=2
        )
        assert told(text, shared[:1], shared[1:], grid=2) == []

    @pytest.mark.parametrize("cases", [CASES // 10, pytest.param(CASES, marks=pytest.mark.slow)])
    def test_generated_stores(self, cases: int) -> None:
        """Blocks at affine offsets with affine values, masked, against a count of who stores what."""
        chosen = random.Random(28)
        for _ in range(cases):
            stride, step, limit = chosen.randint(0, 5), chosen.randint(0, 2), chosen.randint(0, 5)
            by_program, by_element, grid = chosen.randint(0, 1), chosen.randint(0, 1), chosen.randint(1, 4)
            text = (
                "void f(long* z) { long p = get_program_id(0); int i[4] = 0 ... 4; "
                f"*?(i < {limit})(z + p * {stride} + i * {step}) = p * {by_program} + i * {by_element}; }}"
            )
            last: dict[int, tuple[int, int]] = {}
            expected = False
            order = range(grid)
            for program in order:
                stores: dict[int, int] = {}
                for i in range(min(4, limit)):
                    at, value = program * stride + i * step, program * by_program + i * by_element
                    if at in last and last[at] != (program, value) and last[at][1] != value:
                        expected |= last[at][0] != program
                    stores[at] = value
                last.update({at: (program, value) for at, value in stores.items()})
            if step == 0 and by_element:
                continue  # one block stores different values to one address: TC554's, and any of them may stay
            said = told(text, torch.zeros(32, dtype=torch.int64), grid=grid)
            assert any("TC557" in one for one in said) == expected, text


FILL = "void fill(float* z, int n) { int i[8] = get_program_id(0) * 8 + 0 ... 8; *?(i < n)(z + i) = 1; }"


class TestUnfinished:
    @pytest.mark.parametrize("grid", [1, 2, 3])
    def test_a_grid_that_is_too_small(self, grid: int) -> None:
        (said,) = told(FILL, torch.empty(64), 64, grid=grid, calls=2)
        assert f"note: most of 'z' was not stored: only {8 * grid} of its 64 elements were [TC558]" in said

    @pytest.mark.parametrize(
        "launch",
        [
            lambda: told(FILL, torch.empty(64), 64, grid=8),
            lambda: told(FILL, torch.empty(64), 64, grid=4),  # half
            lambda: told(FILL, torch.empty(64), 8, grid=1),  # as many as an argument says
            lambda: told(FILL, torch.empty(64)[:8], 64, grid=1),
            lambda: told(FILL, torch.empty(60).zero_().add_(1), 60, grid=1),  # changed before
            lambda: told(FILL.replace("= 1", "+= 1"), torch.zeros(64), 64, grid=1),  # read, too
            lambda: told(
                "void f(float* z, int* at, int n) { int i[8] = 0 ... 8; *(z + *(at + i)) = 1; }",
                *(torch.zeros(64), torch.arange(8).int(), 64),
                grid=1,
            ),
            lambda: told("void f(float* z, int n) { if (n < 0) *z = 1; }", torch.empty(64), 64, grid=1),
            lambda: told("void f(float* flag) { *flag = 1; }", torch.zeros(64), grid=1),
            lambda: told(  # one of several launches that fill the rows of a table
                "void f(float* z, int row, int ld) { *(z + row * ld + 0 ... 8) = 1; }",
                *(torch.empty(16, 8), 3, 8),
                grid=1,
            ),
            lambda: told(FILL, None, 64, grid=0),
            lambda: told(FILL, torch.empty(64), 64, grid=1, check=False),
        ],
    )
    def test_no_alarm(self, launch: Callable[[], list[str]]) -> None:
        assert launch() == []

    def test_a_mask_that_is_the_wrong_way_round(self) -> None:
        (said,) = told(FILL.replace("i < n", "i > n"), torch.empty(64), 64, grid=8)
        assert "only 0 of its 64" in said

    def test_without_integers(self) -> None:
        (said,) = told("void f(float* z) { *(z + 0 ... 8) = 1; }", torch.empty(64), grid=1)
        assert "only 8 of its 64" in said

    def test_in_inference_mode(self) -> None:
        with torch.inference_mode():
            assert len(told(FILL, torch.empty(64), 64, grid=1)) == 1
