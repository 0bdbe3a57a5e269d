# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    U,  # unsigned int*
    V,  # unsigned int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    u = tl.load(U + r)
    tl.debug_barrier()  # U, read above, may overlap V, written below
    tl.store(V, tl.max(u, axis=0))
    tl.store(V + 1, tl.min(u, axis=0))
