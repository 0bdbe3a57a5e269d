"""The memory of a generated test is random: what a kernel may do with it is an error that a person understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from triton.runtime.errors import InterpreterError

from pytriton import PytritonWarning
from pytriton.__main__ import main
from pytriton.runtime.compare import Case, compare, ported

LOCKED = """\
__global__ void accumulate(float *C, float *X, int *TABLE, int *LOCKS, int counters) {
  int pid = get_program_id(0);
  int r[8] = 0 ... 8;
  int row = *(TABLE + 2 * pid);
  int *plock = LOCKS + *(TABLE + 2 * pid + 1);
  int *pcount = plock + counters;
  float x[8] = *(X + pid * 8 + r);
  float *pc[8] = C + row * 8 + r;
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *pc = x;
  else
    *pc = x + *pc;
  atomic_xchg(pcount, (count + 1) % 2);
  atomic_xchg(plock, 0);
}
"""
ROWS = """\
__global__ void rows(float *Y, float *X, int stride) {
  int i[8] = get_program_id(0) * stride + 0 ... 8;
  *(Y + i) = *(X + i) * 2;
}
"""
SUMS = """\
__global__ void sums(float *Y, float *X, int n) {
  int i[256] = 0 ... 256;
  float x[256] = exp(*(X + get_program_id(0) * 256 + i));
  *(Y + get_program_id(0) * 256 + i) = x / x[+];
}
"""
GRID = (4, 1, 1)
CASE = Case(defines={}, config={}, num_warps=4)


def ported_text(folder: Path, text: str, name: str) -> Any:
    """What launches a text's port."""
    (folder / f"{name}.c").write_text(text)
    assert main(["port", str(folder / f"{name}.c"), "--out", str(folder / "new")]) == 0
    return ported(folder / "new", name, name.upper(), {})


@pytest.mark.slow
def test_programs_that_share_a_lock_but_not_what_it_guards(tmp_path: Path) -> None:
    compare(LOCKED, "accumulate", ported_text(tmp_path, LOCKED, "accumulate"), CASE, 18, GRID)


@pytest.mark.slow
def test_a_lock_that_is_another_ones_counter(tmp_path: Path) -> None:
    """The second program would wait forever."""
    with pytest.warns(
        PytritonWarning, match="accumulate: a lock stays closed with 2: one program is compared"
    ):
        compare(LOCKED, "accumulate", ported_text(tmp_path, LOCKED, "accumulate"), CASE, 2, GRID)


def test_a_lock_that_even_one_program_cannot_open(tmp_path: Path) -> None:
    text = LOCKED.replace("atomic_xchg(plock, 0);", "while (atomic_cas(plock, 0, 1) == 1);")
    launch = ported_text(tmp_path, text, "accumulate")
    with pytest.raises(Exception, match="waits forever"), pytest.warns(match="a lock stays closed"):
        compare(text, "accumulate", launch, CASE, 16, GRID)


def test_sums_are_those_of_the_interpreter(tmp_path: Path) -> None:
    """As C, a kernel adds in another order; here the runner of CPU tensors is C, as it is for users."""
    compare(SUMS, "sums", ported_text(tmp_path, SUMS, "sums"), CASE, 16, GRID)


def test_every_launch_begins_with_the_same_memory(tmp_path: Path) -> None:
    """Locks and counters start at zero, whatever the launch of all programs left there."""
    launch = ported_text(tmp_path, LOCKED, "accumulate")
    found = []

    def looking(*arguments: Any, **keywords: Any) -> None:
        found.append([one.clone() for one in arguments if isinstance(one, torch.Tensor)])
        launch(*arguments, **keywords)

    with pytest.warns(PytritonWarning, match="one program is compared"):
        compare(LOCKED, "accumulate", looking, CASE, 2, GRID)
    assert len(found) == 2  # with all programs, and with one
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize(("what", "text"), [("load", ROWS), ("store", ROWS.replace("X + i", "X + i % 8"))])
def test_an_access_outside_of_the_memory(tmp_path: Path, what: str, text: str) -> None:
    launch = ported_text(tmp_path, text, "rows")
    with pytest.raises(InterpreterError, match=f"the {what} leaves the memory of the test: give it smaller"):
        compare(text, "rows", launch, CASE, 1 << 27, GRID)


@pytest.mark.slow
def test_a_wrong_module_is_caught(tmp_path: Path) -> None:
    launch = ported_text(tmp_path, ROWS, "rows")

    def adding(*arguments: Any, **keywords: Any) -> None:
        launch(*arguments, **keywords)
        arguments[0].view(-1)[3] += 1

    with pytest.raises(AssertionError, match=r"^Y\[3\] is .*, but the old source gives "):
        compare(ROWS, "rows", adding, CASE, 8, GRID)
