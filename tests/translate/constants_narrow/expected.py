# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # double*
    Y,  # double*
    Z,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + 1.6015625)
    tl.store(Y + T + r, x * 0.3333333432674408)
    tl.store(Y + 2 * T + r, x - 0.2998046875)
    tl.store(Y + 3 * T, 0.03333333507180214)
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(
        Z + r,
        tl.broadcast_to(
            (tl.full((1,), 1.5, tl.bfloat16) < tl.full((1,), 2.5, tl.bfloat16)).to(
                tl.float32
            ),
            (T,),
        ).to(Z.dtype.element_ty),
    )
