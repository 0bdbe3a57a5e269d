# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # char*
    Z,  # char*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    u = x.to(tl.uint8)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + z.to(tl.int32))
    tl.store(Y + T + r, x * z.to(tl.int32))
    tl.store(Y + 2 * T + r, x.to(tl.int32) << 4)
    tl.store(Y + 3 * T + r, x.to(tl.int32) // 3)
    tl.store(Y + 4 * T + r, -x.to(tl.int32))
    tl.store(Y + 5 * T + r, ~x.to(tl.int32))
    tl.store(Y + 6 * T + r, x + z.to(tl.int32) >> 1)
    tl.store(Y + 7 * T + r, (x > z.to(tl.int32)).to(Y.dtype.element_ty))
    tl.store(Y + 8 * T + r, u * u.to(tl.int32))
