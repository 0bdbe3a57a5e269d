# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # half*
    K,
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    c = tl.zeros((T, T), dtype=tl.float16)
    for k in range(0, K, T):
        a = tl.load(A + i[:, None] * K + k + i[None, :])
        b = tl.load(B + (k + i)[:, None] * T + i[None, :])
        c = (c + tl.dot(a, b)).to(tl.float16)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
