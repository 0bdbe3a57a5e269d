# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    o = i[:, None] * T + i[None, :]
    a = tl.load(A + o)
    b = tl.load(B + o)
    c = tl.dot(tl.trans(a), b)
    c = tl.dot(a, tl.trans(b), c)
    c = tl.dot(tl.trans(a), tl.trans(b), c)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + o, c)
