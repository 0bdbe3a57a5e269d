# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


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
    tl.store(Y + 5, tl.floor(a) + tl.ceil(a))
