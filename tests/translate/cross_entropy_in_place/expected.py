# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def xent(
    L,  # float*
    idx,  # long*
    N,  # float*
    cols,
    T: tl.constexpr,
):
    row = tl.program_id(0)
    r = tl.arange(0, T)
    check = r < cols
    p = L + row * cols + r
    x = tl.load(p, mask=check, other=float("-inf"))
    x -= tl.max(x, axis=0)
    s = tl.log(tl.sum(tl.exp(x), axis=0))
    tl.debug_barrier()  # L is read above and written below
    tl.store(p, s - x, mask=check)
    tl.debug_barrier()  # L is written above and read below
    value = tl.load(L + row * cols + tl.load(idx + row))
    tl.debug_barrier()  # L, read above, may overlap N, written below
    tl.store(N + row, value)
