# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    i = tl.program_id(0)
    j = tl.program_id(1)
    k = tl.program_id(2)
    tl.store(
        Y + (i * tl.num_programs(1) + j) * tl.num_programs(2) + k,
        tl.num_programs(0) * 1000 + i * 100 + j * 10 + k,
    )
