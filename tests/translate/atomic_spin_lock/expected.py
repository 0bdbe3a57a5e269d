# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    C,  # float*
    locks,  # int*
    TZ,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    pid = tl.program_id(0)
    z = tl.program_id(1)
    c = tl.load(X + (z * tl.num_programs(0) + pid) * T + r)
    pc = C + pid * T + r
    plock = locks + pid
    pcount = plock + tl.num_programs(0)
    repeat = 1
    while repeat == 1:
        tl.debug_barrier()  # X, read above, may overlap locks, updated below
        repeat = tl.atomic_cas(plock, 0, 1)
    tl.debug_barrier()  # nothing below begins before the lock is taken
    count = tl.load(pcount)
    if count == 0:
        tl.debug_barrier()  # locks, read above, may overlap C, written below
        tl.store(pc, c)
    else:
        tl.debug_barrier()  # locks, read above, may overlap C, written below
        tl.store(pc, c + tl.load(pc))
    tl.debug_barrier()  # all above is done before the lock is released
    tl.atomic_xchg(pcount, (count + 1) % TZ)
    tl.atomic_xchg(plock, 0)
