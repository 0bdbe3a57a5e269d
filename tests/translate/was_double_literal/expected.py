# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    H,  # half*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.load(X + r) * 0.1
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
    tl.debug_barrier()  # Y, written above, may overlap H, read below
    value_1 = (tl.load(H + r) * 0.1).to(tl.float32)
    tl.debug_barrier()  # H, read above, may overlap Y, written below
    tl.store(Y + T + r, value_1)
