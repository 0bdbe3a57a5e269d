# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    at,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + r
    tl.store(p, (r * 2).to(X.dtype.element_ty))
    tl.debug_barrier()
    tl.store(p, tl.load(p) + 1.0)
    tl.debug_barrier()
    one = tl.load(X + at)
    tl.debug_barrier()
    tl.store(Y, one)
