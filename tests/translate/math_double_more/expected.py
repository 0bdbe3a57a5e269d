# Translated from Triton-C by pytriton.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def f(
    X,  # double*
    Z,  # double*
    Y,  # double*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, libdevice.tanh(z))
    tl.store(Y + T + r, tl.sigmoid(z))
    tl.store(Y + 2 * T + r, tl.rsqrt(z * z))
    tl.store(Y + 3 * T + r, tl.erf(z))
    tl.store(Y + 4 * T + r, libdevice.pow(z * z, z))
    tl.store(Y + 5 * T + r, tl.log2(z * z))
    tl.store(Y + 6 * T + r, tl.exp2(z))
