# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    Z,  # char*
):
    in_5 = tl.arange(0, 8) < 5
    in_3 = tl.arange(0, 4) < 3
    in_15 = tl.arange(0, 16) < 15
    i = tl.arange(0, 8)
    j = tl.arange(0, 4)
    k = tl.arange(0, 16)
    x = tl.load(
        X + i[:, None] * 3 + j[None, :], mask=in_5[:, None] & in_3[None, :], other=0.0
    )
    flat = tl.gather(
        tl.reshape(x, (32,)),
        tl.arange(0, 16) // 3 * 4 + tl.arange(0, 16) % 3 & 31,
        axis=0,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + k, flat, mask=in_15)
    # three rows of five
    tl.store(
        Y + 15 + j[:, None] * 5 + i[None, :],
        tl.reshape(
            tl.gather(
                tl.reshape(flat, (16,)),
                tl.arange(0, 32) // 8 * 5 + tl.arange(0, 32) % 8 & 15,
                axis=0,
            ),
            (4, 8),
        ),
        mask=in_3[:, None] & in_5[None, :],
    )
    big = (
        tl.gather(
            tl.reshape((x > 0.0).to(tl.int32), (32,)),
            tl.arange(0, 16) // 3 * 4 + tl.arange(0, 16) % 3 & 31,
            axis=0,
        )
        != 0
    )
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z + k, big.to(Z.dtype.element_ty), mask=in_15)
    p = tl.gather(
        tl.reshape((X + i[:, None] * 3 + j[None, :]).to(tl.int64), (32,)),
        tl.arange(0, 16) // 3 * 4 + tl.arange(0, 16) % 3 & 31,
        axis=0,
    ).to(tl.pointer_type(tl.float32))
    tl.debug_barrier()  # Z, written above, may overlap memory, read below
    value = tl.load(p, mask=in_15, other=0.0)
    tl.debug_barrier()  # memory, read above, may overlap Y, written below
    tl.store(Y + 30 + k, value, mask=in_15)
