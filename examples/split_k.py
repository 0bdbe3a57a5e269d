"""A matrix product whose inner axis is split over programs, which add up under locks.

With a short M and N and a long K there are fewer tiles of C than multiprocessors. Here TZ programs
share a tile, each with a slice of K. Each takes the tile's lock, stores or adds its part (a counter
tells the first from the rest) and gives the lock back; the last one leaves lock and counter at zero,
so one buffer of locks serves all calls on a stream. Any M, N, K.

    python examples/split_k.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
__global__ void matmul(TYPE *A __noalias __readonly __aligned(16),
                       TYPE *B __noalias __readonly __aligned(16),
                       TYPE *C __noalias __aligned(16),
                       int M, int N MULTIPLE_N, int K MULTIPLE_K,
                       int lda MULTIPLE_K, int ldb MULTIPLE_N, int ldc MULTIPLE_N,
                       int *locks) {
  // prologue
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int pz = get_program_id(2);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  // this program's slice of the reduction
#if (TZ > 1)
  int slice = (K + TK * TZ - 1) / (TK * TZ) * TK;
  A += pz * slice;
  B += pz * slice * ldb;
  K = min(K - pz * slice, slice);
#endif
  // pointers to operands
  TYPE *pa[TM, TK] = A + rm[:, newaxis] * lda + rk[newaxis, :];
  TYPE *pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  // prefetches operands
  bool checka[TM, TK] = (rm < M)[:, newaxis] && (rk < K)[newaxis, :];
  bool checkb[TK, TN] = (rk < K)[:, newaxis] && (rn < N)[newaxis, :];
  TYPE a[TM, TK] = checka ? *pa : 0;
  TYPE b[TK, TN] = checkb ? *pb : 0;
  // reduction loop
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    acc += a @ b;
    pa += TK;
    pb += TK * ldb;
    bool checka[TM, TK] = (rm < M)[:, newaxis] && (rk < k - TK)[newaxis, :];
    bool checkb[TK, TN] = (rk < k - TK)[:, newaxis] && (rn < N)[newaxis, :];
    a = checka ? *pa : 0;
    b = checkb ? *pb : 0;
  }
  // epilogue
  TYPE c[TM, TN] = acc;
  TYPE *pc[TM, TN] = C + rm[:, newaxis] * ldc + rn[newaxis, :];
  bool checkc[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
#if (TZ == 1)
  *?(checkc) pc = c;
#else
  // accumulate under the lock of this tile
  int tiles = get_num_programs(0) * get_num_programs(1);
  int *plock = locks + pm * get_num_programs(1) + pn;
  int *pcount = plock + tiles;
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *?(checkc) pc = c;
  else
    *?(checkc) pc = c + *?(checkc) pc;
  atomic_xchg(pcount, (count + 1) % TZ);
  atomic_xchg(plock, 0);
#endif
}
"""

TILES = {"TM": [64, 128], "TN": [64, 128], "TK": [32], "TZ": [1, 4, 16]}

kernel = triton.kernel(SOURCE)
locks: dict[torch.device, torch.Tensor] = {}


def locks_for(count: int, device: torch.device) -> torch.Tensor:
    """A lock and a counter for each of `count` tiles: zero whenever no product runs."""
    if device not in locks or locks[device].numel() < 2 * count:
        locks[device] = torch.zeros(2 * count, dtype=torch.int32, device=device)
    return locks[device]


def promise(size: int) -> str:
    """`__multipleof(8)` where it is true: loads and stores may then be 16 bytes wide."""
    return "__multipleof(8)" if size % 8 == 0 else ""


def matmul(a: torch.Tensor, b: torch.Tensor, tiles: dict[str, Any] | None = None) -> torch.Tensor:
    """a [M, K] @ b [K, N]; `tiles` (`{"TM": 64, "TN": 64, "TK": 32, "TZ": 4}`) turns tuning off."""
    (m, k), (k_of_b, n) = a.shape, b.shape
    if k != k_of_b:
        raise ValueError(f"inner sizes differ: {k} and {k_of_b}")
    a, b = a.contiguous(), b.contiguous()
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    tiles = TILES if tiles is None else tiles
    least_m, least_n = (min(t) if isinstance(t, list) else t for t in (tiles["TM"], tiles["TN"]))
    kernel(
        *(a, b, c, m, n, k, a.stride(0), b.stride(0), n),
        locks_for(triton.cdiv(m, least_m) * triton.cdiv(n, least_n), a.device),
        grid=lambda opt: (triton.cdiv(m, opt.TM), triton.cdiv(n, opt.TN), opt.TZ),
        defines={"TYPE": a.dtype, "MULTIPLE_K": promise(k), "MULTIPLE_N": promise(n), **tiles},
        num_warps=4,
    )
    return c


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    m, n, k = (512, 512, 65_536) if device == "cuda" else (70, 50, 300)
    torch.manual_seed(0)
    a = torch.randn(m, k, device=device).half()
    b = torch.randn(k, n, device=device).half()
    small = None if device == "cuda" else {"TM": 32, "TN": 32, "TK": 32, "TZ": 4}
    c = matmul(a, b, small)
    want = a.double() @ b.double()
    shown = {"TYPE": "half", "MULTIPLE_K": promise(k), "MULTIPLE_N": promise(n)}
    print(kernel.source({**shown, "TM": 64, "TN": 64, "TK": 32, "TZ": 4}))
    print(f"half {m} x {n} x {k} on {device}, chosen point: {kernel.best_config}")
    print(f"relative error: {float((c.double() - want).norm() / want.norm()):.1e}")


if __name__ == "__main__":
    main()
