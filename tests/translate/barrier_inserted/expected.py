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
    tl.debug_barrier()  # X is written above and read below
    tl.store(p, tl.load(p) + 1.0)
    tl.debug_barrier()  # X is written above and read below
    one = tl.load(X + at)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, one)
