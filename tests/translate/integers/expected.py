# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# C's integers: truncating division, wrapping, shifts, promotion of narrow types
@triton.jit
def integers(
    X,  # int*
    Y,  # int*
    Z,  # char*
    n,
    big: tl.int64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.store(Y + r, x // n)
    tl.store(Y + T + r, x % n)
    tl.store(Y + 2 * T + r, x >> 3)
    tl.store(Y + 3 * T + r, z * z.to(tl.int32) * z)
    tl.store(Y + 4 * T + r, x * 65537 + z << 5)
    tl.store(Y + 5 * T + r, (big * x >> 32).to(Y.dtype.element_ty))
    tl.store(Y + 6 * T + r, -3 + -1 + tl.cast(n, tl.int32) // -2)
    tl.store(Y + 7 * T + r, (x > 0) + (z > 0).to(tl.int32) + (x == 0))
