"""The first call of a sweep is as right as any other: in place, accumulating, and under locks.

On a GPU all points are measured in that call, many times each; memory that they write is put back in between. On
the CPU nothing is measured, and the call must be right all the same. All sums are of small integers, so exact.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pytriton as triton

IN_PLACE = """
__global__ void scale(float *X, int n __retune) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(X + i) = 3 * *?(i < n)(X + i) + 1;
}
"""
ACCUMULATING = """
__global__ void total(float *SUM, int *COUNT, float *X, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float x[TILE] = i < n ? *(X + i) : 0;
  f32_atomic_add(SUM, x[+]);
  atomic_add(COUNT, (i < n)[+]);
}
"""
# The programs of a tile of Y take turns; the last one leaves lock and counter as they were.
LOCKED = """
__global__ void rows(float *Y, float *X, int *LOCKS, int n) {
  int row = get_program_id(0);
  int i[TILE] = get_program_id(1) * TILE + 0 ... TILE;
  float x[TILE] = i < n ? *(X + row * n + i) : 0;
  float sum = x[+];
  int *plock = LOCKS + row;
  int *pcount = plock + get_num_programs(0);
  int programs = get_num_programs(1);
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *(Y + row) = sum;
  else
    *(Y + row) = *(Y + row) + sum;
  atomic_xchg(pcount, (count + 1) % programs);
  atomic_xchg(plock, 0);
}
"""
SWEEP: dict[str, Any] = {"defines": {"TILE": [32, 64, 128]}, "num_warps": [1, 4]}


def integers(*shape: int, device: str) -> torch.Tensor:
    return torch.randint(-9, 9, shape, generator=torch.Generator().manual_seed(0)).float().to(device)


def test_2020_in_place(device: str) -> None:
    kernel = triton.kernel(IN_PLACE, **SWEEP)
    x = integers(300, device=device)
    for n in (300, 200):  # another n is another sweep
        wanted = torch.cat([3 * x[:n] + 1, x[n:]])
        kernel(x, n, grid=lambda opt, n=n: (triton.cdiv(n, opt.TILE),))
        assert torch.equal(x, wanted)


def test_2020_accumulating(device: str) -> None:
    kernel = triton.kernel(ACCUMULATING, **SWEEP)
    x = integers(300, device=device)
    total, count = torch.full((1,), 7.0, device=device), torch.zeros(1, dtype=torch.int32, device=device)
    for calls in (1, 2):
        kernel(total, count, x, 300, grid=lambda opt: (triton.cdiv(300, opt.TILE),))
        assert total.item() == 7 + calls * x.sum().item()
        assert count.item() == 300 * calls


@pytest.mark.parametrize("by_address", [False, True])
def test_2021_under_locks(device: str, by_address: bool) -> None:
    kernel = triton.kernel(LOCKED, torch.device(device), **SWEEP)
    x = integers(5, 300, device=device)
    y, locks = (
        torch.full((5,), float("nan"), device=device),
        torch.zeros(10, dtype=torch.int32, device=device),
    )
    tensors = (y, x, locks)
    for _ in range(3):
        given = [one.data_ptr() for one in tensors] if by_address else tensors
        kernel(*given, 300, grid=lambda opt: (5, triton.cdiv(300, opt.TILE)))
        assert torch.equal(y, x.sum(1))
        assert not locks.any()
        x += 1
