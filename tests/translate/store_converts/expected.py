# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # half*
    Z,  # int*
    s,
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    p = Y + i[:, None] * 16 + j[None, :]
    tl.store(p, s.to(Y.dtype.element_ty))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(
        Z + i[:, None] * 16 + j[None, :], (j + 0.75).to(Z.dtype.element_ty)[None, :]
    )
