# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def add(
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    m = r < 8
    bare = tl.load(tl.broadcast_to(X, (T,)), mask=m, other=0.0) + r
    meant = tl.load(tl.broadcast_to(X, (T,)), mask=m, other=0.0) + r
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, bare + meant)
