"""The memory of a generated test is random: what only the order of programs decides must not be compared on a GPU.

The GPU's place is taken by Triton's interpreter with the programs in the opposite order, which is an order that a
GPU may take. The first kernel is what the generated test of ``examples/blocksparse_matmul.py`` met on an H200: its
table gave two programs one lock but two tiles, and "the first of those that share this tile" was another one there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from triton.runtime.interpreter import InterpreterBuilder

from pytriton.__main__ import main
from pytriton.pipeline import Translation
from pytriton.port import equivalence as compare_module
from pytriton.port.equivalence import Case, Machine, compare, ported

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
IN_PLACE = ROWS.replace("float *Y, float *X", "float *X").replace("Y", "X")
SHIFTED = """\
__global__ void shifted(float *Y, float *Z, int stride) {
  int i[8] = get_program_id(0) * 8 + 0 ... 8;
  *(Y + i * stride) = i;
  *(Z + i) = *(Y + i * stride);
}
"""
HISTOGRAM = """\
__global__ void histogram(int *BINS, int *X, int n) {
  int i[8] = get_program_id(0) * 8 + 0 ... 8;
  atomic_add(BINS + *(X + i), 1);
}
"""
SLOTS = """\
__global__ void slots(int *NEXT, float *Y, int n) {
  int slot = atomic_add(NEXT, 1);
  *(Y + slot) = get_program_id(0);
}
"""
GRID = (4, 1, 1)


@contextmanager
def opposite(made: Translation, largest: int) -> Iterator[list[tuple[int, int, int]]]:
    """The interpreter, with the last program first."""
    place = InterpreterBuilder.set_grid_idx

    def from_behind(builder: Any, *at: int) -> None:
        place(builder, *(size - 1 - one for size, one in zip(builder.grid_dim, at, strict=True)))

    InterpreterBuilder.set_grid_idx = from_behind
    try:
        with compare_module._interpreted(made, largest) as grids:
            yield grids
            launched.extend(grids)
    finally:
        InterpreterBuilder.set_grid_idx = place


launched: list[tuple[int, int, int]] = []  # the grids of the machine
MACHINE = Machine("in the opposite order, ", "cpu", opposite)
CASE = Case(defines={}, config={}, num_warps=4)


def ported_text(folder: Path, text: str, name: str) -> Any:
    """What launches a text's port."""
    (folder / f"{name}.c").write_text(text)
    out = folder / f"new{len(list(folder.glob('new*')))}"
    assert main(["port", str(folder / f"{name}.c"), "--out", str(out)]) == 0
    return ported(out, name, name.upper(), {})


def compared(folder: Path, text: str, name: str, sizes: Any) -> list[tuple[int, int, int]]:
    """Compare; the grids that were launched in the opposite order."""
    launched.clear()
    compare(text, name, ported_text(folder, text, name), CASE, sizes, GRID, MACHINE)
    return list(launched)


@pytest.mark.parametrize("sizes", [18, 22, 23, 24])
def test_programs_that_share_a_lock_but_not_what_it_guards(tmp_path: Path, sizes: int) -> None:
    assert compared(tmp_path, LOCKED, "accumulate", sizes) == [(1, 1, 1)]


def test_a_lock_for_each_program(tmp_path: Path) -> None:
    assert compared(tmp_path, LOCKED, "accumulate", 16) == [GRID]


def test_a_lock_that_is_another_ones_counter(tmp_path: Path) -> None:
    """The second program would wait for ever."""
    with pytest.warns(UserWarning, match="accumulate: a lock stays closed with"):
        assert compared(tmp_path, LOCKED, "accumulate", 2) == [(1, 1, 1)]


def test_a_lock_that_even_one_program_cannot_open(tmp_path: Path) -> None:
    text = LOCKED.replace("atomic_xchg(plock, 0);", "while (atomic_cas(plock, 0, 1) == 1);")
    with pytest.raises(Exception, match="waits forever"), pytest.warns(match="a lock stays closed"):
        compared(tmp_path, text, "accumulate", 16)


def test_programs_that_do_not_meet_all_run(tmp_path: Path) -> None:
    assert compared(tmp_path, ROWS, "rows", 8) == [GRID]
    assert compared(tmp_path, IN_PLACE, "rows", 8) == [GRID]


def test_what_two_programs_write_is_not_compared(tmp_path: Path) -> None:
    assert compared(tmp_path, ROWS.replace("* 2", "+ get_program_id(0)"), "rows", 7) == [GRID]


def test_a_program_that_reads_what_another_one_wrote(tmp_path: Path) -> None:
    assert compared(tmp_path, IN_PLACE, "rows", 7) == [(1, 1, 1)]


def test_atomics_meet_only_where_their_old_values_are_used(tmp_path: Path) -> None:
    assert compared(tmp_path, HISTOGRAM, "histogram", 8) == [GRID]
    assert compared(tmp_path, SLOTS, "slots", 8) == [(1, 1, 1)]


def test_a_load_of_what_one_store_wrote_twice(tmp_path: Path) -> None:
    assert compared(tmp_path, SHIFTED, "shifted", 1) == [GRID]
    with pytest.warns(UserWarning, match="reads what one store wrote twice"):
        assert compared(tmp_path, SHIFTED, "shifted", 0) == []


def test_every_launch_begins_with_the_same_memory(tmp_path: Path) -> None:
    """Locks and counters start at zero on the GPU, too, whatever the interpreter's launches left there."""
    launch = ported_text(tmp_path, LOCKED, "accumulate")
    found = []

    def looking(*arguments: Any, **keywords: Any) -> None:
        found.append([one.clone() for one in arguments if isinstance(one, torch.Tensor)])
        launch(*arguments, **keywords)

    compare(LOCKED, "accumulate", looking, CASE, 18, GRID, MACHINE)
    assert len(found) == 3  # the interpreter with all programs and with one, then the machine
    assert all(torch.equal(one, first) for other in found for one, first in zip(other, found[0], strict=True))


def test_a_wrong_module_is_caught_on_the_machine_too(tmp_path: Path) -> None:
    launch = ported_text(tmp_path, ROWS, "rows")

    @contextmanager
    def adding(made: Translation, largest: int) -> Iterator[list[tuple[int, int, int]]]:
        with compare_module._interpreted(made, largest) as grids:
            yield grids
        written.view(-1)[3] += 1  # a machine that computes something else

    def looking(*arguments: Any, **keywords: Any) -> None:
        nonlocal written
        written = arguments[0]
        launch(*arguments, **keywords)

    written = torch.empty(0)
    with pytest.raises(AssertionError, match=r"elsewhere, Y\[3\] is"):
        compare(ROWS, "rows", looking, CASE, 8, GRID, Machine("elsewhere, ", "cpu", adding))
