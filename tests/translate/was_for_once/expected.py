# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    K,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    s = tl.zeros((T,), dtype=tl.float32)
    for k in range(0, K, T):
        s += tl.load(X + k + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, s)
