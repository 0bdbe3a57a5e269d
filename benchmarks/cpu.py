"""Kernels in C on the CPU beside torch: ``python -m benchmarks.cpu``.

Prints for each row the milliseconds of C and of torch eager (the best of several runs, taken in turns), and
torch over C: above 1, C is faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import NoLibrary
from pytriton.runtime.native.processor import Native, native, thread_count
from pytriton.settings import Settings

RUNS = 9

ADD = """
__global__ void add(float *X, float *Y, float *Z, int N) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  bool m[TN] = i < N;
  *?(m)(Z + i) = *?(m)(X + i) + *?(m)(Y + i);
}
"""
SOFTMAX = """
__global__ void softmax(float *Y, float *X, int stride, int N) {
  int row = get_program_id(0);
  int n[TN] = 0 ... TN;
  bool m[TN] = n < N;
  float x[TN] = m ? *(X + row * stride + n) : -INFINITY;
  float z[TN] = exp(x - x[max]);
  *?(m)(Y + row * stride + n) = z / z[+];
}
"""
DOT = """
__global__ void dot(float *A, float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  float *pa[TM, TK] = A + rk[newaxis, :] + rm[:, newaxis] * lda;
  float *pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  float a[TM, TK] = *pa;
  float b[TK, TN] = *pb;
  for (int k = K; k > 0; k -= TK) {
    c += a @ b;
    pa = pa + TK;
    pb = pb + TK * ldb;
    a = *pa;
    b = *pb;
  }
  float *pc[TM, TN] = C + rn[newaxis, :] + rm[:, newaxis] * ldc;
  *pc = c;
}
"""


def kernel(source: str, **defines: int) -> Native:
    """A kernel in C."""
    made = native(to_c(source, defines, Settings()))
    if isinstance(made, NoLibrary):
        raise SystemExit(made.reason)
    return made


def measured(name: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Print one row."""
    best = [float("inf"), float("inf")]
    for _ in range(RUNS):
        for place, call in enumerate((ours, theirs)):
            start = time.perf_counter()
            call()
            best[place] = min(best[place], 1e3 * (time.perf_counter() - start))
    print(f"{name:28} C {best[0]:8.2f} ms   torch {best[1]:8.2f} ms   {best[1] / best[0]:5.2f}", flush=True)


def add() -> None:
    """2^24 floats."""
    size, block = 1 << 24, 1024
    x, y, z = torch.randn(size), torch.randn(size), torch.empty(size)
    run, values = kernel(ADD, TN=block).run, [x.data_ptr(), y.data_ptr(), z.data_ptr(), size]
    measured("add 2^24", lambda: run((size // block, 1, 1), values), lambda: torch.add(x, y, out=z))
    run((size // block, 1, 1), values)
    assert torch.equal(z, x + y)


def softmax() -> None:
    """8192 rows of 1024 floats."""
    x = torch.randn(8192, 1024)
    y = torch.empty_like(x)
    run, values = kernel(SOFTMAX, TN=1024).run, [y.data_ptr(), x.data_ptr(), 1024, 1024]
    measured("softmax 8192 x 1024", lambda: run((8192, 1, 1), values), lambda: torch.softmax(x, 1, out=y))
    run((8192, 1, 1), values)
    torch.testing.assert_close(y, torch.softmax(x, 1))


def dot(tile: int) -> None:
    """A product of 1024^3."""
    n = 1024
    a, b, c = (torch.randn(n, n) for _ in range(3))
    run = kernel(DOT, TM=tile, TN=tile, TK=32).run
    values = [a.data_ptr(), b.data_ptr(), c.data_ptr(), *[n] * 6]
    grid = (n // tile, n // tile, 1)
    measured(f"dot 1024^3, tiles of {tile}", lambda: run(grid, values), lambda: torch.mm(a, b, out=c))
    run(grid, values)
    torch.testing.assert_close(c, a @ b, rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    print(f"{thread_count()} threads")
    add()
    softmax()
    dot(64)
    dot(128)
