"""Tuning leaves no trace: the *first* call of a sweep gives what one launch gives.

Each kernel here would show a second launch: it works in place, adds to what is there, counts, or takes locks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.runtime import errors
from tests.runtime.kernels import greedy

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("_measured_anew")]

N = 5000
WARPS = [2, 4, 8]
TILES = {"TILE": [64, 128, 256, 1024]}

Pass = Callable[[torch.Tensor], Any]
BY: dict[str, Pass] = {"tensor": lambda x: x, "address": lambda x: x.data_ptr()}
each_way = pytest.mark.parametrize("by", BY.values(), ids=BY)


@pytest.fixture
def _measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test measured is not believed."""
    monkeypatch.setenv("PYTRITON_FORCE_TUNE", "1")


def grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def measured(kernel: Any, count: int) -> bool:
    """Whether the last call compared at least so many candidates by their times; with 0, none at all."""
    times = [time for time in kernel.timings.values() if isinstance(time, float)]
    return (len(times) >= count if count else not times) and all(time > 0 for time in times)


HEAD = "__global__ void f(float* X, float* Y, int n) { int r[TILE] = get_program_id(0) * TILE + 0 ... TILE; "


@each_way
def test_in_place(by: Pass) -> None:
    kernel = pytriton.kernel(HEAD + "*?(r < n)(X + r) = exp(*?(r < n)(X + r)) * 0.5; }", "cuda", TILES, WARPS)
    x = torch.randn(N, device="cuda")
    for _ in range(2):
        wanted = x.exp() * 0.5
        kernel(by(x), None, N, grid=grid)
        # Triton's exp is exp2 of x * log2(e): rounding the product and the constant makes a relative error of up
        # to 2 * |x| * 2**-24, and x is about 26 the second time: 3e-6. A second launch would be wrong by factors.
        torch.testing.assert_close(x, wanted, rtol=1e-5, atol=0)
    assert measured(kernel, 12)


@each_way
def test_adding_up(by: Pass) -> None:
    kernel = pytriton.kernel(HEAD + "*?(r < n)(Y + r) += *?(r < n)(X + r); }", "cuda", TILES, WARPS)
    x, y = torch.randn(N, device="cuda"), torch.ones(N, device="cuda")
    kernel(by(x), by(y), N, grid=grid)
    assert torch.equal(y, x + 1)
    kernel(by(x), by(y), N, grid=grid)
    assert torch.equal(y, x + 1 + x)
    assert measured(kernel, 12)


@each_way
def test_atomics(by: Pass) -> None:
    text = """\
__global__ void count(int* H, int* X, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  int one[TILE] = 1;
  atomic_add(H + *?(r < n)(X + r), one, r < n);
}"""
    kernel = pytriton.kernel(text, "cuda", TILES, WARPS)
    x = torch.randint(0, 10, (N,), dtype=torch.int32, device="cuda")
    counts = torch.zeros(10, dtype=torch.int32, device="cuda")
    kernel(by(counts), by(x), N, grid=grid)
    wanted = torch.bincount(x.long(), minlength=10)
    assert torch.equal(counts.long(), wanted)
    kernel(by(counts), by(x), N, grid=grid)
    assert torch.equal(counts.long(), 2 * wanted)
    assert measured(kernel, 12)


LOCKED = """\
__global__ void locked(TYPE* C, TYPE* X, int* locks, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  int part = get_program_id(1);
  TYPE x[TILE] = *?(r < n)(X + part * n + r);
  int* plock = locks + get_program_id(0);
  int* pcount = plock + get_num_programs(0);
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *?(r < n)(C + r) = x;
  else
    *?(r < n)(C + r) = x + *?(r < n)(C + r);
  atomic_xchg(pcount, (count + 1) % PARTS);
  atomic_xchg(plock, 0);
}
"""


@each_way
@pytest.mark.parametrize("parts", [2, 8, 32])
def test_locks(by: Pass, parts: int) -> None:
    """The result is not set before, and the locks must be free again afterwards."""
    kernel = pytriton.kernel(LOCKED, "cuda", {**TILES, "PARTS": parts, "TYPE": "int"}, WARPS)
    x = torch.randint(-1000, 1000, (parts, N), dtype=torch.int32, device="cuda")
    c = torch.full((N,), 7, dtype=torch.int32, device="cuda")
    locks = torch.zeros(2 * N, dtype=torch.int32, device="cuda")
    for _ in range(3):
        kernel(by(c), by(x), by(locks), N, grid=lambda opt: (pytriton.cdiv(N, opt.TILE), parts))
        assert torch.equal(c.long(), x.sum(0))
        assert not locks.any()
    assert measured(kernel, 12)


def test_tuned_again_for_other_sizes() -> None:
    """What was tuned for one size is tuned anew for the next, with the same locks and the same result tensor."""
    kernel = pytriton.kernel(LOCKED, "cuda", {**TILES, "PARTS": 4, "TYPE": "int"}, WARPS)
    locks = torch.zeros(2 * N, dtype=torch.int32, device="cuda")
    c = torch.full((N,), 7, dtype=torch.int32, device="cuda")
    for n in (N, 100, 3000):
        x = torch.randint(-1000, 1000, (4, n), dtype=torch.int32, device="cuda")
        kept = c[n:].clone()
        kernel(c, x, locks, n, grid=lambda opt, n=n: (pytriton.cdiv(n, opt.TILE), 4))
        assert torch.equal(c[:n].long(), x.sum(0))
        assert torch.equal(c[n:], kept)
        assert measured(kernel, 12)


def test_views_of_one_storage() -> None:
    """The tensor read is the tensor written, half a storage further on."""
    whole = torch.arange(2.0 * N, device="cuda")
    kernel = pytriton.kernel(HEAD + "*?(r < n)(Y + r) = *?(r < n)(X + r) + *?(r < n)(Y + r); }", TILES, WARPS)
    kernel(whole[:N], whole[N:], N, grid=grid)
    wanted = torch.arange(2.0 * N, device="cuda")
    wanted[N:] += wanted[:N]
    assert torch.equal(whole, wanted)


def test_bench_and_tuning_together() -> None:
    kernel = pytriton.kernel(HEAD + "*?(r < n)(Y + r) += *?(r < n)(X + r); }", TILES, WARPS)
    x, y = torch.randn(N, device="cuda"), torch.zeros(N, device="cuda")
    assert kernel(x, y, N, grid=grid, bench=30) >= 1
    assert torch.equal(y, x)


def test_memory_that_no_argument_points_to() -> None:
    """What is behind a loaded pointer is unknown, so nothing is measured."""
    text = """\
__global__ void f(float** P, int n) {
  float* x = *P;
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(x + r) += 1;
}"""
    kernel = pytriton.kernel(text, TILES, WARPS)
    x = torch.zeros(N, device="cuda")
    pointers = torch.tensor([x.data_ptr()], device="cuda")
    kernel(pointers, N, grid=grid)
    assert bool((x == 1).all())
    assert measured(kernel, 0)
    assert kernel(pointers, N, grid=grid, bench=5) >= 1
    assert bool((x == 2).all())


def test_memory_of_somebody_else() -> None:
    """An address that torch's allocator does not know cannot be saved, so nothing is measured."""
    kernel = pytriton.kernel(HEAD + "*?(r < n)(Y + r) += *?(r < n)(X + r); }", TILES, WARPS)
    x = torch.randn(N, device="cuda")
    pinned = torch.zeros(N).pin_memory()  # the GPU reaches it, torch's CUDA allocator does not have it
    kernel(x, pinned.data_ptr(), N, grid=grid)
    torch.cuda.synchronize()
    assert torch.equal(pinned, x.cpu())
    assert measured(kernel, 0)


def test_in_a_side_stream() -> None:
    kernel = pytriton.kernel(HEAD + "*?(r < n)(Y + r) += *?(r < n)(X + r); }", TILES, WARPS)
    x, y = torch.randn(N, device="cuda"), torch.zeros(N, device="cuda")
    stream: Any = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        kernel(x, y, N, grid=grid)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(y, x)
    assert measured(kernel, 12)


def test_a_candidate_that_fails_leaves_no_trace() -> None:
    """One point asks for more threads' worth of shared memory than there is; the others are compared."""
    kernel = pytriton.kernel(greedy("+= (a @ b) * 0 + 1"), {"T": [2048, 64]}, [4, 8])
    x, z = torch.zeros(64 * 2048, device="cuda").half(), torch.zeros(64, 64, device="cuda")
    kernel(z, x, grid=1)
    assert bool((z == 1).all())
    assert measured(kernel, 2)
    assert kernel.best_config.defines["T"] == 64
    assert any("TC531" in str(reason) for reason in kernel.timings.values())


WRONG = """\
__global__ void f(float* Y, float* X, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
#if TILE == 256
  *?(r < n - 1)(Y + r) = *?(r < n)(X + r);
#else
  *?(r < n)(Y + r) = *?(r < n)(X + r);
#endif
}"""


@each_way
def test_a_config_that_computes_something_else(by: Pass, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves out one element of 5000. Where the outputs are compared, it cannot be chosen, and it is named."""
    monkeypatch.setattr(errors, "_warned", set())  # it is said once a process
    kernel = pytriton.kernel(WRONG, "cuda", TILES)
    x, y = torch.randn(N, device="cuda"), torch.full((N,), 7.0, device="cuda")
    with pytest.warns(
        RuntimeWarning, match=r"TILE=256, num_warps=4\) is dropped: .* 1 element of 'Y' \[TC603\]"
    ):
        kernel(by(y), by(x), N, grid=grid)
    assert torch.equal(y, x)
    reasons = {config.defines["TILE"]: why for config, why in kernel.timings.items() if isinstance(why, str)}
    assert reasons == {256: "computes a different result from the others: 1 element of 'Y' [TC603]"}
    assert sum(isinstance(time, float) for time in kernel.timings.values()) == 3


def test_another_order_of_sums_is_the_same() -> None:
    text = """\
__global__ void f(float* Y, half* X, int n) {
  int r[TILE] = 0 ... TILE;
  float s[TILE] = 0;
  for (int k = 0; k < n; k += TILE)
    s += *?(k + r < n)(X + k + r);
  *Y = s[+];
}"""
    kernel = pytriton.kernel(text, "cuda", TILES, WARPS)
    x, y = torch.randn(N, device="cuda").half(), torch.zeros(1, device="cuda")
    kernel(y, x, N, grid=1)
    assert measured(kernel, 12)
    assert abs(y.item() - x.double().sum().item()) < 1e-2


def test_luck_is_not_judged() -> None:
    """Who takes which number depends on the order in which programs run: no two launches agree."""
    text = """\
__global__ void f(int* Y, int* count, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  int place = atomic_add(count, 1);
  *?(r < n)(Y + r) = place;
}"""
    kernel = pytriton.kernel(text, "cuda", {"TILE": [16, 32]}, WARPS)
    n = 1 << 20
    y, count = (
        torch.zeros(n, dtype=torch.int32, device="cuda"),
        torch.zeros(1, dtype=torch.int32, device="cuda"),
    )
    kernel(y, count, n, grid=lambda opt: (pytriton.cdiv(n, opt.TILE),))
    assert count.item() in (n // 16, n // 32)
    print(kernel.timings)


def test_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each point a line, and one that pins the winner; the next kernel object says nothing and measures nothing."""
    monkeypatch.setenv("PYTRITON_FORCE_TUNE", "0")
    monkeypatch.setenv("PYTRITON_PROGRESS", "1")
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "cache"))
    text = HEAD + "*?(r < n)(Y + r) = *?(r < n)(X + r) + 5; }"
    x, y = torch.randn(N, device="cuda"), torch.zeros(N, device="cuda")
    first = pytriton.kernel(text, TILES, [4])
    first(x, y, N, grid=grid)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ...")[0] for line in lines[:-1]] == [
        f"[{at + 1}/4] TILE={t}" for at, t in enumerate(TILES["TILE"])
    ]
    assert eval(lines[-1], {"pytriton": pytriton, "src": text})._definition.defines == dict(
        first.best_config.defines
    )
    second = pytriton.kernel(text, TILES, [4])
    second(x, y, N, grid=grid)
    assert capsys.readouterr().err == ""
    assert dict(second.timings) == dict(first.timings)
    assert second.timings[second.best_config].finalist
    third = pytriton.kernel(text, {"TILE": [*TILES["TILE"], 512]}, [4])
    third(x, y, N, grid=grid)
    lines = capsys.readouterr().err.splitlines()
    assert 5 <= len(lines) <= 6  # the finalists and the best three, the new one, the winner
    assert len(list((tmp_path / "cache").glob("tuned_*.json"))) == 1
