# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    u: tl.uint8,
    n: tl.uint32,
    m: tl.uint64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    v = r.to(tl.uint32)
    value = tl.load(X + 300 - u.to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.load(X + 300 - n.to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = tl.load(X + 300 - m)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 2, value_2)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_3 = tl.load(X + 300 + (n - n) - (-u.to(tl.int32)).to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 3, value_3)
    p = X + 300
    p -= n.to(tl.int64)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_4 = tl.load(p)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 4, value_4)
    s = 0
    i = tl.full((), 0, tl.uint32)
    while i < 4:
        tl.debug_barrier()  # Y, written above, may overlap X, read below
        s += tl.load(p - i.to(tl.int64))
        i += 1
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 5, s)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_5 = tl.load(X + 300 - v.to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 8 + r, value_5)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_6 = tl.load(X + 300 - r.to(tl.uint8).to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 8 + T + r, value_6)
