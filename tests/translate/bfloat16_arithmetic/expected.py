# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # bfloat16*
    Z,  # bfloat16*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (x * z).to(Y.dtype.element_ty))
    tl.store(Y + T + r, (x * z * z).to(Y.dtype.element_ty))
    tl.store(Y + 2 * T + r, (x - 1.0).to(Y.dtype.element_ty))
