# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    n,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    m = tl.arange(0, M)
    c = tl.arange(0, N)
    pa = A + m[:, None] * n + tl.arange(0, K)[None, :]
    pb = B + c[:, None] * n + tl.arange(0, K)[None, :]
    sum = tl.zeros((M, N), dtype=tl.float32)
    # whole turns only
    # under a test, so that ptxas overlaps the products of consecutive iterations
    if n > 0:
        for k in range(0, n, K):
            sum = tl.dot(tl.load(pa), tl.trans(tl.load(pb)), sum)
            pa += K
            pb += K
    tl.store(C + m[:, None] * N + c[None, :], sum)
