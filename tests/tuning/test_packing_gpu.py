"""Packed copies on a GPU: the same numbers by every way of launching, graphs, streams, and no memory left."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pytriton
from pytriton.runtime.kernel import Kernel
from pytriton.tuning.copies import Copies
from tests.tuning.test_packing import GROUPED, cdiv, matmul_grouped, window

pytestmark = pytest.mark.gpu

M, N, K = 515, 389, 261
DEFINES = {**GROUPED, "TM": 64, "TN": 64, "TK": 32, "GROUP": 4}


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each launch of a packed point ran on copies."""
    seen: list[bool] = []
    launch = Copies.launch

    def watched(*given: Any) -> bool:
        seen.append(launch(*given))
        return seen[-1]

    monkeypatch.setattr(Copies, "launch", watched)
    return seen


def kernel_of(packed: bool) -> Kernel:
    return pytriton.kernel(
        matmul_grouped.SOURCE, autotune_configs=[pytriton.config(DEFINES, 4, packed=packed)]
    )


def operands(turned: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    a = window(K, M, torch.half, 1).cuda().t() if turned else window(M, K, torch.half, 1).cuda()
    return a, window(K, N, torch.half, 2).cuda()


def launched(kernel: Kernel, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None = None) -> torch.Tensor:
    c = torch.full((M, N), float("nan"), device="cuda", dtype=a.dtype) if c is None else c
    grid = (cdiv(M, 64) * cdiv(N, 64),)
    kernel(a, b, c, M, N, K, *a.stride(), *b.stride(), c.stride(0), grid=grid)
    return c


@pytest.mark.parametrize("turned", [False, True])
def test_bit_for_bit(turned: bool, copied: list[bool]) -> None:
    """By the slow path, and by the launcher."""
    a, b = operands(turned)
    kernel, want = kernel_of(True), launched(kernel_of(False), a, b)
    for _ in range(5):
        assert torch.equal(launched(kernel, a, b), want)
    exact = a.double() @ b.double()
    assert (want.double() - exact).norm() < 1e-3 * exact.norm()
    assert copied == [True] * 5


def test_what_is_written_overlaps(copied: list[bool]) -> None:
    kernel = kernel_of(True)
    a, b = operands()
    memory = torch.zeros(M * N + M * K, device="cuda", dtype=torch.half)
    launched(kernel, a, b)
    for start, fits in ((M * K, True), (M * K - 1, False), (0, False)):
        inside = memory[: M * K].view(M, K).copy_(a)
        launched(kernel, inside, b, memory[start : start + M * N].view(M, N))
        assert copied[-1] is fits


def test_in_a_graph_the_plain_point_runs(copied: list[bool]) -> None:
    a, b = operands()
    kernel, c = kernel_of(True), torch.zeros(M, N, device="cuda", dtype=torch.half)
    for _ in range(3):
        launched(kernel, a, b, c)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launched(kernel, a, b, c)
    assert copied == [True] * 3 + [False]
    a.mul_(-1)
    c.zero_()
    graph.replay()
    assert torch.equal(c, launched(kernel_of(False), a, b))


def test_on_another_stream(copied: list[bool]) -> None:
    """The copies are made behind what the stream does, and their memory is not given away before its time."""
    a, b = operands()
    kernel, want = kernel_of(True), launched(kernel_of(False), -a, b)
    launched(kernel, a, b)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        a.mul_(-1)
        found = [launched(kernel, a, b) for _ in range(4)]
    stream.synchronize()
    assert all(torch.equal(each, want) for each in found)
    assert all(copied)


def test_without_memory_the_plain_point_runs(copied: list[bool]) -> None:
    a, b = operands()
    kernel, c = kernel_of(True), torch.zeros(M, N, device="cuda", dtype=torch.half)
    want = launched(kernel, a, b)
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.0)
    try:
        filling = []
        while True:  # what torch holds already is used up
            try:
                filling.append(torch.empty(1 << 16, device="cuda", dtype=torch.uint8))
            except torch.cuda.OutOfMemoryError:
                break
        launched(kernel, a, b, c)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert copied[-1] is False
    assert torch.equal(c, want)


def test_the_tuner_finds_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large ragged product the chosen point runs on copies; of an even one no point is tried on any."""
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    points = [pytriton.config({**DEFINES, "TM": 128, "TN": size, "TK": 64}, 8) for size in (128, 256)]
    kernel = pytriton.kernel(matmul_grouped.SOURCE, autotune_configs=points, autotune_key=["M", "N", "K"])
    for n in (4097, 4096):
        a, b = torch.randn(2, n, n, device="cuda").half()
        c = torch.empty_like(a)
        grid = lambda opt, n=n: (cdiv(n, opt.TM) * cdiv(n, opt.TN),)  # noqa: E731
        kernel(a, b, c, n, n, n, n, 1, n, 1, n, grid=grid)
        assert kernel.best_config.packed is (n == 4097)
        timed = [point for point, found in kernel.timings.items() if isinstance(found, float)]
        assert any(point.packed for point in timed) is (n == 4097)
        want = a.float() @ b.float()
        assert (c.float() - want).norm() < 1e-3 * want.norm()
