# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def widen_lhs(x):
    # [M, K] -> [M, 2 * K] with a zero after each element: tl.dot needs a larger K
    joined = tl.join(x, tl.zeros_like(x))
    return tl.reshape(joined, (x.shape[0], 2 * x.shape[1]))


@triton.jit
def widen_rhs(x):
    # [K, N] -> [2 * K, N] with a row of zeros after each row, to match widen_lhs
    joined = tl.permute(tl.join(x, tl.zeros_like(x)), (0, 2, 1))
    return tl.reshape(joined, (2 * x.shape[0], x.shape[1]))


@triton.jit
def f(
    X,  # int*
    Y,  # int*
):
    r = tl.arange(0, 4)
    i = r[:, None] * 4 + r[None, :]
    m = i < 6
    # nothing outside of the first six elements of X may be touched where m asks for them only
    value = tl.where(
        m,
        tl.trans(
            tl.load(
                X + 1000000000 * (tl.trans(i) >= 6) + tl.trans(i),
                mask=tl.trans(m),
                other=0,
            )
        ),
        -1,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.where(
        r < 2,
        tl.sum(
            tl.load(X + 1000000000 * (i >= 8) + i, mask=(r < 2)[:, None], other=0),
            axis=1,
        ),
        -1,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 16 + r, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = tl.where(
        i < 6,
        tl.load(
            X + 1000000000 * (r >= 2) + r,
            mask=tl.max((i < 6).to(tl.int32), axis=1) != 0,
            other=0,
        )[:, None],
        -1,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 20 + i, value_2)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_3 = tl.where(
        r < 1,
        tl.max(
            tl.load(X + 1000000000 * (i >= 4) + i, mask=(r < 1)[:, None], other=0),
            axis=1,
        )
        + tl.load(X + 1000000000 * r, mask=r < 1, other=0),
        -1,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 36 + r, value_3)
    s = tl.reshape(r, (2, 2))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_4 = tl.where(
        r < 2,
        tl.reshape(
            tl.load(
                X + 1000000000 * (s >= 2) + s, mask=tl.reshape(r < 2, (2, 2)), other=0
            ),
            (4,),
        ),
        -1,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 40 + r, value_4)
    h = tl.full((4, 4), 1.0, tl.float16)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    p = tl.where(
        i < 4,
        tl.dot(
            widen_lhs(
                widen_lhs(
                    tl.load(
                        X + 1000000000 * (i >= 4) + i,
                        mask=(tl.max((i < 4).to(tl.int32), axis=1) != 0)[:, None],
                        other=0,
                    ).to(tl.float16)
                )
            ),
            widen_rhs(widen_rhs(h)),
        ),
        -1.0,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 44 + i, p.to(Y.dtype.element_ty))
