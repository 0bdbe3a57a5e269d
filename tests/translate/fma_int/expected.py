# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    L,  # long*
    C,  # char*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.full((), 3, tl.int32) * tl.load(X + r) + r
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
    tl.debug_barrier()  # Y, written above, may overlap L, read below
    value_1 = tl.load(L + r) * tl.load(X + r).to(tl.int64) + tl.full((), 7, tl.int64)
    tl.debug_barrier()  # L is read above and written below
    tl.store(L + r, value_1)
    tl.debug_barrier()  # L, written above, may overlap C, read below
    value_2 = tl.load(C + r).to(tl.int32) * tl.load(C + r).to(tl.int32) + tl.load(
        C + r
    ).to(tl.int32)
    tl.debug_barrier()  # C, read above, may overlap Y, written below
    tl.store(Y + T + r, value_2)
