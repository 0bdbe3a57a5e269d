"""Matrix products of every power-of-two M, N, K from 1 up, in every type, transposed, with batch axes.

The elements are small integers, so every partial sum is exact in every type, and results must be equal bit for bit.
"""

from __future__ import annotations

import itertools

import pytest
import torch

import pytriton
from tests.conversions.c_types import TORCH
from tests.conversions.probes import thinned

SIZES = (1, 2, 4, 8, 16, 32, 64)
FEW = (1, 2, 8, 16)
OUT = {"half": "float", "bfloat16": "float", "float": "float", "double": "double", "char": "int"}

PLAIN = """void f(T *A __noalias, T *B __noalias, OUT *C __noalias) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  OUT c[M, N] = *(A + m[:, newaxis] * K + k[newaxis, :]) @ *(B + k[:, newaxis] * N + n[newaxis, :]);
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
"""

# A is stored as [K, M], B as [N, K]; what was there is added.
TRANSPOSED = """void f(T *A __noalias, T *B __noalias, OUT *C __noalias) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  T a[K, M] = *(A + k[:, newaxis] * M + m[newaxis, :]);
  T b[N, K] = *(B + n[:, newaxis] * K + k[newaxis, :]);
  OUT *pc[M, N] = C + m[:, newaxis] * N + n[newaxis, :];
  OUT c[M, N] = *pc;
  c += ^a @ trans(b);
  *pc = dot(^a, ^b, c);
}
"""

# The batch axes trail: A [M, K, 2], B [K, N, 2].
BATCHED = """void f(T *A __noalias, T *B __noalias, OUT *C __noalias) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  int z[2] = 0 ... 2;
  T a[M, K, 2] = *(A + m[:, newaxis, newaxis] * (K * 2) + k[newaxis, :, newaxis] * 2 + z[newaxis, newaxis, :]);
  T b[K, N, 2] = *(B + k[:, newaxis, newaxis] * (N * 2) + n[newaxis, :, newaxis] * 2 + z[newaxis, newaxis, :]);
  *(C + m[:, newaxis, newaxis] * (N * 2) + n[newaxis, :, newaxis] * 2 + z[newaxis, newaxis, :]) = a @ b;
}
"""


def small(type_: str, *shape: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(TORCH[type_])


def launch(
    text: str, type_: str, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *mnk: int
) -> torch.Tensor:
    defines = {"T": type_, "OUT": OUT[type_], **dict(zip("MNK", mnk, strict=True))}
    on = c.device
    pytriton.kernel(text)(a.to(on), b.to(on), c, grid=(1,), defines=defines)
    return c.cpu()


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("type_", OUT)
@pytest.mark.sampled(12)
def test_every_size(type_: str, rows: int, device: str, every: int) -> None:
    for columns, depth in thinned([*itertools.product(SIZES, SIZES)], every, f"{type_} {rows}"):
        a, b = small(type_, rows, depth, seed=1), small(type_, depth, columns, seed=2)
        c = torch.zeros(rows, columns, dtype=TORCH[OUT[type_]], device=device)
        got = launch(PLAIN, type_, a, b, c, rows, columns, depth)
        assert torch.equal(got.long(), a.long() @ b.long()), (rows, columns, depth)


@pytest.mark.parametrize("rows", FEW)
@pytest.mark.parametrize("type_", OUT)
@pytest.mark.sampled(12)
def test_transposed(type_: str, rows: int, device: str, every: int) -> None:
    for columns, depth in thinned([*itertools.product(FEW, FEW)], every, f"{type_} {rows}"):
        a, b = small(type_, depth, rows, seed=3), small(type_, columns, depth, seed=4)
        start = small(OUT[type_], rows, columns, seed=5)
        got = launch(TRANSPOSED, type_, a, b, start.clone().to(device), rows, columns, depth)
        assert torch.equal(got.long(), start.long() + 2 * (a.long().T @ b.long().T)), (rows, columns, depth)


@pytest.mark.parametrize("rows", FEW)
@pytest.mark.parametrize("type_", OUT)
@pytest.mark.sampled(12)
def test_batched(type_: str, rows: int, device: str, every: int) -> None:
    for columns, depth in thinned([*itertools.product(FEW, FEW)], every, f"{type_} {rows}"):
        a, b = small(type_, rows, depth, 2, seed=6), small(type_, depth, columns, 2, seed=7)
        c = torch.zeros(rows, columns, 2, dtype=TORCH[OUT[type_]], device=device)
        got = launch(BATCHED, type_, a, b, c, rows, columns, depth)
        assert torch.equal(got.long(), torch.einsum("mkz,knz->mnz", a.long(), b.long())), (
            rows,
            columns,
            depth,
        )
