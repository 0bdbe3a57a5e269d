# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def mm(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    SPLIT,
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    z = tl.program_id(0)
    full = K
    K //= SPLIT
    off = z.to(tl.int64) * K
    pa = A + off + i[:, None] * full + i[None, :]
    pb = B + off * T + i[:, None] * T + i[None, :]
    c = tl.zeros((T, T), dtype=tl.float32)
    for k in range(0, K, T):
        a = tl.load(pa)
        b = tl.load(pb)
        c = tl.dot(a, b, c)
        pa += T
        pb += T * T
    tl.debug_barrier()  # A, read above, may overlap C, updated below
    tl.atomic_add(C + i[:, None] * T + i[None, :], c)
