# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
):
    pid = tl.program_id(0)
    if pid >= n:
        return
    tl.store(Y + pid, 1)
    if pid == 1:
        tl.store(Y + pid, 2)
        return
    elif pid == 2:
        return
    tl.debug_barrier()  # Y is written above and read below
    value = tl.load(Y + pid) + 10
    tl.debug_barrier()  # Y is read above and written below
    tl.store(Y + pid, value)
    return
