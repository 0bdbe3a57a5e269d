# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
    Z,  # long*
    n,
    D: tl.constexpr,
):
    tl.store(Y, tl.where(n != 0, tl.cast(D, tl.float64), 0.1))
    tl.store(Y + 1, tl.where(n != 0, tl.full((), 0.0, tl.float64), 0.1) + 1.0)
    tl.store(
        Y + 2,
        tl.where(
            tl.full((), 0.1, tl.float64) > tl.full((), 0.3, tl.float64),
            tl.full((), 0.1, tl.float64),
            0.3,
        )
        + 0.0,
    )
    tl.store(Y + 3, (tl.where(n != 0, 0.1, 0.3) + 0.0).to(Y.dtype.element_ty))
    tl.store(
        Y + 4,
        tl.where(
            tl.full((), 4294967295.0, tl.float64) > 0.5,
            tl.full((), 4294967295.0, tl.float64),
            0.5,
        ),
    )
    tl.store(
        Y + 5,
        tl.where(
            tl.full((), 0.0025, tl.float64) < 9.223372036854776e18,
            tl.full((), 0.0025, tl.float64),
            9.223372036854776e18,
        ),
    )
    tl.store(
        Y + 6, (tl.where(n != 0, 9007200000000000.0, 0.5) * 1.0).to(Y.dtype.element_ty)
    )
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.where(n != 0, tl.cast(1 + 1, tl.int64), 3000000000))
    tl.store(Z + 1, tl.maximum(tl.cast(D, tl.int64), 5000000000))
    tl.store(
        Z + 2,
        tl.where(n > 5, tl.full((), 4294967295, tl.uint32), 1).to(Z.dtype.element_ty),
    )
    tl.store(Z + 3, tl.where(D != 0, tl.cast(D, tl.int64), 1 << 40))
    tl.store(
        Z + 4,
        (4294967295 < tl.where(n != 0, tl.full((), 1, tl.uint32), 3)).to(
            Z.dtype.element_ty
        ),
    )
