# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    p = X + i[:, None] * 16 + j[None, :]
    m = i[:, None] < j[None, :]
    value = tl.load(tl.trans(p), mask=tl.trans(m), other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + j[:, None] * 8 + i[None, :], value)
