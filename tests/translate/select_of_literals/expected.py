# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    L,  # long*
    D,  # double*
    H,  # half*
    U,  # unsigned int*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    a = tl.where(r < 2, tl.full((), 1, tl.int64), 3)
    tl.store(L + r, a * 2147483647)
    tl.store(L + T + r, tl.maximum(tl.full((), 1, tl.int64), 2) * 2147483647 + r)
    u = tl.where(r < 2, tl.full((), 1, tl.uint32), 2)
    tl.debug_barrier()  # L, written above, may overlap U, written below
    tl.store(U + r, tl.where(u - 3 > 5, tl.full((), 7, tl.uint32), 8))
    d = tl.full((T,), tl.where(n > 2, tl.full((), 0.1, tl.float64), 0.7), tl.float64)
    tl.debug_barrier()  # U, written above, may overlap D, written below
    tl.store(D + r, d)
    h = tl.full((T,), tl.where(n > 2, tl.full((), 0.1, tl.float16), 0.7), tl.float16)
    tl.debug_barrier()  # D, written above, may overlap H, written below
    tl.store(H + r, h * h)
