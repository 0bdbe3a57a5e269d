# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    D,  # int*
    Y,  # float*
    K,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    pa = A + r
    pd = D
    sum = tl.zeros((T,), dtype=tl.float32)
    a_pointer = pa
    for k in range(0, K, T):
        # the next operand, by the step that was loaded a turn ago
        a = tl.load(a_pointer)
        a *= 0.5
        # the first step, and the first operand
        d = tl.load(pd)
        sum += a
        a_pointer = pa + d
        pa += d
        pd += 1
    tl.debug_barrier()  # A, read above, may overlap Y, written below
    tl.store(Y + r, sum)
