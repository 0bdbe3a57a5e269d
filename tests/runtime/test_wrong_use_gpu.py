"""Wrong use and rare use on a GPU: huge tensors, the limits of grids, launches that fail, memory that is freed.

What poisons the CUDA context happens in a process of its own.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from tests.processes import python
from tests.runtime.kernels import ADD, greedy
from tests.together import in_threads

pytestmark = pytest.mark.gpu

COUNT = "__global__ void count(int* z) { atomic_add(z, 1); }"
N = 1000


def grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def added(kernel: Any, device: str = "cuda") -> None:
    """One call, checked."""
    x, y = torch.randn(N, device=device), torch.randn(N, device=device)
    z = torch.full((N,), torch.nan, device=device)
    kernel(z, x, y, N, grid=grid)
    assert torch.equal(z, x + y)


def run(program: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, from the repository's root."""
    path = tmp_path / "program.py"
    path.write_text(program)
    return python(path)


class TestHuge:
    """More than 2^31 elements: an int cannot count them, a long can."""

    COPY = """\
__global__ void copy(char* z, char* x __readonly, INDEX n) {
  long r[TILE] = (long)get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(x + r) + 1;
}
"""

    def test_elements(self) -> None:
        n = 2**31 + 12345
        x = torch.randint(-100, 100, (n,), dtype=torch.int8, device="cuda")
        z = torch.zeros(n + 7, dtype=torch.int8, device="cuda")
        kernel = pytriton.kernel(self.COPY, {"TILE": 8192, "INDEX": "long"})
        kernel(z, x, n, grid=lambda opt: (pytriton.cdiv(n, opt.TILE),))
        assert torch.equal(z[:n], x.add_(1))
        assert not z[n:].any()

    def test_an_int_that_cannot_count_them(self) -> None:
        x = torch.zeros(1, dtype=torch.int8, device="cuda")
        kernel = pytriton.kernel(self.COPY, {"TILE": 8192, "INDEX": "int"})
        with pytest.raises(LaunchError, match=r"'n' \(INDEX n\) is 2147483648, which does not fit: .*TC506"):
            kernel(x, x, 2**31, grid=1)

    def test_a_view_behind_2_to_the_31(self) -> None:
        storage = torch.zeros(2**31 + 2 * N, dtype=torch.int8, device="cuda")
        x = storage[2**31 :][:N]
        z = storage[-N:]
        x.fill_(3)
        pytriton.kernel(self.COPY, {"TILE": 128, "INDEX": "int"})(z, x, N, grid=grid)
        assert bool((storage[-N:] == 4).all())
        assert not storage[: 2**31].any()

    def test_bytes_beyond_2_to_the_32(self) -> None:
        """Elements fit an int, addresses do not."""
        text = """\
__global__ void last(float* z, double* x __readonly, int n) {
  int i[16] = 0 ... 16;
  double v[16] = *(x + (n - 16 + i));
  *(z + i) = v;
}
"""
        n = 2**30
        x = torch.zeros(n, dtype=torch.float64, device="cuda")
        x[-16:] = torch.arange(16.0)
        z = torch.full((16,), -1.0, device="cuda")
        pytriton.kernel(text)(z, x, n, grid=1)
        assert z.tolist() == list(range(16))


class TestGrids:
    @pytest.mark.parametrize("sizes", [(65535,), (65536,), (1 << 20,), (1, 65535), (1, 1, 65535), (3, 5, 7)])
    def test_launched(self, sizes: tuple[int, ...]) -> None:
        z = torch.zeros(1, dtype=torch.int32, device="cuda")
        pytriton.kernel(COUNT)(z, grid=sizes)
        assert z.item() == int(torch.tensor(sizes).prod())

    def test_the_longest_axis(self) -> None:
        """2^31 - 1 programs, of which all but 100 leave at once."""
        text = "__global__ void f(int* z) { if (get_program_id(0) < 2147483547) return; atomic_add(z, 1); }"
        z = torch.zeros(1, dtype=torch.int32, device="cuda")
        pytriton.kernel(text, num_warps=1)(z, grid=(2**31 - 1,))
        assert z.item() == 100


class TestFailures:
    """After each of them the same kernel object works."""

    def test_too_much_shared_memory(self) -> None:
        kernel = pytriton.kernel(greedy("= (a @ b) * 0 + 1"))
        x, z = torch.zeros(64 * 4096, device="cuda").half(), torch.zeros(64, 64, device="cuda")
        for _ in range(2):
            with pytest.raises(LaunchError, match=r"it needs \d+ of shared memory, .*TC531"):
                kernel(z, x, grid=1, defines={"T": 4096})
        assert not z.any()
        kernel(z, x, grid=1, defines={"T": 64})
        assert bool((z == 1).all())

    def test_too_many_warps(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 1024})
        x, z = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
        with pytest.raises(Exception, match=r"TC531|TC530"):
            kernel(z, x, x, N, grid=grid, num_warps=64)
        kernel(z, x, x, N, grid=grid, num_warps=32)
        assert bool((z == 2).all())

    def test_out_of_memory_in_the_grid(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        x = torch.ones(N, device="cuda")

        def greedy(opt: Any) -> tuple[int]:
            torch.empty(1 << 50, dtype=torch.int8, device="cuda")
            return (1,)

        with pytest.raises(torch.cuda.OutOfMemoryError):
            kernel(x, x, x, N, grid=greedy)
        added(kernel)

    def test_no_memory_for_tuning(self) -> None:
        """What is written cannot be copied: the sweep is not measured, and the call is right all the same."""
        free, _ = torch.cuda.mem_get_info()
        torch.cuda.empty_cache()
        n = free // 8 * 5 // 4  # floats: more than half of the memory
        z = torch.empty(n, device="cuda")
        text = """\
__global__ void fill(float* z, long n) {
  long r[TILE] = (long)get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = 2;
}"""
        kernel = pytriton.kernel(text, {"TILE": [1024, 2048]})
        kernel(z, n, grid=lambda opt: (pytriton.cdiv(n, opt.TILE),))
        assert bool((z[:: 1 << 20] == 2).all())
        assert bool((z[-1000:] == 2).all())
        assert set(kernel.timings.values()) == {"not measured: what it writes cannot be restored"}
        del z
        torch.cuda.empty_cache()

    ILLEGAL = """\
import sys, torch, pytriton
ADD = '''%s'''
x = torch.ones(1000, device="cuda")
kernel = pytriton.kernel(ADD, {"TILE": [128, 256]})
kernel(x.clone(), x, x, 1000, grid=lambda opt: (pytriton.cdiv(1000, opt.TILE),))
try:
    kernel(1 << 20, x, x, 1000, grid=lambda opt: (pytriton.cdiv(1000, opt.TILE),))
    torch.cuda.synchronize()
    print("no error")
except Exception as error:
    print("first:", type(error).__name__, str(error).splitlines()[0])
for name, call in {
    "known": lambda: kernel(x, x, x, 1000, grid=1),
    "new": lambda: pytriton.kernel(ADD, {"TILE": [64, 32]})(x, x, x, 77, grid=1),
}.items():
    try:
        call()
        torch.cuda.synchronize()
        print(name, "no error")
    except Exception as error:
        print(name, type(error).__name__, str(error).splitlines()[0])
"""

    def test_an_illegal_address(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """CUDA gives the context up. Every later call says so, nothing false is kept for the next process."""
        monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "cache"))
        done = run(self.ILLEGAL % ADD, tmp_path)
        with capsys.disabled():
            print("\n" + done.stdout + done.stderr[-2000:])
        lines = done.stdout.splitlines()
        assert len(lines) == 3
        assert all("illegal memory access" in line for line in lines)
        kept = [path.read_text() for path in (tmp_path / "cache").glob("tuned_*.json")]
        assert not any('"n": 77' in entry for entry in kept)
        monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "cache"))
        added(pytriton.kernel(ADD, {"TILE": [128, 256]}))


FORKED = """\
import os, torch, pytriton
ADD = '''%s'''
kernel = pytriton.kernel(ADD, {"TILE": 128})
x = torch.ones(1000, device="cuda")
z = torch.empty_like(x)
kernel(z, x, x, 1000, grid=8)
child = os.fork()
if not child:
    try:
        kernel(z, x, x, 1000, grid=8)
        torch.cuda.synchronize()
        print("no error", flush=True)
    except Exception as error:
        print("cuda:", type(error).__name__, str(error).splitlines()[0], flush=True)
    y = torch.ones(100)
    w = torch.zeros(100)
    kernel(w, y, y, 100, grid=1)
    print("cpu:", bool((w == 2).all()), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
kernel(z.zero_(), x, x, 1000, grid=8)
print("parent:", bool((z == 2).all()))
"""


def test_after_fork(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CUDA cannot be used in a forked child: that is said, CPU tensors work there, and the parent goes on."""
    done = run(FORKED % ADD, tmp_path)
    with capsys.disabled():
        print("\n" + done.stdout + done.stderr[-2000:])
    assert done.returncode == 0
    first, *rest = done.stdout.splitlines()
    assert first.startswith("cuda: LaunchError add: CUDA was used before this process was forked")
    assert first.endswith("[TC523]")
    assert rest == ["cpu: True", "parent: True"]


def test_threads_with_streams() -> None:
    """One kernel with a sweep, first called by eight threads at once, each on its own stream."""
    kernel = pytriton.kernel(ADD, {"TILE": [64, 128, 256]}, [2, 4])

    def work(seed: int) -> None:
        stream: Any = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for n in (N, 7, 4099 + seed):
                for _ in range(20):
                    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
                    z = torch.full((n,), torch.nan, device="cuda")
                    kernel(z, x, y, n, grid=lambda opt, n=n: (pytriton.cdiv(n, opt.TILE),))
                    assert torch.equal(z, x + y)

    in_threads(work, range(8))


def test_zero_size_tensors() -> None:
    kernel = pytriton.kernel(ADD, {"TILE": [64, 128]})
    empty = torch.empty(0, device="cuda")
    assert kernel(empty, empty, empty, 0, grid=lambda opt: (pytriton.cdiv(0, opt.TILE),)) is None
    assert kernel(empty, empty, empty, 0, grid=lambda opt: (1,)) is None
    torch.cuda.synchronize()
    added(kernel)
