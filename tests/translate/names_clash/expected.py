# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def kernel(
    x,  # float*
    lambda_,  # float*
    lambda__,
    T: tl.constexpr,
):
    arange = tl.arange(0, T)
    kernel = lambda__ + 1
    y = tl.load(x + arange)
    tl.debug_barrier()  # x, read above, may overlap lambda_, written below
    tl.store(lambda_ + arange, y * kernel)
