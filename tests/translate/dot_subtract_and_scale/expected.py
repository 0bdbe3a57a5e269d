# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    C,  # float*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    o = i[:, None] * T + i[None, :]
    a = tl.load(A + o)
    c = tl.load(C + o)
    c -= tl.dot(a, a)
    c *= tl.dot(a, a)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + o, tl.sum(tl.dot(a, a), axis=0)[None, :] - c)
