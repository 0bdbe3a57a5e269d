# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    H,  # half*
    n,
    twice: tl.int1,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.atomic_add(X + r, tl.full((T,), tl.cast(n, tl.float32), tl.float32))
    tl.debug_barrier()  # X, updated above, may overlap H, read below
    h = tl.load(H + r)
    tl.debug_barrier()  # H, read above, may overlap X, updated below
    tl.atomic_add(X + r, h.to(tl.float32), mask=(r > 3) & twice)
    tl.atomic_add(X + T, tl.sum(h.to(tl.float32), axis=0).to(tl.float16).to(tl.float32))
