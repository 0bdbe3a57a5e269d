# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # int*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + r
    end = X + n
    tl.store(
        Y + r,
        tl.where(
            p.to(tl.int64) < end.to(tl.int64),
            1,
            tl.where(p.to(tl.int64) == end.to(tl.int64), 2, 3),
        ),
    )
