# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Q,  # half*
    K,  # half*
    C,  # float*
    N,
    TM: tl.constexpr,
    TN: tl.constexpr,
):
    pm = tl.program_id(0)
    rm = pm * TM + tl.arange(0, TM)
    rn = tl.arange(0, TN)
    q = tl.load(Q + rm[:, None] * 16 + tl.arange(0, 16)[None, :])
    pk = K + rn[:, None] * 16 + tl.arange(0, 16)[None, :]
    c = tl.zeros((TM, 16), dtype=tl.float32)
    # the diagonal is crossed in the last iteration, as TM is at most TN
    N = tl.minimum(N, (pm + 1) * TM)
    whole = (tl.maximum(N, 1) - 1) // TN * TN
    for n in range(0, whole, TN):
        k = tl.load(pk)
        s = tl.dot(q, tl.trans(k))
        c = tl.dot(s.to(tl.float16), k, c)
        pk += TN * 16
    # what is left, under its masks
    if whole < N:
        k = tl.load(pk, mask=(whole + rn < N)[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k))
        s = tl.where(whole + rn[None, :] <= rm[:, None], s, 0.0)
        c = tl.dot(s.to(tl.float16), k, c)
    tl.store(C + rm[:, None] * 16 + tl.arange(0, 16)[None, :], c)
