# Translated from Triton-C by pytriton.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def f(
    X,  # float*
    Z,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.exp(x))
    tl.store(Y + T + r, tl.log(x))
    tl.store(Y + 2 * T + r, tl.sqrt(x))
    tl.store(Y + 3 * T + r, tl.sqrt(x))
    tl.store(Y + 4 * T + r, tl.sin(z))
    tl.store(Y + 5 * T + r, tl.cos(z))
    tl.store(Y + 6 * T + r, tl.log2(x))
    tl.store(Y + 7 * T + r, tl.exp2(z))
    tl.store(Y + 8 * T + r, libdevice.tanh(z))
    tl.store(Y + 9 * T + r, tl.sigmoid(z))
    tl.store(Y + 10 * T + r, tl.rsqrt(x))
    tl.store(Y + 11 * T + r, tl.erf(z))
    tl.store(Y + 12 * T + r, libdevice.pow(z * z, z))
