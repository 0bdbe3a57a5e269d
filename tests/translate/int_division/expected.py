# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Z,  # int*
    Y,  # int*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x // tl.where(z != 0, z, 1))
    tl.store(Y + T + r, x % tl.where(z != 0, z, 1))
    tl.store(Y + 2 * T + r, x // 7)
    tl.store(Y + 3 * T + r, x % -7)
    tl.store(Y + 4 * T + r, -100 // tl.where(z != 0, z, 1))
    tl.store(Y + 5 * T + r, -100 % tl.where(z != 0, z, 1))
    tl.store(Y + 6 * T + r, x // n)
    tl.store(Y + 7 * T + r, x % n)
    tl.store(Y + 8 * T + r, -3 + -1 * 10)
    tl.store(
        Y + 9 * T + r, x // tl.where(z != 0, z, 1) * z + x % tl.where(z != 0, z, 1)
    )
