# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    H,  # half*
    N,  # int*
    Y,  # float*
    Z,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    h = tl.load(H + r)
    n = tl.load(N + r)
    tl.debug_barrier()  # H, read above, may overlap Y, written below
    tl.store(
        Y + r,
        (tl.floor(h.to(tl.float32)).to(tl.float16) / 3.0)
        .to(tl.float16)
        .to(Y.dtype.element_ty),
    )
    tl.store(
        Y + T + r,
        (tl.ceil(h.to(tl.float32)).to(tl.float16) * 1000.0).to(Y.dtype.element_ty),
    )
    tl.store(Y + 2 * T + r, (tl.abs(h) + h).to(Y.dtype.element_ty))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z + r, n // 3 + n + tl.abs(n))
