# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    N,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    s = tl.zeros((T,), dtype=tl.float32)
    for k in range(N, 0, -T):
        x = tl.load(X + N - k + r, mask=r < k, other=0.0)
        s = s * 2.0 + x
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, s)
