# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Z,  # float*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (x < z).to(Y.dtype.element_ty))
    tl.store(Y + T + r, (x > z).to(Y.dtype.element_ty))
    tl.store(Y + 2 * T + r, (x <= z).to(Y.dtype.element_ty))
    tl.store(Y + 3 * T + r, (x >= z).to(Y.dtype.element_ty))
    tl.store(Y + 4 * T + r, (x == z).to(Y.dtype.element_ty))
    tl.store(Y + 5 * T + r, (x != z).to(Y.dtype.element_ty))
    tl.store(Y + 6 * T + r, (x < 0.0).to(Y.dtype.element_ty))
    tl.store(Y + 7 * T + r, (0.0 != x).to(Y.dtype.element_ty))
