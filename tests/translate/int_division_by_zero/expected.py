# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
    L,
    T: tl.constexpr,
):
    in_6 = tl.arange(0, 8) < 6
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    # a quotient by zero is thrown away, and x is still known to be zero
    tl.store(Y + r, tl.where(x != 0, n // tl.where(x != 0, x, 1), 0))
    divisor = x * 2
    tl.store(Y + T + r, tl.where(x != 0, n % tl.where(divisor != 0, divisor, 1), -1))
    tl.store(Y + 2 * T + r, ((x != 0) & True).to(Y.dtype.element_ty))
    tl.store(Y + 3 * T, tl.where(L > 0, n // tl.where(L != 0, L, 1), -5))
    o = tl.arange(0, 8)
    tl.debug_barrier()  # Y is written above and below
    divisor_1 = 6 - o
    tl.store(Y + 3 * T + 1 + o, 60 // tl.where(divisor_1 != 0, divisor_1, 1), mask=in_6)
