# Translated from Triton-C by pytriton.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    Z,  # float*
    s,
):
    r = tl.arange(0, 16)
    c = tl.arange(0, 32)
    at = r[:, None] * 32 + c[None, :]
    x = tl.load(X + at)
    y = tl.load(Y + at)
    sum = tl.sum(y, axis=1)
    tl.debug_barrier()  # X, read above, may overlap Z, written below
    # one division a row
    tl.store(Z + at, x * (1.0 / sum)[:, None])
    tl.debug_barrier()  # Z is written above and below
    tl.store(Z + 512 + at, x * (1.0 / s))
    tl.debug_barrier()  # Z is written above and below
    # the approximate one
    tl.store(Z + 1024 + at, libdevice.fast_dividef(x, y))
    tl.debug_barrier()  # Z is written above and below
    # no division at all
    tl.store(Z + 1536 + at, x * tl.rsqrt(y))
    tl.debug_barrier()  # Z is written above and below
    tl.store(Z + 2048 + at, (x - s) * tl.rsqrt(sum)[:, None])
    tl.debug_barrier()  # Z is written above and below
    # of integers and of double nothing changes
    tl.store(
        Z + 2560 + at,
        (at // (c + 1)[None, :] + x / s.to(tl.float64)).to(Z.dtype.element_ty),
    )
