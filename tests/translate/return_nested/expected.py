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
    if n > 0:
        returned = False
        running = True
        while running:
            j = tl.full((), 0, tl.int32)
            running_1 = True
            while running_1 & (j < 3):
                # X, read by an earlier iteration, may overlap Y, written below
                tl.debug_barrier()
                tl.store(Y + 1, i * 3 + j)
                tl.debug_barrier()  # Y, written above, may overlap X, read below
                if tl.load(X + i * 3 + j) < 0:
                    returned = True
                    running_1 = False
                else:
                    j += 1
            if returned:
                running = False
            else:
                i += 1
                if i == n:
                    running = False
        if returned:
            return
        tl.debug_barrier()  # X, read above, may overlap Y, written below
        tl.store(Y + 2, 7)
    tl.store(Y, i)
    returned = False
    j = tl.full((), 0, tl.int32)
    running = True
    while running & (j < 4):
        tl.debug_barrier()  # Y, written above, may overlap X, read below
        if tl.load(X + j) > 5:
            returned = True
            running = False
        else:
            j += 1
