# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    Z,  # int*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = ((r < n) & (tl.load(X + r, mask=r < n, other=0.0) > 0.0)).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Z, written below
    tl.store(Z + r, value)
    tl.debug_barrier()  # Z, written above, may overlap X, read below
    value_1 = ((r >= n) | (tl.load(X + r, mask=r < n, other=0.0) > 0.0)).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Z, written below
    tl.store(Z + T + r, value_1)
    i = tl.full((), 0, tl.int32)
    tl.debug_barrier()  # Z, written above, may overlap X, read below
    while (i < n) & (tl.load(X + i, mask=i < n, other=0.0) != 0.0):
        i += 1
    tl.debug_barrier()  # X, read above, may overlap Z, written below
    tl.store(Z + 2 * T, i)
    tl.debug_barrier()  # Z, written above, may overlap Y, read below
    if (n < 0) & (tl.load(Y, mask=n < 0, other=0.0) > 0.0):
        tl.debug_barrier()  # Y, read above, may overlap Z, written below
        tl.store(Z + 2 * T + 1, 1)
