# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    pid = tl.program_id(0)
    r = pid * 4 + tl.arange(0, 4)
    if pid == 0:
        tl.store(Y + r, r)
    elif pid == tl.num_programs(0) - 1:
        tl.store(Y + r, -r)
    else:
        tl.store(Y + r, 100)
