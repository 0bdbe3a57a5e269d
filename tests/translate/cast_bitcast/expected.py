# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # int*
    H,  # half*
    s: tl.float64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    i = tl.cast(x, tl.int32, bitcast=True)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, i)
    tl.store(Y + T + r, tl.cast(x, tl.int32, bitcast=True) & 2147483647)
    tl.debug_barrier()  # Y, written above, may overlap X, written below
    tl.store(X + r, tl.cast(i ^ -2147483647 - 1, tl.float32, bitcast=True))
    tl.debug_barrier()  # X, written above, may overlap H, read below
    value = tl.cast(tl.load(H + r), tl.uint16, bitcast=True).to(tl.int32)
    tl.debug_barrier()  # H, read above, may overlap Y, written below
    tl.store(Y + 2 * T + r, value)
    tl.store(
        Y + 3 * T + r, (tl.cast(s, tl.int64, bitcast=True) >> 32).to(Y.dtype.element_ty)
    )
