# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def ieee_ceil(x):
    # tl.ceil takes numbers below 2^-126 for 0
    return tl.where((x > 0.0) & (x < 1.0), 1.0, tl.ceil(x))


@triton.jit
def ieee_floor(x):
    # tl.floor takes numbers above -2^-126 for 0
    return tl.where((x > -1.0) & (x < 0.0), -1.0, tl.floor(x))


@triton.jit
def f(
    Y,  # float*
    a,
    n,
    h: tl.float16,
):
    tl.store(Y, tl.exp(a))
    tl.store(Y + 1, tl.log(tl.cast(n, tl.float32)) + tl.sqrt(tl.cast(n, tl.float32)))
    tl.store(
        Y + 2,
        tl.where(a > n, a, n)
        + tl.minimum(n, 2)
        + tl.abs(-tl.cast(n, tl.int32))
        + tl.abs(a),
    )
    tl.store(Y + 3, tl.exp(h.to(tl.float32)))
    tl.store(Y + 4, tl.fma(a, a, a))
    tl.store(Y + 5, ieee_floor(a) + ieee_ceil(a))
