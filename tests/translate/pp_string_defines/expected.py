# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    B,  # float*
    C,  # float*
    lda,
    TM: tl.constexpr,
    TK: tl.constexpr,
):
    rm = tl.arange(0, TM)
    rk = tl.arange(0, TK)
    pa = A + rm[None, :] + rk[:, None] * lda
    a = tl.load(pa)
    value = tl.trans(a) - tl.load(B + rm[:, None] * TK + rk[None, :])
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + rm[:, None] * TK + rk[None, :], value)
