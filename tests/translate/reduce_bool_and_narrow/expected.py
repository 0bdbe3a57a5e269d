# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # char*
    U,  # unsigned char*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    u = tl.load(U + r)
    b = x > 0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum(b.to(tl.int32), axis=0))
    tl.store(Y + 1, tl.sum(x.to(tl.int32), axis=0))
    tl.store(Y + 2, tl.sum(u.to(tl.int32), axis=0))
    tl.store(Y + 3, tl.max(x.to(tl.int32), axis=0))
    tl.store(Y + 4, tl.min(u.to(tl.int32), axis=0))
    tl.store(Y + 5, tl.max(u.to(tl.int32), axis=0))
    tl.store(Y + 6, tl.max(b.to(tl.int32), axis=0) + tl.min(b.to(tl.int32), axis=0))
