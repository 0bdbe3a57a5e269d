"""Programs in C that wait for each other: their tails take turns, whatever the number of threads."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.interpret import interpreter
from pytriton.runtime.native.c_compiler import NoLibrary, find
from tests.native.interrupts import interrupted

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")

WAIT = "while (atomic_cas(lock, 0, 1) == 1);"
FREE = "atomic_xchg(lock, 0);"


@pytest.fixture(params=["1", "2", "4"], autouse=True)
def in_c(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CC", "cc")
    monkeypatch.setenv("PYTRITON_THREADS", request.param)
    monkeypatch.setattr(interpreter.Interpreted, "run", None)


def stuck(body: str, lock: torch.Tensor, grid: int = 40) -> tuple[str, list[int]]:
    """The first line of the error, and what was stored before."""
    z = torch.zeros(grid).int()
    text = f"void f(int *z, int *lock) {{ int pid = get_program_id(0); {body} }}"
    with pytest.raises(LaunchError) as caught:
        pytriton.kernel(text, name="f.c")(z, lock, grid=grid)
    return str(caught.value).split("\n")[0], z.tolist()


def test_a_lock_that_is_kept() -> None:
    """Those before it ran, and no later one."""
    lock = torch.zeros(1).int()
    message, z = stuck(f"{WAIT} *(z + pid) = 1; if (pid != 17) {FREE}", lock)
    assert message == (
        "f.c:1:1: error: program (18, 0, 0) waits forever: element 0 of 'lock' is 1, and no program is left to "
        "change it [TC555]"
    )
    assert z == [1] * 18 + [0] * 22


@pytest.mark.parametrize(
    "body",
    [
        "while (atomic_add(lock, 0) < 20 - pid); *(z + pid) = 1; atomic_add(lock, 1);",  # for a later one
        "atomic_add(lock, 1); while (*lock < 40); *(z + pid) = 1;",  # a barrier of all programs
        "for (int k = 0; k < 3; k += 1) while (*(lock + k) == 0); *(z + pid) = 1;",
        "while ((*(lock + 0 ... 4))[+] == 0); *(z + pid) = 1;",
        "while (atomic_add(lock + 0 ... 4, 0)[+] == 0); *(z + pid) = 1;",
        "int x; while (*lock < 40) { int y = x; x = 1 - y; } *(z + pid) = 1;",
    ],
)
def test_what_never_comes(body: str) -> None:
    message, z = stuck(body, torch.zeros(4).int())
    assert "program (0, 0, 0) waits forever: element 0 of 'lock' is" in message
    assert sum(z) == 0


def test_the_type_of_what_is_read() -> None:
    for dtype, word, value in (
        (torch.float32, "float", "0.5"),
        (torch.int64, "long", str(1 << 40)),
        (torch.bfloat16, "bfloat16", "0.5"),
        (torch.uint8, "unsigned char", "200"),
    ):
        text = f"void f({word} *p) {{ while (*(p + 1) != 0); }}"
        p = torch.tensor([float(value)] * 2).to(dtype)
        with pytest.raises(LaunchError, match=rf"element 1 of 'p' is {value}, and"):
            pytriton.kernel(text)(p, grid=3)


def test_programs_take_turns() -> None:
    """1,000 launches: heads run at once, tails by number."""
    text = f"""void f(float *x, int *log, int *lock, int *count) {{
      int pid = get_program_id(0);
      float s = (*(x + 0 ... 256))[+];
      {WAIT}
      int n = *count;
      *(log + n) = pid + (s == 256 ? 0 : 100);
      *count = n + 1;
      {FREE}
    }}"""
    kernel = pytriton.kernel(text, check=False)
    x, lock, count = torch.ones(256), torch.zeros(1).int(), torch.zeros(1).int()
    for _ in range(1000):
        log = torch.full((17,), -1).int()
        kernel(x, log, lock, count.zero_(), grid=17)
        assert log.tolist() == list(range(17))


def test_an_early_end_passes_the_turn_on() -> None:
    text = f"""void f(int *z, int *lock) {{
      if (get_program_id(0) % 3 == 0) return;
      {WAIT} *z = *z + 1; {FREE}
    }}"""
    z = torch.zeros(1).int()
    pytriton.kernel(text)(z, torch.zeros(1).int(), grid=30)
    assert z.item() == 20


@pytest.mark.parametrize("body", ["int k = 0; while (*lock == 0) k += 1;", "while (*lock == 0) *z = 1;"])
def test_an_interrupt_ends_a_wait_that_changes_something(body: str) -> None:
    z, lock = torch.zeros(1).int(), torch.zeros(1).int()
    kernel = pytriton.kernel(f"void f(int *z, int *lock) {{ *z = 1; {body} }}")
    with interrupted(z):
        kernel(z, lock, grid=100)
