# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    o = tl.broadcast_to(i[:, None] * 16, (8, 16))
    o += j[None, :]
    x = tl.load(X + o)
    x += i[:, None]
    x *= n
    h = j.to(tl.float16)
    h *= 0.1
    h += 2048.0
    k = j
    k = (k * 1.5).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + o, x)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 128 + j, h.to(Y.dtype.element_ty))
    tl.store(Y + 144 + j, k.to(Y.dtype.element_ty))
