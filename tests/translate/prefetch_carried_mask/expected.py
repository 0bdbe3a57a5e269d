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
    checka = tl.broadcast_to(i[None, :] < K, (T, T))
    checkb = tl.broadcast_to(i[:, None] < K, (T, T))
    for k in range(K, 0, -T):
        a = tl.load(pa, mask=checka, other=0.0)
        b = tl.load(pb, mask=checkb, other=0.0)
        c = tl.dot(a, b, c)
        pa += T
        pb += T * T
        checka = tl.broadcast_to(i[None, :] < k - T, (T, T))
        checkb = tl.broadcast_to(i[:, None] < k - T, (T, T))
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + i[:, None] * T + i[None, :], c)
