# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    H,  # half*
    Y,  # float*
    C,  # float*
    n,
):
    r = tl.arange(0, 16)
    at = r[:, None] * 16 + r[None, :]
    c = tl.zeros((16, 16), dtype=tl.float32)
    for k in range(n):
        # Y, written by an earlier iteration, may overlap H, read below
        tl.debug_barrier()
        h = tl.load(H + at)
        x = tl.load(X + at)
        tl.debug_barrier()  # H, read above, may overlap Y, written below
        # exp2, as everything here waits for the tensor cores
        tl.store(Y + at, tl.exp2(x * 1.4426950408889634))
        c = tl.dot(h, h, c)
    # exp, as nothing does
    tl.store(C + at, tl.exp(c))
