# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def mm(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    D,  # int*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    c = tl.zeros((T, T), dtype=tl.float32)
    pa = A + i[:, None] * K + i[None, :]
    pb = B + i[:, None] * T + i[None, :]
    # the table holds where each step starts, less where the one before did
    pd = D
    for k in range(0, K, T):
        d = tl.load(pd)
        pa += d
        pb += d * T
        pd += 1
        a = tl.load(pa)
        b = tl.load(pb)
        c = tl.dot(a, b, c)
    tl.debug_barrier()  # D, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
