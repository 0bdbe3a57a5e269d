"""Kernels as one would write them by hand today: products and row softmax.

What they share with their Triton-C counterparts is the task and the tile lists, nothing else.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def product(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
    GROUP: tl.constexpr,
    MASKED: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """C = A @ B for any sizes where MASKED, else for sizes that the tiles divide; ids grouped for L2."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, TN)
    first = pid // (GROUP * columns) * GROUP
    rows = min(tl.cdiv(M, TM) - first, GROUP)
    local = pid % (GROUP * columns)
    rm = (first + local % rows) * TM + tl.arange(0, TM)
    rn = local // rows * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    if MASKED:  # rows beyond the edge read some other row: only k needs a mask in the loop
        am, bn = rm % M, rn % N
    else:
        am, bn = rm, rn
    pa = A + am[:, None] * stride_am + rk[None, :] * stride_ak
    pb = B + rk[:, None] * stride_bk + bn[None, :] * stride_bn
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, K, TK):
        if MASKED:
            a = tl.load(pa, mask=rk[None, :] < K - k, other=0.0)
            b = tl.load(pb, mask=rk[:, None] < K - k, other=0.0)
        else:
            a = tl.load(pa)
            b = tl.load(pb)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
        pa += TK * stride_ak
        pb += TK * stride_bk
    pc = C + rm[:, None] * stride_cm + rn[None, :]
    c = acc.to(C.dtype.element_ty)
    if MASKED:
        tl.store(pc, c, mask=(rm[:, None] < M) & (rn[None, :] < N))
    else:
        tl.store(pc, c)


@triton.jit
def softmax(Y, X, n, stride, TN: tl.constexpr):
    """One row a program."""
    row = tl.program_id(0)
    rn = tl.arange(0, TN)
    inside = rn < n
    x = tl.load(X + row * stride + rn, mask=inside, other=float("-inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(Y + row * stride + rn, e / tl.sum(e, 0), mask=inside)


@triton.jit
def sparse_times_dense(
    BLOCKS,
    B,
    C,
    STARTS,
    COLUMNS,
    N,
    stride_bk,
    stride_cm,
    BLOCK: tl.constexpr,
    TN: tl.constexpr,
):
    """C = A @ B for A in block rows: row i has the blocks STARTS[i] to STARTS[i + 1], at COLUMNS."""
    row = tl.program_id(0)
    rb = tl.arange(0, BLOCK)
    rn = tl.program_id(1) * TN + tl.arange(0, TN)
    start = tl.load(STARTS + row)
    end = tl.load(STARTS + row + 1)
    inside_block = rb[:, None] * BLOCK + rb[None, :]
    inside_strip = rb[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BLOCK, TN), dtype=tl.float32)
    for at in range(start, end):
        column = tl.load(COLUMNS + at)
        a = tl.load(BLOCKS + at * (BLOCK * BLOCK) + inside_block)
        b = tl.load(B + column * (BLOCK * stride_bk) + inside_strip)
        acc = tl.dot(a, b, acc)
    rm = row * BLOCK + rb
    pc = C + rm[:, None] * stride_cm + rn[None, :]
    tl.store(pc, acc.to(C.dtype.element_ty), mask=rn[None, :] < N)
