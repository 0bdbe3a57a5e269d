# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    H,  # half*
    Y,  # float*
    u: tl.uint32,
):
    r = tl.arange(0, 16)
    x = tl.load(X + r)
    h = tl.load(H + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + u)
    tl.store(Y + 16 + r, tl.exp(h.to(tl.float32)))
    tl.store(Y + 32 + r, tl.where(x != 0.0, h, x))
    tl.store(Y + 48 + r, x.to(tl.int32).to(Y.dtype.element_ty))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.load(X + r, mask=r & 2 != 0, other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 64 + r, value)
