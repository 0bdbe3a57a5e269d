# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    y = tl.load(X + r)
    check = r < n
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum(tl.where(check, y, 0.0), axis=0))
    tl.store(Y + 1, tl.log(tl.sum(tl.exp(y), axis=0)))
    tl.store(Y + 2, tl.sum((y > 0.0).to(tl.int32), axis=0).to(Y.dtype.element_ty))
    tl.store(Y + 3, tl.sum(y * y, axis=0) / T)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.max(tl.load(X + r, mask=check, other=float("-inf")), axis=0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 4, value)
