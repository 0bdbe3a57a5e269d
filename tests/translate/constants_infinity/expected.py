# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    H,  # half*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + r,
        tl.where(
            x < -1.0, float("inf"), tl.where(x > 1.0, float("-inf"), float("inf") - x)
        ),
    )
    h = tl.full((T,), float("-inf"), tl.float16)
    tl.debug_barrier()  # Y, written above, may overlap H, written below
    tl.store(H + r, tl.where(r > 3, h, float("inf")))
    low = float("-inf")
    tl.debug_barrier()  # H, written above, may overlap Y, written below
    x_max = tl.max(x, axis=0)
    tl.store(Y + T, tl.where(low > x_max, low, x_max))
