# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
):
    a = tl.where(
        n > 2,
        tl.load(X + 1, mask=n > 2, other=0.0),
        tl.load(X + 1000000000, mask=n <= 2, other=0.0),
    )
    b = tl.where((n > 2) & (tl.load(X + 2, mask=n > 2, other=0.0) > 0.0), 1, n).to(
        tl.float32
    )
    c = tl.load(X, mask=n == 0, other=b)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, a)
    tl.store(Y + 1, b + c)
