"""Attention in one kernel: softmax(Q K^T) V, a block of queries a program, over blocks of keys.

No score ever reaches memory. The softmax runs online: each block of keys may bring a new largest
score, and what was summed so far is scaled to it. A sum that starts at -infinity and zero needs no
special first block.

    python examples/attention.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
// Q [heads, M, D], K, V [heads, N, D], O [heads, M, D]; heads of all samples in one axis
__global__ void attention(TYPE *Q __noalias __readonly __aligned(16),
                          TYPE *K __noalias __readonly __aligned(16),
                          TYPE *V __noalias __readonly __aligned(16),
                          TYPE *O __noalias __writeonly __aligned(16),
                          int M, int N, float scale,
                          long stride_qh __multipleof(8), int stride_qm __multipleof(8),
                          long stride_kh __multipleof(8), int stride_kn __multipleof(8),
                          long stride_vh __multipleof(8), int stride_vn __multipleof(8)) {
  int pm = get_program_id(0);
  int head = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = 0 ... TN;
  int rd[D] = 0 ... D;
  // this program's queries
  bool checkm[TM, D] = (rm < M)[:, newaxis];
  TYPE *pq[TM, D] = Q + head * stride_qh + rm[:, newaxis] * stride_qm + rd[newaxis, :];
  TYPE q[TM, D] = checkm ? *pq : 0;
  // the first keys and values
  TYPE *pk[TN, D] = K + head * stride_kh + rn[:, newaxis] * stride_kn + rd[newaxis, :];
  TYPE *pv[TN, D] = V + head * stride_vh + rn[:, newaxis] * stride_vn + rd[newaxis, :];
  // largest score, sum of exponentials, weighted values: so far
  float m[TM] = -F32_INFINITY;
  float l[TM] = 0;
  float acc[TM, D] = 0;
#ifdef CAUSAL
  N = min(N, (pm + 1) * TM);
#endif
  for (int n = 0; n < N; n += TN) {
    // scores
    bool checkn[TN] = n + rn < N;
    TYPE k[TN, D] = checkn[:, newaxis] ? *pk : 0;
    float s[TM, TN] = q @ ^k * scale;
#ifdef CAUSAL
    s = n + rn[newaxis, :] <= rm[:, newaxis] ? s : -F32_INFINITY;
#else
    s = checkn[newaxis, :] ? s : -F32_INFINITY;
#endif
    // softmax so far
    float m_new[TM] = max(m, s[:, max]);
    float alpha[TM] = exp(m - m_new);
    float p[TM, TN] = exp(s - m_new[:, newaxis]);
    l = l * alpha + p[:, +];
    // values
    TYPE v[TN, D] = checkn[:, newaxis] ? *pv : 0;
    acc = acc * alpha[:, newaxis];
    acc += (TYPE[TM, TN])p @ v;
    m = m_new;
    pk += TN * stride_kn;
    pv += TN * stride_vn;
  }
  acc = acc / l[:, newaxis];
  TYPE *po[TM, D] = O + (head * (long)M + rm[:, newaxis]) * D + rd[newaxis, :];
  *?(checkm) po = acc;
}
"""

TILES = {"TM": [64, 128], "TN": [32, 64]}
TILES_FLOAT = {"TM": [32, 64], "TN": 32}
SMALL = {"TM": 16, "TN": 16}

kernel = triton.kernel(SOURCE)


def defines(dtype: torch.dtype, d: int, causal: bool, tiles: dict[str, Any]) -> dict[str, Any]:
    """The text for one type, head size and mask."""
    return {"TYPE": dtype, "D": d, **({"CAUSAL": 1} if causal else {}), **tiles}


def tiles_for(x: torch.Tensor) -> dict[str, Any]:
    """What to try for operands like x: float takes twice the registers."""
    if not x.is_cuda:
        return SMALL
    return TILES_FLOAT if x.dtype == torch.float32 else TILES


def rows(x: torch.Tensor) -> torch.Tensor:
    """x [..., n, d] as [heads, n, d] with the elements of a row side by side."""
    x = x.reshape(-1, *x.shape[-2:])
    return x if x.stride(2) == 1 else x.contiguous()


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = False,
    scale: float | None = None,
    tiles: dict[str, Any] | None = None,
) -> torch.Tensor:
    """softmax(q k^T * scale) v for q [..., M, D], k and v [..., N, D]; `scale` is D^-1/2 if not given.

    `causal`: query i sees keys 0 to i, and M must be N. `tiles` (`{"TM": 64, "TN": 64}`) turns tuning
    off.
    """
    (m, d), n = q.shape[-2:], k.shape[-2]
    if causal and m != n:
        raise ValueError(f"a causal mask needs as many queries as keys, not {m} and {n}")
    queries, keys, values = rows(q), rows(k), rows(v)
    out = torch.empty(queries.shape, dtype=q.dtype, device=q.device)
    strides = [stride for x in (queries, keys, values) for stride in x.stride()[:2]]
    kernel(
        *(queries, keys, values, out, m, n, d**-0.5 if scale is None else scale, *strides),
        grid=lambda opt: (triton.cdiv(m, opt.TM), queries.shape[0]),
        defines=defines(q.dtype, d, causal, tiles or tiles_for(q)),
        num_warps=[4, 8] if q.is_cuda and tiles is None else 4,
    )
    return out.view(q.shape)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = (4, 16, 2048, 64) if device == "cuda" else (2, 2, 40, 32)
    torch.manual_seed(0)
    q, k, v = torch.randn(3, *shape, device=device).half()
    print(kernel.source(defines(q.dtype, shape[-1], True, {"TM": 64, "TN": 64})))
    for causal in (False, True):
        got = attention(q, k, v, causal)
        want = torch.nn.functional.scaled_dot_product_attention(
            q.double(), k.double(), v.double(), is_causal=causal
        )
        error = float((got.double() - want).norm() / want.norm())
        print(f"half {shape} on {device}, causal={causal}: relative error {error:.1e}")


if __name__ == "__main__":
    main()
