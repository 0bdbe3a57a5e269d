# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def mm(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    inc,  # int*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    c = tl.zeros((T, T), dtype=tl.float32)
    pa = A + i[:, None] * K + i[None, :]
    pb = B + i[:, None] * T + i[None, :]
    pinc = inc
    for k in range(0, K, T):
        a = tl.load(pa)
        b = tl.load(pb)
        c = tl.dot(a, b, c)
        d = tl.load(pinc)
        pa += d
        pb += d * T
        pinc += 1
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
