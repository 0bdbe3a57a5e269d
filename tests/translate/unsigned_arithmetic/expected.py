# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # unsigned int*
    Z,  # unsigned int*
    Y,  # unsigned int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x // tl.where(z != 0, z, 1))
    tl.store(Y + T + r, x % tl.where(z != 0, z, 1))
    tl.store(Y + 2 * T + r, x >> 3)
    tl.store(Y + 3 * T + r, (x > z).to(Y.dtype.element_ty))
    tl.store(Y + 4 * T + r, (x - z > 0).to(Y.dtype.element_ty))
    tl.store(Y + 5 * T + r, -x)
    tl.store(Y + 6 * T + r, (x > 2147483647).to(Y.dtype.element_ty))
    tl.store(Y + 7 * T + r, ~x // 2)
    tl.store(Y + 8 * T + r, x * z)
