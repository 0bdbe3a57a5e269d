# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    c = tl.full((T, T), 1.0, tl.float32)
    for k in range(0, K, T):
        a = tl.load(A + i[:, None] * K + k + i[None, :])
        b = tl.load(B + (k + i)[:, None] * T + i[None, :])
        c = tl.dot(a, b, c)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
