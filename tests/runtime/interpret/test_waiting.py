"""A program on the CPU that waits forever ends in an error; one that gets on, however slowly, does not.

By the interpreter, and in C by one thread and by several.
"""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.interpret.waiting import MIN_READS
from pytriton.runtime.native.c_compiler import NoLibrary, find

NEVER = (
    "note: programs run one after another on the CPU: those before it have ended, those after it wait for it"
)


@pytest.fixture(params=["interpreter", "1", "2", "4"], autouse=True)
def runner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs the kernels: the interpreter, or so many threads."""
    monkeypatch.setenv("PYTRITON_CC", "none" if request.param == "interpreter" else "cc")
    monkeypatch.setenv("PYTRITON_THREADS", request.param)
    if request.param != "interpreter" and isinstance(find(), NoLibrary):
        pytest.skip("needs a C compiler")


def run(body: str, held: int = 1, check: bool | None = None) -> torch.Tensor:
    """Two programs; the lock holds a number that only they change."""
    text = f"void f(int* z, int* lock, int n) {{\n  {body}\n  *z = *z + 1;\n}}"
    z, lock = torch.zeros(4).int(), torch.tensor([held, 0]).int()
    pytriton.kernel(text, name="f.c", check=check)(z, lock, 2 * MIN_READS, grid=2)
    return z


@pytest.mark.parametrize("check", [None, False])
@pytest.mark.parametrize(
    "body",
    [
        "while (atomic_cas(lock, 0, 1) == 1);",
        "for (int r = 1; r == 1; r = atomic_cas(lock, 0, 1));",
        "for (;;) { if (atomic_cas(lock, 0, 1) == 0) break; }",
        "while (atomic_xchg(lock, 1));",
        "while (atomic_add(lock, 0) != 0);",
        "while (*lock != 0);",
        "do { while (*(lock + 1) == 1); } while (atomic_cas(lock, 0, 1));",
        "int tries = 0; while (atomic_cas(lock, 0, 1)) tries = (tries + 1) % 7;",
        "int x[16] = 0 ... 16; while (*lock) x = 15 - x;",
    ],
)
@pytest.mark.sampled(2)
def test_who_waits_for_ever_is_told(body: str, check: bool | None) -> None:
    with pytest.raises(LaunchError) as caught:
        run(body, check=check)
    first, line, _, note, _ = str(caught.value).split("\n")
    lock = "a lock" if check is False else "element 0 of 'lock'"
    if "do {" not in body:  # that reads two
        assert first == (
            f"f.c:2:3: error: program (0, 0, 0) waits forever: {lock} is 1, "
            "and no program is left to change it [TC555]"
        )
    assert line == f"    2 |   {body}"
    assert note == NEVER


def test_a_lock_that_is_not_released() -> None:
    with pytest.raises(LaunchError, match=r"program \(1, 0, 0\) waits forever: element 0 of 'lock' is 1"):
        run("while (atomic_cas(lock, 0, 1) == 1);", held=0)


@pytest.mark.parametrize("check", [None, False])
@pytest.mark.parametrize(
    "body",
    [
        "while (atomic_cas(lock, 0, 1) == 1); atomic_xchg(lock, 0);",
        # tries that are counted
        "for (int k = 0; k < n; k += 1) atomic_cas(lock, 7, 1);",
        "int k = 0; while (k < n) k += 1 + *(lock + 1);",
        # a loop that changes nothing but what it reads next
        "int s = 0; for (int k = 0; k < n; k += 1) s += *(lock + 1);",
        # a counter in memory: all variables stay as they are
        "while (*(z + 1) < n) *(z + 1) = *(z + 1) + 1;",
        "while (atomic_add(z + 2, 1) < n);",
    ],
)
@pytest.mark.sampled(2)
def test_who_gets_on_is_left_alone(body: str, check: bool | None) -> None:
    assert int(run(body, held=0, check=check)[0]) == 2


def test_programs_that_do_the_same_are_not_one_that_waits() -> None:
    text = "void f(int* x, int n) { int y = *x; if (y == 3) *x = 7; }"
    x = torch.ones(1).int()
    pytriton.kernel(text)(x, 1, grid=3 * MIN_READS)
    assert int(x) == 1
