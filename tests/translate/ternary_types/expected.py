# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    H,  # half*
    Y,  # float*
    Z,  # long*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    h = tl.load(H + r)
    x = 0.1
    u = tl.full((), 1, tl.uint32)
    tl.debug_barrier()  # H, read above, may overlap Y, written below
    tl.store(Y + r, tl.where(r > 3, h, x))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z + r, tl.where(r > 3, 4294967295, u).to(Z.dtype.element_ty))
    tl.store(Z + T + r, tl.where(r > 3, r > 5, 7).to(Z.dtype.element_ty))
