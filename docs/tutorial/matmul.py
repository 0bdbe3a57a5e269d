# %%
# # Matrix product, with sweeps
#
# Each program computes one tile of C. It walks along its rows of A and down its columns of B, a tile of each at
# a time, and adds up their products.
#
# ```{drawing} product
# One program owns a tile of C. In each iteration it multiplies a tile of A by a tile of B.
# ```

import torch

import pytriton

matmul_kernel = pytriton.kernel(
    """
__global__ void matmul(TYPE* A, TYPE* B, TYPE* C __noalias, int M, int N, int K,
                       int lda __multipleof(8), int ldb __multipleof(8), int ldc __multipleof(8)) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  TYPE* pa[TM, TK] = A + rm[:, newaxis] * lda + rk[newaxis, :];
  TYPE* pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  bool in_m[TM, 1] = (rm < M)[:, newaxis];
  bool in_n[1, TN] = (rn < N)[newaxis, :];
  float c[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    TYPE a[TM, TK] = in_m && (rk < k)[newaxis, :] ? *pa : 0;
    TYPE b[TK, TN] = in_n && (rk < k)[:, newaxis] ? *pb : 0;
    c += a @ b;
    pa += TK;
    pb += TK * ldb;
  }
  *?(in_m && in_n)(C + rm[:, newaxis] * ldc + rn[newaxis, :]) = c;
}
""",
    defines={"TM": [64, 128], "TN": [64, 128, 256], "TK": [32, 64]},
    num_warps=[4, 8],
)

# %%
# The tiles are lists, and so is the number of warps: 24 configs. On a GPU the first call for a new size compiles
# them side by side, runs each once to see that they all write the same numbers, times them, and keeps the
# fastest. The result is stored, so the next process compiles only that one.
#
# `__multipleof(8)` promises that a stride is a multiple of 8, which lets the GPU load eight halves at once.
# Each launch checks it. For a matrix that breaks it, that launch does without.


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b, both with contiguous rows."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    matmul_kernel(
        *(a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0)),
        defines={"TYPE": a.dtype},
        grid=lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
    )
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randn(96, 80, device=device, dtype=torch.float16)
b = torch.randn(80, 72, device=device, dtype=torch.float16)
torch.testing.assert_close(matmul(a, b), a @ b, rtol=1e-2, atol=1e-2)
print("close to torch; chosen:", matmul_kernel.best_config)

# %%
# What the loop became. The masks on `k` are those of the last iteration only, so the loop runs without them as
# long as whole tiles are left, and once more with them.

print(matmul_kernel.source({"TYPE": "half"}))

# %%
# ```{measured} matmul
# ```
#
# After a sweep `kernel.timings` has a time for each config, or the reason why there is none, and `kernel.plot()`
# draws them. To keep the winner for good, write down its config, or let `PYTRITON_REPLAY=choices.jsonl` record
# it ([Tuning](../tuning.md)).
