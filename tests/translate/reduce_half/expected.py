# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Y,  # half*
    Z,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum(x.to(tl.float32), axis=0).to(tl.float16))
    tl.store(Y + 1, tl.max(x.to(tl.float32), axis=0).to(tl.float16))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.sum(x.to(tl.float32), axis=0).to(tl.float16).to(Z.dtype.element_ty))
    tl.store(
        Z + 1, tl.min(x.to(tl.float32), axis=0).to(tl.float16).to(Z.dtype.element_ty)
    )
