# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    P,  # float*
    Q,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    q = tl.arange(0, 64)
    p = P + r
    # stored, then loaded for use in another layout
    tl.store(p, r.to(P.dtype.element_ty))
    tl.debug_barrier()  # P is written above and read below
    x = tl.load(p)
    tl.store(Q + r[:, None] * 64 + q[None, :], x[:, None] + q[None, :])
    # loaded, then overwritten, while another use may load it again
    y = tl.load(p)
    tl.debug_barrier()  # P is read above and written below
    tl.store(p, y + 1.0)
    tl.store(Q + T * 64 + q, tl.sum(y, axis=0))
    tl.debug_barrier()  # P is written above and read below
    # loaded for nothing but what is stored
    tl.store(p, tl.load(p) + 2.0)
    tl.debug_barrier()  # P is written above and read below
    z = tl.load(p)
    tl.store(p, z * 3.0)
