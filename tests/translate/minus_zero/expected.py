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
    x = tl.load(X + r)
    h = tl.load(H + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + r, (tl.cast(-1.0 * x, tl.int32, bitcast=True) < 0).to(Y.dtype.element_ty)
    )
    tl.store(Y + T + r, 1.0 / (-1.0 * x))
    tl.store(Y + 2 * T + r, 1.0 / (-1.0 * h))
    tl.store(Y + 3 * T + r, tl.exp(-x))
    tl.store(Y + 4 * T + r, 1.0 / (-1.0 * x + -1.0 * tl.full((), 0.0, tl.float32)))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = 1.0 / (-1.0 * tl.load(X))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 5 * T, value)
