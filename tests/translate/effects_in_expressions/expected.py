# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
):
    i = tl.full((), 0, tl.int32)
    s = tl.full((), 0, tl.int32)
    running = True
    n = n + 0
    while running:
        old_n = n
        n -= 1
        if old_n <= 0:
            running = False
        elif n != 3:
            s += n
    tl.store(Y, s)
    Y += 1
    running = True
    while running:
        tl.debug_barrier()  # Y, written above, may overlap X, read below
        s += tl.load(X)
        X += 1
        if s % 4 != 0:
            s += 1
        i += 1
        if ~((i < 3) & (s < 100)):
            running = False
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + i, s)
    i += 1
    i = tl.full((), 5, tl.int32)
    s = tl.full((), 7, tl.int32)
    k = i + 1 + s
    old_i = i
    i += 1
    value = k + ((old_i > 5) | (i == 6))
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 5, value)
    tl.store(Y, value)
    i += 1
    if i == 8:
        tl.store(Y + 6, i)
    else:
        old_i_1 = i
        i -= 1
        if old_i_1 == 7:
            tl.store(Y + 7, i)
    j = tl.full((), 3, tl.int32)
    running = True
    while running:
        old_j = j
        j -= 1
        if old_j <= 0:
            running = False
        else:
            tl.debug_barrier()  # Y is written above and below
            tl.store(Y + 8 + j, j)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 11, (4 + i.to(tl.uint64)).to(Y.dtype.element_ty))
