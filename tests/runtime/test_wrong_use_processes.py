"""Calls from threads, in forked and spawned processes, and while the interpreter shuts down."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.runtime import locks
from pytriton.runtime.locks import Lock, compiling, interpreting
from tests.processes import python
from tests.runtime.kernels import ADD
from tests.together import held, in_threads
from tests.work import PATIENCE

N = 50


def grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def added(kernel: Any, defines: dict[str, Any] | None = None) -> bool:
    x, y = torch.randn(N), torch.randn(N)
    z = torch.full((N,), torch.nan)
    with warnings.catch_warnings(action="ignore"):
        kernel(z, x, y, N, grid=grid, defines=defines)
    return torch.equal(z, x + y)


def in_a_child(work: Callable[[], bool]) -> None:
    """Fork, work, and end with whether it went well; a child that hangs fails."""
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def run(program: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "program.py"
    path.write_text(program)
    return python("-W", "ignore:pytriton runs", path, PYTRITON_CACHE_DIR=str(tmp_path / "cache"))


class TestThreads:
    def test_one_kernel(self) -> None:
        """Eight threads make plans for the same and for different defines at once."""
        kernel = pytriton.kernel(ADD)

        def work(number: int) -> None:
            for turn in range(6):
                tile = 16 << (turn + number * (number % 2)) % 3
                assert added(kernel, {"TILE": tile}), (number, tile)

        in_threads(work, range(8))
        assert len(kernel._plans) == 3

    def test_compiling_beside_interpreting(self) -> None:
        """Triton's interpreter replaces functions that its compiler reads: one waits for the other."""
        kernel = pytriton.kernel(ADD, {"TILE": 16})
        wrong: list[Any] = []
        stop = threading.Event()

        def interpret() -> None:
            while not stop.is_set():
                if not added(kernel):
                    wrong.append("sum")

        thread = threading.Thread(target=interpret)
        thread.start()
        try:
            for tile in (16, 32, 64):
                text = pytriton.kernel(ADD, {"TILE": tile}).asm("ttir", target="cuda:90")
                assert f"tensor<{tile}xf32>" in text
        finally:
            stop.set()
            thread.join(PATIENCE)
        assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
class TestFork:
    def test_known_and_new_kernels(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 16})
        assert added(kernel)
        in_a_child(lambda: added(kernel) and added(pytriton.kernel(ADD, {"TILE": 32})))
        assert added(kernel)

    def test_locks_of_other_threads(self) -> None:
        """They are open in the child, whose other threads do not exist."""
        kernel = pytriton.kernel(ADD, {"TILE": 16})
        with held(kernel._lock, kernel._plan((), None, None, None)._lock):
            in_a_child(lambda: added(kernel, {"TILE": 32}))

    def test_while_another_thread_compiles(self) -> None:
        with held(compiling()):
            in_a_child(lambda: added(pytriton.kernel(ADD, {"TILE": 16})))
        assert locks._compilers == 0

    def test_while_another_thread_interprets(self) -> None:
        """The fork waits: a child would keep the interpreter's functions in the compiler for ever."""
        order: list[str] = []

        @contextmanager
        def interpreted() -> Iterator[None]:
            with interpreting():
                yield
                order.append("interpreted")

        with held(interpreted()) as leave:
            threading.Timer(0.2, leave.set).start()
            in_a_child(lambda: "f32" in pytriton.kernel(ADD, {"TILE": 16}).asm("ttir", target="cuda:90"))
            assert order == ["interpreted"]

    def test_gpus_are_out_of_reach(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What was loaded before is forgotten in the child, not in the parent."""
        kernel = pytriton.kernel(ADD, {"TILE": [16, 32]}, device="cuda:0")
        plan = kernel._plan((), None, None, None)
        plan.first._kernels[0, ()] = "loaded"  # type: ignore[assignment]
        plan.call = lambda *_: None  # the short way

        def refused() -> bool:
            monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
            with pytest.raises(pytriton.LaunchError, match=r"add: CUDA was used before .* \[TC523\]"):
                kernel(4096, 4096, 4096, N, grid=grid)
            return not plan.first._kernels and added(kernel)

        in_a_child(refused)
        assert plan.first._kernels == {(0, ()): "loaded"}
        kernel(4096, 4096, 4096, N, grid=grid)

    def test_a_lock_is_taken_twice_by_one_thread_and_once_by_two(self) -> None:
        lock = Lock()
        seen: list[str] = []
        with lock, lock:
            thread = threading.Thread(target=lambda: [lock.__enter__(), seen.append("other")])
            thread.start()
            time.sleep(0.05)
            assert seen == []
        thread.join(PATIENCE)
        assert seen == ["other"]

    def test_a_pool(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 16})
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(added, [kernel] * 4) == [True] * 4


SPAWNED = """\
import multiprocessing, warnings, torch, pytriton
warnings.simplefilter("ignore")
kernel = pytriton.kernel('''%s''', {"TILE": 16})

def work(given):
    x = torch.arange(20.0)
    z = torch.zeros(20)
    given(z, x, x, 20, grid=2)
    kernel(x, z, z, 20, grid=2)
    return z.tolist() == [2.0 * i for i in range(20)] and x.tolist() == [4.0 * i for i in range(20)]

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [kernel] * 4))
"""


@pytest.mark.slow
def test_spawned_workers(tmp_path: Path) -> None:
    """They import the program anew, and get its kernels as pickles."""
    done = run(SPAWNED % ADD, tmp_path)
    assert done.stdout == "[True, True, True, True]\n", done.stderr[-2000:]
    assert not list((tmp_path / "cache").glob(".writing-*"))


SHUTDOWN = """\
import atexit, threading, time, torch, pytriton
from pytriton.tuning.measure import compile_all
known = pytriton.kernel('''%s''', {"TILE": 16})

def call(name, kernel):
    x = torch.arange(20.0)
    z = torch.zeros(20)
    kernel(z, x, x, 20, grid=2)
    print(name, z.tolist() == [2.0 * i for i in range(20)], flush=True)

call("before", known)

class Late:
    def __del__(self):
        call("del", known)

late = Late()
latest = Late()  # lives until all modules are taken apart

def at_exit():
    global late
    late = None
    call("exit, known", known)
    call("exit, new", pytriton.kernel('''%s''', {"TILE": 32}))
    print("exit, compiled", [made for _, made in compile_all([("a", lambda: 1), ("b", lambda: 2)])], flush=True)

atexit.register(at_exit)

def daemon():
    while True:
        x = torch.arange(20.0)
        known(torch.zeros(20), x, x, 20, grid=2)

threading.Thread(target=daemon, daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.slow
def test_while_the_interpreter_shuts_down(tmp_path: Path) -> None:
    """In atexit, in ``__del__``, and beside a daemon thread that never stops: it ends, and in time."""
    done = run(SHUTDOWN % (ADD, ADD), tmp_path)
    assert done.stdout.splitlines() == [
        "before True",
        "del True",
        "exit, known True",
        "exit, new True",
        "exit, compiled [None, None]",
    ], done.stderr[-3000:]
    if done.returncode == -signal.SIGABRT:
        # Python ends a daemon thread by unwinding its stack, which torch's C++ does not survive in every place.
        assert done.stderr == "terminate called without an active exception\n"
        return
    assert done.returncode == 0
    # The last moment, when Python cannot import any more, is too late for Triton's interpreter, and it says so.
    assert done.stderr == "" or "shutting down" in done.stderr
