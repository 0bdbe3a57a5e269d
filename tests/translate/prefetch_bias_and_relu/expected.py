# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def mm(
    A,  # half*
    B,  # half*
    V,  # half*
    C,  # float*
    K,
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    c = tl.zeros((T, T), dtype=tl.float32)
    pa = A + i[:, None] * K + i[None, :]
    pb = B + i[:, None] * T + i[None, :]
    pv = V + i
    for k in range(0, K, T):
        raw = tl.load(pa)
        biased = raw + tl.load(pv)[None, :]
        a = tl.where(biased > 0.0, biased, 0.0)
        b = tl.load(pb)
        c = tl.dot(a, b, c)
        pa += T
        pb += T * T
        pv += T
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
