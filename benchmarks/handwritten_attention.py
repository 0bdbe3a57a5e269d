"""Attention as one would write it by hand today, in the design of Triton's tutorial.

A block of queries stays in registers while blocks of keys and values stream by. Keys are loaded transposed. Scores
are kept in units of log2, so that each exponential is one `exp2`, and the scale is folded into that:
`exp2(s * c - m)`. That rounds otherwise than the text, which has `exp(s - m)`. Without FOLDED it is computed as in
the text; the difference is what exactness costs.
A causal run is two loops: whole blocks first, without a mask, then the blocks on the diagonal.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def power(x, FOLDED: tl.constexpr):
    """2 to the power of x where log2(e) is in x already, else e."""
    if FOLDED:
        return tl.exp2(x)
    else:
        return tl.exp2(x * 1.4426950408889634)


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
    FOLDED: tl.constexpr,
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
    if FOLDED:
        scale *= 1.4426950408889634  # log2(e)
    whole = n
    if CAUSAL:
        whole = pm * TM
    for _ in range(0, whole, TN):
        s = tl.dot(q, tl.load(pk))
        if FOLDED:
            m_new = tl.maximum(m, tl.max(s, 1) * scale)
            s = s * scale - m_new[:, None]
        else:
            s *= scale
            m_new = tl.maximum(m, tl.max(s, 1))
            s -= m_new[:, None]
        p = power(s, FOLDED)
        alpha = power(m - m_new, FOLDED)
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
            p = power(s - m_new[:, None], FOLDED)
            alpha = power(m - m_new, FOLDED)
            total = total * alpha + tl.sum(p, 1)
            acc = tl.dot(p.to(V.dtype.element_ty), tl.load(pv), acc * alpha[:, None])
            m = m_new
            pk += TN * stride_n
            pv += TN * stride_n
    acc = acc / total[:, None]
    tl.store(OUT + head + rm[:, None] * stride_n + rd[None, :], acc.to(OUT.dtype.element_ty))
