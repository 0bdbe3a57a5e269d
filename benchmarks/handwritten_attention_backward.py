"""The backward of attention as one would write it by hand today, after the published algorithm (FlashAttention-2).

Two kernels read what the forward left of each row: `LSE`, the logarithm of the sum of its exponentials, and DELTA,
the inner product of an output and its gradient, which a third kernel computes first. One kernel owns blocks of keys
and walks the queries, for the gradients of keys and values; the other owns queries and walks the keys. Nothing is
added up in memory. Probabilities are `exp2(s * c - LSE)`, with log2(e) in `c` and in `LSE`.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def deltas(OUT, D_OUT, DELTA, D: tl.constexpr, TM: tl.constexpr):
    """DELTA[row] = <OUT[row], D_OUT[row]>; TM divides the number of rows."""
    rm = tl.program_id(0).to(tl.int64) * TM + tl.arange(0, TM)
    at = rm[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(DELTA + rm, tl.sum(tl.load(OUT + at).to(tl.float32) * tl.load(D_OUT + at), 1))


@triton.jit
def keys_and_values(
    Q,
    K,
    V,
    D_OUT,
    LSE,
    DELTA,
    D_K,
    D_V,
    n,
    scale,
    D: tl.constexpr,
    TM: tl.constexpr,
    TN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Gradients of a block of TN keys and values of [heads, n, D]; TM and TN divide n, TM divides TN."""
    pn = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    rn = pn * TN + tl.arange(0, TN)
    rd = tl.arange(0, D)
    own = head * n * D + rn[:, None] * D + rd[None, :]
    k = tl.load(K + own)
    v = tl.load(V + own)
    d_k = tl.zeros((TN, D), dtype=tl.float32)
    d_v = tl.zeros((TN, D), dtype=tl.float32)
    c = scale * 1.4426950408889634  # log2(e)
    first = 0
    if CAUSAL:
        first = pn * TN
        last = first + TN
        d_k, d_v = _queries(Q, D_OUT, LSE, DELTA, k, v, d_k, d_v, head, n, c, rn, first, last, D, TM, True)
        first = last
    d_k, d_v = _queries(Q, D_OUT, LSE, DELTA, k, v, d_k, d_v, head, n, c, rn, first, n, D, TM, False)
    tl.store(D_V + own, d_v.to(D_V.dtype.element_ty))
    tl.store(D_K + own, (d_k * scale).to(D_K.dtype.element_ty))


@triton.jit
def _queries(
    Q,
    D_OUT,
    LSE,
    DELTA,
    k,
    v,
    d_k,
    d_v,
    head,
    n,
    c,
    rn,
    start,
    end,
    D: tl.constexpr,
    TM: tl.constexpr,
    MASKED: tl.constexpr,
):
    """What the queries from start to end add."""
    rd = tl.arange(0, D)
    for m in range(start, end, TM):
        rm = m + tl.arange(0, TM)
        at = head * n * D + rm[:, None] * D + rd[None, :]
        q = tl.load(Q + at)
        do = tl.load(D_OUT + at)
        lse = tl.load(LSE + head * n + rm)
        delta = tl.load(DELTA + head * n + rm)
        p = tl.exp2(tl.dot(k, tl.trans(q)) * c - lse[None, :])
        if MASKED:
            p = tl.where(rm[None, :] >= rn[:, None], p, 0.0)
        d_v = tl.dot(p.to(do.dtype), do, d_v)
        ds = p * (tl.dot(v, tl.trans(do)) - delta[None, :])
        d_k = tl.dot(ds.to(q.dtype), q, d_k)
    return d_k, d_v


@triton.jit
def queries(
    Q,
    K,
    V,
    D_OUT,
    LSE,
    DELTA,
    D_Q,
    n,
    scale,
    D: tl.constexpr,
    TM: tl.constexpr,
    TN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Gradients of a block of TM queries of [heads, n, D]; TM and TN divide n, TN divides TM."""
    pm = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    rm = pm * TM + tl.arange(0, TM)
    rd = tl.arange(0, D)
    own = head * n * D + rm[:, None] * D + rd[None, :]
    q = tl.load(Q + own)
    do = tl.load(D_OUT + own)
    lse = tl.load(LSE + head * n + rm)
    delta = tl.load(DELTA + head * n + rm)
    d_q = tl.zeros((TM, D), dtype=tl.float32)
    c = scale * 1.4426950408889634  # log2(e)
    whole = n
    if CAUSAL:
        whole = pm * TM
        d_q = _keys(K, V, q, do, lse, delta, d_q, head, n, c, rm, whole, whole + TM, D, TN, True)
    d_q = _keys(K, V, q, do, lse, delta, d_q, head, n, c, rm, 0, whole, D, TN, False)
    tl.store(D_Q + own, (d_q * scale).to(D_Q.dtype.element_ty))


@triton.jit
def _keys(
    K,
    V,
    q,
    do,
    lse,
    delta,
    d_q,
    head,
    n,
    c,
    rm,
    start,
    end,
    D: tl.constexpr,
    TN: tl.constexpr,
    MASKED: tl.constexpr,
):
    """What the keys from start to end add."""
    rd = tl.arange(0, D)
    for at in range(start, end, TN):
        rn = at + tl.arange(0, TN)
        k = tl.load(K + head * n * D + rn[:, None] * D + rd[None, :])
        v = tl.load(V + head * n * D + rn[:, None] * D + rd[None, :])
        p = tl.exp2(tl.dot(q, tl.trans(k)) * c - lse[:, None])
        if MASKED:
            p = tl.where(rm[:, None] >= rn[None, :], p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
        d_q = tl.dot(ds.to(k.dtype), k, d_q)
    return d_q
