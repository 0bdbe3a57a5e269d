# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def mm(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    c = tl.zeros((T, T), dtype=tl.float32)
    pa = A + i[:, None] * K + i[None, :]
    pb = B + i[:, None] * T + i[None, :]
    rest = K % T
    for k in range(K, rest, -T):
        a = tl.load(pa)
        b = tl.load(pb)
        c = tl.dot(a, b, c)
        pa += T
        pb += T * T
    # what is left, under its masks
    if rest > 0:
        a = tl.load(pa, mask=(i < rest)[None, :], other=0.0)
        b = tl.load(pb, mask=(i < rest)[:, None], other=0.0)
        c = tl.dot(a, b, c)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
