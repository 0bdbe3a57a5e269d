# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    x,
    W: tl.constexpr,
):
    tl.store(Y, 1.0 / (x * 0.0 + -1.0 * tl.full((), 0.0, tl.float32)))
    tl.store(Y + 1, 1.0 / (x * 0.0 + -1.0 * tl.full((), 0.0, tl.float32)))
    tl.store(Y + 2, 1.0 / (-1.0 * tl.full((), 0.0, tl.float32)))
    tl.store(
        Y + 3,
        1.0
        / tl.where(
            -1.0 * tl.full((), 0.0, tl.float32) > -1.0 * tl.full((), 0.0, tl.float32),
            -1.0 * tl.full((), 0.0, tl.float32),
            -1.0 * tl.full((), 0.0, tl.float32),
        ),
    )
