# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    p = X + tl.arange(1, 2)
    q = tl.sum(p.to(tl.int64), axis=0).to(tl.pointer_type(tl.float32))
    value = tl.load(q)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, value)
    s = p[:, None] + 1
    q = tl.sum(tl.reshape(s.to(tl.int64), (1,)), axis=0).to(tl.pointer_type(tl.float32))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.load(q)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    t = tl.sum((Y + tl.arange(0, 1)).to(tl.int64), axis=0).to(
        tl.pointer_type(tl.float32)
    )
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = tl.load(q + 1)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(t + 2, value_2)
