# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    P,  # float*
    Q,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = P + r
    tl.store(p, r.to(P.dtype.element_ty))
    x = tl.load(p)
    tl.store(p, x + 1.0)
    tl.store(Q, tl.sum(x, axis=0))
