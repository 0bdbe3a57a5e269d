# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.zeros((T,), dtype=tl.int32)
    c = tl.full((), 0, tl.int8)
    b = tl.zeros((T,), dtype=tl.int1)
    h = tl.full((), 0.0, tl.float16)
    x = tl.load(X + r).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x)
    x = tl.full((T,), 7, tl.int32)
    c = tl.full((), 44, tl.int8)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    b = tl.load(X + r) != 0.0
    h = tl.full((), 2048.0, tl.float16)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + T + r, x + c + b)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 3 * T, h.to(Y.dtype.element_ty))
    r = tl.full((T,), 5, tl.int32)
    tl.store(Y + 2 * T + tl.arange(0, T), r)
