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
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + o, tl.dot(a, tl.trans(a), c))
