# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    Z,  # int*
    T: tl.constexpr,
):
    in_T = tl.arange(0, triton.next_power_of_2(T)) < T
    r = tl.arange(0, triton.next_power_of_2(T))
    x = tl.load(X + r, mask=in_T, other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x * 2.0 + r, mask=in_T)
    tl.store(Y + T, tl.sum(x, axis=0))
    tl.store(Y + T + 1, tl.max(tl.where(in_T, x, float("nan")), axis=0))
    tl.store(Y + T + 2, tl.min(tl.where(in_T, x, float("nan")), axis=0))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.sum(tl.where(in_T, x != 0.0, 0), axis=0))
    tl.store(Z + 1, tl.min(tl.where(in_T, r + 1, 2147483647), axis=0))
    tl.store(Z + 2, tl.max(tl.where(in_T, r - T, -2147483648), axis=0))
    tl.store(Z + 3, tl.sum(tl.where(in_T, r * 0 + 1, 0), axis=0))
