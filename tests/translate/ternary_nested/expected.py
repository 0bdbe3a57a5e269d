# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    B,  # float*
    C,  # float*
    Y,  # float*
    n,
    m,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.where(
        r < n,
        tl.where(
            r < m,
            tl.load(A + r, mask=(r < n) & (r < m), other=0.0),
            tl.load(B + r, mask=(r < n) & (r >= m), other=0.0),
        ),
        tl.where(r > m, tl.load(C + r, mask=(r >= n) & (r > m), other=0.0) * 2.0, -1.0),
    )
    tl.debug_barrier()  # A, read above, may overlap Y, written below
    tl.store(Y + r, value)
