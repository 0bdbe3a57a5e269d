# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def softmax(
    Y,  # float*
    X,  # float*
    stride,
    N,
    TN: tl.constexpr,
):
    in_TN = tl.arange(0, triton.next_power_of_2(TN)) < TN
    row = tl.program_id(0)
    r = tl.arange(0, triton.next_power_of_2(TN))
    check = (r < N) & in_TN
    px = X + row * stride + r
    x = tl.load(px, mask=check, other=float("-inf"))
    z = tl.exp(x - tl.max(tl.where(in_TN, x, float("nan")), axis=0))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + row * stride + r, z / tl.sum(tl.where(in_TN, z, 0.0), axis=0), mask=check
    )
