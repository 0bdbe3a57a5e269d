# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    L,  # float*
    n,
    scale,
):
    scale_log2 = scale * 1.4426950408889634
    r = tl.arange(0, 16)
    c = tl.arange(0, 32)
    m = tl.full((16,), float("-inf"), tl.float32)
    l = tl.zeros((16,), dtype=tl.float32)
    for k in range(0, n, 32):
        s = tl.load(X + r[:, None] * n + k + c[None, :])
        m_new = tl.maximum(m, tl.max(s, axis=1) * scale_log2)
        l = l * tl.exp2(m - m_new) + tl.sum(
            tl.exp2(s * scale_log2 - m_new[:, None]), axis=1
        )
        m = m_new
    tl.debug_barrier()  # X, read above, may overlap L, written below
    # in natural units again
    tl.store(L + r, m * 0.6931471805599453 + tl.log(l))
