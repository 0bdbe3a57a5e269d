# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    H,  # half*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + r
    s = tl.zeros((T,), dtype=tl.float32)
    h = tl.full((T,), 1.0, tl.float16)
    c = tl.full((), 1, tl.int8)
    m = float("-inf")
    for i in range(n):
        s += tl.load(p)
        h *= 1.1
        c = (c.to(tl.int32) * 3).to(tl.int8)
        value = tl.max(tl.load(p), axis=0)
        m = tl.where(m > value, m, value)
        p += T
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, s + c)
    tl.debug_barrier()  # Y, written above, may overlap H, written below
    tl.store(H + r, h)
    tl.debug_barrier()  # H, written above, may overlap Y, written below
    tl.store(Y + T, m)
