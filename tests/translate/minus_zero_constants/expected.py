# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    H,  # half*
    Z,  # double*
    T: tl.constexpr,
    N: tl.constexpr,
):
    r = tl.arange(0, T)
    y = tl.full((T,), -1.0 * tl.full((), 0.0, tl.float32), tl.float32)
    h = tl.full((T,), -1.0 * tl.full((), 0.0, tl.float16), tl.float16)
    z = tl.full((T,), -1.0 * tl.full((), 0.0, tl.float64), tl.float64)
    tl.store(Y + r, y)
    tl.store(Y + T + r, tl.where(r > 1, 1.0, -1.0 * tl.full((), 0.0, tl.float32)))
    tl.store(Y + 2 * T, -1.0 * tl.full((), 0.0, tl.float32))
    tl.store(Y + 2 * T + 1, -1.0 * tl.full((), 0.0, tl.float32))
    tl.store(Y + 2 * T + 2, -1.0 * tl.full((), 0.0, tl.float32))
    tl.store(Y + 2 * T + 3, N)
    tl.debug_barrier()  # Y, written above, may overlap H, written below
    tl.store(H + r, h)
    tl.debug_barrier()  # H, written above, may overlap Z, written below
    tl.store(Z + r, z)
    tl.store(Z + T + r, -1.0 * tl.full((), 0.0, tl.float64))
