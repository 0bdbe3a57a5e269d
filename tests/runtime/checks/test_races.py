"""``kernel.check_races``: finds what two programs, or two elements of a block, do in no order, and nothing else."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.checks.shadow import AccessKind, AccessShadow, Clash
from tests.runtime.checks.recording import QUICK, Recorded, recorded

LOCK = "for (int r = 1; r == 1; r = atomic_cas(lock, 0, 1)); "


def check(body: str, grid: Any = (3,), *, size: int = 64, **tensors: torch.Tensor) -> None:
    """Check a kernel of this body, with x, z, lock and count."""
    text = (
        f"void f(float* x, float* z, int* lock, int* count) {{\n  int pid = get_program_id(0);\n"
        f"  int i[8] = 0 ... 8;\n  {body}\n}}"
    )
    given = {
        "x": torch.arange(float(size)),
        "z": torch.zeros(size),
        "lock": torch.zeros(4).int(),
        "count": torch.zeros(4).int(),
        **tensors,
    }
    before = {name: tensor.clone() for name, tensor in given.items()}
    try:
        pytriton.kernel(text, name="f.c").check_races(*given.values(), grid=grid)
    finally:
        assert all(torch.equal(given[name], tensor) for name, tensor in before.items()), "it changes nothing"


def race(body: str, grid: Any = (3,), **more: Any) -> str:
    with pytest.raises(LaunchError) as caught:
        check(body, grid, **more)
    return str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "*(z + pid * 8 + i) = *(x + i);",
        "*(z + pid) = pid; *(z + pid) = *(z + pid) + 1;",
        "*?(i < 4)(z + pid * 4 + i) = i;",
        "if (pid == 1) *z = 1;",
        "atomic_add(z + i, 1);",
        "int old = atomic_xchg(count, pid);",
        LOCK + "*z = *z + 1; atomic_xchg(lock, 0);",
        # who is last does the rest: it knows of all others by the counter
        "*(z + pid * 8 + i) = i; if (atomic_add(count, 1) == 2) *(z + 32 + i) = *(z + i) + *(z + 16 + i);",
        # two locks, each for its own element
        "int* mine = lock + pid % 2; for (int r = 1; r == 1; r = atomic_cas(mine, 0, 1)); "
        "*(z + pid % 2) = pid; atomic_xchg(mine, 0);",
    ],
)
def test_nothing_is_said_where_there_is_an_order(body: str) -> None:
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        check(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("*z = pid;", "programs (0, 0, 0) and (1, 0, 0) both store to element 0 of 'z'"),
        ("*(z + pid * 6 + i) = i;", "programs (0, 0, 0) and (1, 0, 0) both store to element 6 of 'z'"),
        (
            "*(z + pid) = *(z + pid + 1);",
            "program (1, 0, 0) stores to element 1 of 'z', which program (0, 0, 0) loads",
        ),
        (
            "*(z + pid + 1) = *(z + pid);",
            "program (1, 0, 0) loads element 1 of 'z', which program (0, 0, 0) stores",
        ),
        (
            "if (pid == 2) *count = 1; else atomic_add(count, 1);",
            "program (2, 0, 0) stores to element 0 of 'count', which program (1, 0, 0) changes by an atomic",
        ),
        # the lock is released before what it guards
        (LOCK + "float y = *z; atomic_xchg(lock, 0); *z = y + 1;", "both store to element 0 of 'z'"),
        # no program waits for the counter, so the order that it makes is that of this one run
        (
            "if (pid == 0) *z = 1; atomic_add(count, 1); if (pid == 1) *(z + 8) = *z;",
            "program (0, 0, 0) stores to element 0 of 'z', which program (1, 0, 0) loads",
        ),
        # a lock for each program orders nothing
        (
            "for (int r = 1; r == 1; r = atomic_cas(lock + pid, 0, 1)); *z = pid;",
            "both store to element 0 of 'z'",
        ),
        # a third reader
        ("if (pid < 2) *(z + 8 + pid) = *z; else *z = 1;", "program (2, 0, 0) stores to element 0 of 'z'"),
    ],
)
def test_programs_that_meet(body: str, said: str) -> None:
    text = race(body)
    assert said in text
    assert "[TC553]" in text


@pytest.mark.parametrize("width", ["char", "short", "int", "long"])
def test_elements_of_other_widths_meet(width: str) -> None:
    body = f"if (pid) *(({width}*)z + 8 / sizeof({width}) - 1) = 1; else *(z + 1) = 2;"
    if width == "long":
        body = "if (pid) *(long*)z = 1; else *(z + 1) = 2;"
    assert "programs (0, 0, 0) and (1, 0, 0) both store" in race(body, (2,))
    check(body.replace("*(z + 1) = 2", "*(z + 2) = 2"), (2,))


def test_pointers_that_were_loaded() -> None:
    cells = torch.zeros(4)
    table = torch.tensor([cells.data_ptr(), cells.data_ptr() + 4, cells.data_ptr()])
    text = "void f(float** table) { float* p = *(table + get_program_id(0)); *p = 1; }"
    kernel = pytriton.kernel(text)
    kernel.check_races(table, grid=(2,))
    with pytest.raises(LaunchError, match=r"programs \(0, 0, 0\) and \(2, 0, 0\) both store to memory at 0x"):
        kernel.check_races(table, grid=(3,))


def test_views_of_one_tensor() -> None:
    whole = torch.zeros(64)
    body = "if (pid == 0) *(z + i) = 1; else *(x + i) = 2;"
    check(body, (2,), x=whole[:8], z=whole[8:])
    assert "both store to element 1 of 'x'" in race(body, (2,), x=whole[4:], z=whole[5:13])


def test_every_axis_of_the_grid() -> None:
    index = "get_program_id(0) + 2 * get_program_id(1)"
    assert "programs (0, 0, 0) and (0, 0, 1) both store" in race(f"*(z + {index}) = 1;", (2, 3, 4))
    check(f"*(z + {index} + 6 * get_program_id(2)) = 1;", (2, 3, 4))


class TestBlocks:
    def test_different_values_for_one_address(self) -> None:
        text = race("*(z + pid * 8 + i / 2) = i;")
        assert "race: elements [0] and [1] of a block store 0.0 and 1.0 to element 0 of 'z' [TC554]" in text

    def test_of_rows_and_columns(self) -> None:
        text = race("*(z + i[:, newaxis] * 4 + i[newaxis, :]) = i[:, newaxis] * 8 + i[newaxis, :];", (1,))
        assert "elements [0, 4] and [1, 0] of a block store 4.0 and 8.0 to element 4 of 'z'" in text

    def test_equal_values_are_a_note(self) -> None:
        with pytest.warns(RuntimeWarning, match="note: elements .* of a block both store 2.0") as told:
            check("*(z + pid * 8 + i / 4) = 2 + i / 4;")
        assert "TC554" in str(told[-1].message)

    def test_masked_elements_are_none(self) -> None:
        check("*?(i % 2 == 0)(z + pid * 8 + i / 2) = i;")

    def test_atomics_come_in_any_order(self) -> None:
        check("atomic_add(z + i / 2, 1);")


def test_the_message() -> None:
    assert race("*(z + pid * 8 + i) = *(x + i);\n  *(x + pid * 8 + 6 + i) = 2;") == (
        "f.c:4:24: error: race: program (1, 0, 0) loads element 6 of 'x', which program (0, 0, 0) stores, "
        "in no order [TC553]\n"
        "    4 |   *(z + pid * 8 + i) = *(x + i);\n"
        "      |                        ^~~~~~~~\n"
        "note: in a grid of (3, 1, 1), element [6] of the block [8]; 1 more element, in 3 programs\n"
        "f.c:5:3: note: program (0, 0, 0) does it here\n"
        "    5 |   *(x + pid * 8 + 6 + i) = 2;\n"
        "      |   ^~~~~~~~~~~~~~~~~~~~~~\n"
        "help: let another launch read what this one writes, write to another tensor, or order the programs by a "
        "lock: atomic_cas before, atomic_xchg after"
    )


class TestWaiting:
    """Programs start in the order of their numbers, so one may wait for an earlier one, but not for a later one."""

    @pytest.mark.parametrize(
        "wait",
        ["while (atomic_add(count, 0) < pid);", "while (atomic_cas(count, -1, 0) != pid);"],
    )
    def test_for_an_earlier_program_is_legal(self, wait: str) -> None:
        check(f"{wait} *z = *z + pid; atomic_add(count, 1);", (4,))

    def test_for_a_later_one_is_not(self) -> None:
        said = race("while (atomic_add(count, 0) < 2 - pid); *z = *z + pid; atomic_add(count, 1);")
        assert "program (0, 0, 0) waits forever: element 0 of 'count' is 0" in said
        assert "[TC555]" in said

    def test_a_plain_flag_is_a_race(self) -> None:
        assert "[TC553]" in race("while (*count < pid); *count = pid + 1;")

    def test_a_race_of_programs_that_wait(self) -> None:
        body = "while (atomic_add(count, 0) < pid); atomic_add(count, 1); *z = *z + pid;"
        assert "race: program (1, 0, 0) loads element 0 of 'z'" in race(body)

    def test_the_first_axis_is_the_fastest(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTRITON_CC", "none")
        number = "int number = get_program_id(0) + 2 * (get_program_id(1) + 3 * get_program_id(2)); "
        body = number + "while (atomic_add(count, 0) < number); *z = *z + number; atomic_add(count, 1);"
        check(body, (2, 3, 2))
        order = number + "*(z + atomic_add(count, 1)) = number;"
        z = torch.zeros(64)
        text = f"void f(float* z, int* count) {{ {order} }}"
        pytriton.kernel(text)(z, torch.zeros(1).int(), grid=(2, 3, 2))
        assert z[:12].tolist() == list(range(12))


def test_prints_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    check('*(z + pid) = 1; printf("%d ", pid);')
    assert capsys.readouterr().out == "0 1 2 "


def test_an_access_outside_is_told_of_first() -> None:
    assert "store outside 'z': 1 element past the end [TC550]" in race("*(z + 64) = pid;")


class TestShadow:
    """The shadow itself, access by access."""

    def shadow(self, *touched: tuple[int, AccessKind, int], programs: int = 4) -> list[Clash]:
        """Programs touch elements of 4 bytes in this order; what the last access meets."""
        shadow = AccessShadow(4, programs)
        clashes: list[Clash] = []
        for site, (program, kind, element) in enumerate(touched):
            clashes = shadow.touched(program, site, kind, numpy.array([4096 + 4 * element]), 4)
        return clashes

    def test_atomics_hand_on_what_is_known(self) -> None:
        chain: list[tuple[int, AccessKind, int]] = [
            (0, "store", 0),
            (0, "atomic", 9),
            (1, "atomic", 9),
            (1, "atomic", 8),
        ]
        assert self.shadow(*chain, (2, "atomic", 8), (2, "store", 0)) == []
        assert len(self.shadow(*chain, (2, "atomic", 7), (2, "store", 0))) == 1

    def test_what_a_program_does_after_its_atomic_is_not_known(self) -> None:
        chain: list[tuple[int, AccessKind, int]] = [(0, "atomic", 9), (0, "store", 0), (1, "atomic", 9)]
        (clash,) = self.shadow(*chain, (1, "load", 0))
        assert (clash.before.site, clash.after.site) == (1, 3)

    def test_elements_that_nobody_named_get_a_place(self) -> None:
        shadow = AccessShadow(4, 2)
        for at in (4092, 8000, 12292, 1 << 40):
            assert shadow.touched(0, 0, "store", numpy.array([at, 4096]), 4) == []
        (clash,) = shadow.touched(1, 1, "store", numpy.array([12292, 4092, 4096, 8004]), 4)
        assert clash.places.tolist() == [0, 1, 2]


def silent(launch: Recorded) -> None:
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        warnings.filterwarnings("ignore", message=r"(?s).*\[TC508\]")  # some break a promise
        launch.made().check_races(*launch.arguments, grid=launch.grid)


def test_quick_examples_have_no_races() -> None:
    for launch in recorded(QUICK):
        silent(launch)


@pytest.mark.slow
def test_no_example_and_no_package_has_races() -> None:
    checked = [launch for launch in recorded() if launch.has_memory]
    assert len(checked) > 50
    for launch in checked:
        silent(launch)


@pytest.mark.slow
def test_an_empty_segment_of_a_block_sparse_product() -> None:
    """As packages of 2020 made their tables: a second segment without steps for a short row, and without a lock."""
    launch = next(x for x in recorded(("blocksparse_matmul",)) if x.label.endswith("dsd_nn"))
    silent(launch)
    at = launch.names.index("TABLE")
    table = launch.arguments[at].clone()
    last = 8 * (launch.grid[0] - 1)
    table[last : last + 8] = table[:8]  # another segment of the first row,
    table[last + 2] = 0  # which has no steps
    table[last + 6] = 1  # and does not know of the other
    arguments = [*launch.arguments[:at], table, *launch.arguments[at + 1 :]]
    with pytest.raises(LaunchError, match="both store to element 0 of 'C', in no order"):
        launch.made().check_races(*arguments, grid=launch.grid)
