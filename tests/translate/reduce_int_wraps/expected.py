# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    U,  # unsigned int*
    L,  # long*
    Y,  # int*
    V,  # unsigned int*
    M,  # long*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum(x, axis=0))
    tl.store(Y + 1, tl.max(x, axis=0))
    tl.debug_barrier()  # Y, written above, may overlap U, read below
    value = tl.sum(tl.load(U + r), axis=0)
    tl.debug_barrier()  # U, read above, may overlap V, written below
    tl.store(V, value)
    tl.debug_barrier()  # V, written above, may overlap U, read below
    value_1 = tl.max(tl.load(U + r), axis=0)
    tl.debug_barrier()  # U, read above, may overlap V, written below
    tl.store(V + 1, value_1)
    tl.debug_barrier()  # V, written above, may overlap U, read below
    value_2 = tl.min(tl.load(U + r), axis=0)
    tl.debug_barrier()  # U, read above, may overlap V, written below
    tl.store(V + 2, value_2)
    tl.debug_barrier()  # V, written above, may overlap L, read below
    value_3 = tl.sum(tl.load(L + r), axis=0)
    tl.debug_barrier()  # L, read above, may overlap M, written below
    tl.store(M, value_3)
    tl.debug_barrier()  # M, written above, may overlap L, read below
    value_4 = tl.min(tl.load(L + r), axis=0)
    tl.debug_barrier()  # L, read above, may overlap M, written below
    tl.store(M + 1, value_4)
