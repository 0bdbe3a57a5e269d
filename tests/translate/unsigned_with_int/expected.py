# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # unsigned int*
    Z,  # unsigned int*
    Y,  # unsigned int*
    n,
    l: tl.int64,
    c: tl.int8,
    u: tl.uint32,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + n)
    tl.store(Y + T + r, (x > n).to(Y.dtype.element_ty))
    tl.store(Y + 2 * T + r, x // tl.cast(n, tl.uint32))
    tl.store(Y + 3 * T + r, tl.where(n > x, 1, 0).to(Y.dtype.element_ty))
    tl.store(Y + 4 * T + r, (l + x > 0).to(Y.dtype.element_ty))
    tl.store(Y + 5 * T + r, (x + l).to(Y.dtype.element_ty))
    tl.store(Y + 6 * T + r, (c < x).to(Y.dtype.element_ty))
    tl.store(Y + 7 * T + r, (c + c.to(tl.int32) > u).to(Y.dtype.element_ty))
