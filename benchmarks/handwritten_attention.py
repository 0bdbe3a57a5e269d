"""Attention as one would write it by hand today, in the design of Triton's tutorial.

A block of queries stays in registers while blocks of keys and values stream by. Scores are kept in units of
log2, so that each exponential is one `exp2`, and the scale is folded into that. Keys are loaded transposed.
A causal run is two loops: whole blocks first, without a mask, then the blocks on the diagonal.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def attention(
    Q,
    K,
    V,
    OUT,
    n,
    scale,
    stride_h,
    stride_n,
    D: tl.constexpr,
    TM: tl.constexpr,
    TN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """softmax(Q K^T scale) V for [heads, n, D]; TM and TN divide n, TN divides TM."""
    pm = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * stride_h
    rm = pm * TM + tl.arange(0, TM)
    rn = tl.arange(0, TN)
    rd = tl.arange(0, D)
    q = tl.load(Q + head + rm[:, None] * stride_n + rd[None, :])
    pk = K + head + rn[None, :] * stride_n + rd[:, None]
    pv = V + head + rn[:, None] * stride_n + rd[None, :]
    m = tl.full((TM,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((TM,), dtype=tl.float32)
    acc = tl.zeros((TM, D), dtype=tl.float32)
    scale *= 1.4426950408889634  # log2(e)
    whole = n
    if CAUSAL:
        whole = pm * TM
    for _ in range(0, whole, TN):
        s = tl.dot(q, tl.load(pk))
        m_new = tl.maximum(m, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(V.dtype.element_ty), tl.load(pv), acc * alpha[:, None])
        m = m_new
        pk += TN * stride_n
        pv += TN * stride_n
    if CAUSAL:
        for start in range(pm * TM, (pm + 1) * TM, TN):
            s = tl.dot(q, tl.load(pk)) * scale
            s = tl.where(rm[:, None] >= start + rn[None, :], s, float("-inf"))
            m_new = tl.maximum(m, tl.max(s, 1))
            p = tl.exp2(s - m_new[:, None])
            alpha = tl.exp2(m - m_new)
            total = total * alpha + tl.sum(p, 1)
            acc = tl.dot(p.to(V.dtype.element_ty), tl.load(pv), acc * alpha[:, None])
            m = m_new
            pk += TN * stride_n
            pv += TN * stride_n
    acc = acc / total[:, None]
    tl.store(OUT + head + rm[:, None] * stride_n + rd[None, :], acc.to(OUT.dtype.element_ty))
