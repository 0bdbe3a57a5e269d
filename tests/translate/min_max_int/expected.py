# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Z,  # int*
    Y,  # int*
    c: tl.int8,
    u: tl.uint32,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.minimum(x, z))
    tl.store(Y + T + r, tl.maximum(x, z))
    tl.store(Y + 2 * T + r, tl.minimum(x, c))
    tl.store(Y + 3 * T + r, (tl.maximum(x, u) // 2).to(Y.dtype.element_ty))
    tl.store(Y + 4 * T + r, tl.minimum(4294967295, u).to(Y.dtype.element_ty))
    tl.store(Y + 5 * T + r, tl.maximum(tl.minimum(x, 10), -10))
