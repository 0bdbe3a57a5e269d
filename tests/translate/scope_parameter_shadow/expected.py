# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    for i in range(2):
        n_1 = 0.25
        n_1 += i
        tl.store(Y + i, (n_1 * 4.0).to(Y.dtype.element_ty))
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 2, n)
