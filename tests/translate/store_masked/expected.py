# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    n,
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    o = i[:, None] * 16 + j[None, :]
    tl.store(Y + o, i[:, None].to(Y.dtype.element_ty), mask=(j < n)[None, :])
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 128 + o, 1.0, mask=(j // 8 != 0)[None, :])
    tl.store(Y + 128 + o, 2.0, mask=n == 0)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 384, -7.0, mask=n > 0)
    tl.store(Y + 385, -7.0, mask=n < 0)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 256 + o, 3.0, mask=i[:, None] > j[None, :])
