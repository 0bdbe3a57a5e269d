# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum((x > 0.0).to(tl.int32), axis=0).to(Y.dtype.element_ty))
    tl.store(
        Y + 1, tl.sum(x.to(tl.float32), axis=0).to(tl.float16).to(Y.dtype.element_ty)
    )
