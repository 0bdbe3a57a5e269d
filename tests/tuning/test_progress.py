"""What a user sees of tuning: on a terminal, in a file, and not at all."""

from __future__ import annotations

import io
import itertools
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import pytriton
from pytriton.runtime.native import spread
from pytriton.runtime.options.defines import Config, product
from pytriton.tuning.display import Progress, pinning
from pytriton.tuning.record import Question

POINTS = product({"TM": (64, 128), "TN": 64, "TYPE": "half"}, [4, 8], None)
ASKED = Question("dot", "", {}, "NVIDIA H200, 132 multiprocessors", {"M": 4096, "K": 64})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is 1.3 s later."""
    seconds = itertools.count(100.0, 1.3)
    monkeypatch.setattr("pytriton.tuning.display.time", SimpleNamespace(perf_counter=lambda: next(seconds)))


def shown(stream: io.StringIO, question: Question | None = ASKED) -> str:
    progress = Progress("dot", POINTS, stream)
    progress.expect(4)
    progress.tell(POINTS[0], 0.5)
    progress.tell(POINTS[1], "it needs 300000 of shared memory [TC531]")
    progress.racing(2, 0.25)
    progress.tell(POINTS[2], 0.25, finalist=True)
    progress.end([POINTS[2]], {POINTS[2]: 0.25}, question)
    return stream.getvalue()


def test_a_file() -> None:
    """One line a sweep."""
    text = shown(io.StringIO())
    assert text.count("\n") == 1
    assert text.startswith("pytriton.kernel(src, ")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_line_a_point(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]) -> None:
    monkeypatch.setenv("PYTRITON_PROGRESS", "1")
    *lines, last = shown(stream()).splitlines()
    assert lines == [
        "[1/4] TM=64 num_warps=4 ... 0.500 ms best 0.500 ms",
        "[2/4] TM=64 num_warps=8 ... it needs 300000 of shared memory [TC531] best 0.500 ms",
        "[3/4] TM=128 num_warps=4 ... 0.250 ms (finalist) best 0.250 ms",
    ]
    code, comment = last.split("  # ")
    assert code == "pytriton.kernel(src, defines={'TM': 128, 'TN': 64, 'TYPE': 'half'}, num_warps=4)"
    assert comment == "dot: 0.250 ms, best of 3 in 1.3 s, NVIDIA H200, 132 multiprocessors, M=4096, K=64"


@pytest.mark.parametrize(("first", "second", "said"), [(4, 8, "more warps"), (4, 4, "more memory")])
def test_a_cheaper_one_than_the_fastest(first: int, second: int, said: str) -> None:
    stream = io.StringIO()
    choice, fastest = Config({"TM": 64}, first), Config({"TM": 128}, second)
    Progress("dot", POINTS, stream).end([choice, fastest], {choice: 1.003, fastest: 1.0}, None)
    assert f"(one with {said} is 0.3% faster, too little to tell)" in stream.getvalue()


def test_a_terminal() -> None:
    """A bar, written over and over; only the last line stays."""
    pytest.importorskip("tqdm")
    text = shown(Terminal())
    assert text.count("\n") == 1
    *parts, last = text.split("\r")
    assert any("dot:" in part and "0/4" in part and "compiling 4" in part for part in parts)
    assert any("timing 2, best 0.250 ms" in part for part in parts)
    assert last.startswith("pytriton.kernel(src, ")


def test_a_grid_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar that counts programs, once two seconds are over."""
    tqdm = pytest.importorskip("tqdm")
    monkeypatch.setattr(spread, "UNSHOWN", 0)
    text = "void fill(float* z) { *(z + get_program_id(0)) = 1; }"
    counts = set()
    monkeypatch.setattr(tqdm.tqdm, "close", lambda self: counts.add((self.desc, self.n, self.total)))
    monkeypatch.setattr("sys.stderr", Terminal())
    pytriton.kernel(text)(torch.zeros(12), grid=(4, 3))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    pytriton.kernel(text.replace("fill", "unseen"))(torch.zeros(12), grid=(4, 3))
    assert counts == {("fill on the CPU", 12, 12)}


def test_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_PROGRESS", "0")
    assert shown(io.StringIO()) == ""
    assert shown(Terminal()) == ""


def test_no_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under pythonw, or in a daemon that closed its streams."""
    monkeypatch.setattr("sys.stderr", None)
    Progress("dot", POINTS).tell(POINTS[0], 1.0)
    closed = io.StringIO()
    progress = Progress("dot", POINTS, closed)
    closed.close()
    progress.tell(POINTS[0], 1.0)
    progress.end([POINTS[0]], {POINTS[0]: 1.0}, None)


TEXT = """\
__global__ void f(TYPE* z, int n) {
  int r[TILE] = get_program_id(0) * TILE + get_program_id(1) + 0 ... TILE;
  *?(r < n)(z + r) = 1;
}"""


@pytest.mark.parametrize(
    "config",
    [
        Config({"TILE": 32, "TYPE": "float"}, 2),
        Config({"TILE": "32", "TYPE": "float", "X": 1.5, "Y": True}, 8, 3),
        Config({"TILE": 32, "TYPE": "float"}, 8, 3, "bf16x6"),
        Config({"TILE": 32, "TYPE": "float"}, swizzle=8),
        Config({"TILE": 32, "TYPE": "float"}, 8, 5, "tf32", swizzle=8),
        Config({"TILE": 32, "TYPE": "float"}, 4, 3, descriptors=True),
    ],
    ids=repr,
)
def test_the_line_pins(config: Config) -> None:
    """Executed, it makes a kernel whose only point is the winner."""
    made: Any = eval(pinning(config), {"pytriton": pytriton, "src": TEXT})
    assert made._definition.configs({}, None, None) == (config,)


def test_a_dtype_is_python_too() -> None:
    config = Config({"TILE": 16, "TYPE": torch.float16})
    made = eval(pinning(config), {"pytriton": pytriton, "src": TEXT, "torch": torch})
    assert made._definition.configs({}, None, None) == (config,)
