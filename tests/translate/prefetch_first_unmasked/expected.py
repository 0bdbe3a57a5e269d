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
    a_mask = tl.full((T, T), True, tl.int1)
    b_mask = tl.full((T, T), True, tl.int1)
    for k in range(K, 0, -T):
        a = tl.load(pa, mask=a_mask, other=0.0)
        b = tl.load(pb, mask=b_mask, other=0.0)
        c = tl.dot(a, b, c)
        pa += T
        pb += T * T
        a_mask = tl.broadcast_to((i < k - T)[None, :], (T, T))
        b_mask = tl.broadcast_to((i < k - T)[:, None], (T, T))
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
