# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    i = tl.arange(0, 4)
    j = tl.arange(0, 8)
    k = tl.arange(0, 32)
    o = i[:, None] * 8 + j[None, :]
    a = tl.full((4, 8), -1.5, tl.float32)
    b = tl.broadcast_to(j.to(tl.float32)[None, :], (4, 8))
    c = tl.broadcast_to(i[:, None].to(tl.float32), (4, 8))
    d = tl.reshape(tl.load(X + o), (32,))
    e = tl.reshape(d * 2.0, (4, 8))
    one = tl.full((1,), 3.0, tl.float32)
    s = tl.sum(one, axis=0)
    g = tl.broadcast_to(i[:, None].to(tl.float32), (4, 8))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + o, a + b)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 32 + o, c + s)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 64 + k, d)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 96 + o, e + g)
