# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Z,  # half*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.exp(x.to(tl.float32)))
    tl.store(Y + T + r, tl.log(x.to(tl.float32)))
    tl.store(Y + 2 * T + r, tl.exp(r.to(tl.float32)))
    tl.store(Y + 3 * T + r, tl.sqrt(r.to(tl.float32)))
    tl.store(Y + 4 * T + r, tl.exp(x.to(tl.float32)) + x)
    tl.store(Y + 5 * T + r, tl.exp((x > 0.0).to(tl.float32)))
