# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    zero = tl.zeros((T,), dtype=tl.int32)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, -1.0 * tl.max(x, axis=0))
    tl.store(Y + 1, (tl.sum(x, axis=0).to(tl.int32) // n).to(Y.dtype.element_ty))
    tl.store(Y + 2, -1.0 * tl.max(-1.0 * x, axis=0))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.broadcast_to(tl.load((X + r)[:, None]), (T, T))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 3 + r[:, None] + zero[None, :], value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.load(X) + 1.0 - -1.0 * tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 19 + r, value_1)
