"""Launches on AMD GPUs as far as they can be seen without one: Triton's real launcher over a HIP that only listens.

Nothing was ever launched on an AMD GPU. What is asserted is that the code is compiled for one, that Triton's
launcher takes what it is given, and that all parameters arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from triton.runtime.driver import driver

import pytriton
from tests.runtime.stand_in import HIP, StandIn, standing_in

TELL = """\
__global__ void tell(half* z, float* x, int n, long w, char c, float s) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(z + i) = *?(i < n)(x + i) * s + w + c;
}"""
LOCK = "__global__ void add(int* lock, float* x) { while (atomic_cas(lock, 0, 1)); *x += 1; atomic_xchg(lock, 0); }"


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, built: Path) -> Iterator[StandIn]:
    with standing_in(monkeypatch, built, 1, HIP) as made:
        yield made


def test_what_is_launched(gpu: StandIn) -> None:
    gpu.expect(6)
    kernel = pytriton.kernel(TELL, defines={"TILE": 64}, num_warps=2)
    z, x = torch.zeros(200, dtype=torch.half), torch.ones(200)
    assert type(driver.active).__name__ == "HIPDriver"
    for n, c in ((200, -3), (16, 5), (200, -3)):
        kernel(z, x, n, 2**40 + 1, c, 0.5, grid=lambda opt: (pytriton.cdiv(200, opt.TILE), 2))
        seen = gpu.last()
        assert (seen.grid, seen.stream) == ((4, 2, 1), gpu.stream)
        assert (seen.pointer(0), seen.pointer(1)) == (z.data_ptr(), x.data_ptr())
        assert (seen.integer(2), seen.integer(3, 64), seen.integer(4, 8)) == (n, 2**40 + 1, c)
        assert seen.integer(5) == torch.tensor(0.5).view(torch.int32).item()
        compiled = gpu.compiled(kernel, seen)
        assert compiled.metadata.target == HIP.target
        assert "gfx942" in compiled.asm["amdgcn"]
        assert gpu.attributes(kernel, seen) == {0: 16, 1: 16, **({2: 16} if n == 16 else {2: 8})}
    assert len(gpu.all()) == 3


def test_locks_and_absent_tensors(gpu: StandIn) -> None:
    gpu.expect(2)
    pytriton.kernel(LOCK)(torch.zeros(1, dtype=torch.int32), None, grid=5)
    assert gpu.last().grid == (5, 1, 1)
    assert gpu.last().pointer(1) == 0


def test_a_grid_without_programs(gpu: StandIn) -> None:
    pytriton.kernel(LOCK)(torch.zeros(1, dtype=torch.int32), torch.zeros(1), grid=0)
    gpu.expect(2)
    assert gpu.all() == []
