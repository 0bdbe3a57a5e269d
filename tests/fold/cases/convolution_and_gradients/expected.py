# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


# Three products of a sparse convolution: the result (neither), the gradient of the data (DX), of the weights (DW).
@triton.jit
def conv(
    X, W, Y,  # half* or float*
    LUT,  # int*
    P, C, K, stride_xp, stride_wr, stride_yp,
    BIAS_PTR,  # half* or float*
    TP: tl.constexpr, TC: tl.constexpr, TK: tl.constexpr, DX: tl.constexpr = False, DW: tl.constexpr = False,
    BIAS: tl.constexpr = False, ACCUMULATE: tl.constexpr = False,
):  # fmt: skip
    tl.static_assert(
        DW
        and not BIAS
        and not DX
        or not DW
        and (TC > 0 and TC & (TC - 1) == 0 or TC >= 1 and not (TC > 0 and TC & (TC - 1) == 0) and 1 % TC != 0),
        "port again with -D or a --run of this",
    )
    tl.static_assert(
        X.dtype.element_ty == tl.float16
        and one_of(Y.dtype.element_ty, tl.float16, tl.float32)
        or X.dtype.element_ty == tl.float32
        and Y.dtype.element_ty == tl.float32,
        "port again with -D TYPE=... -D OTYPE=...",
    )
    tl.static_assert(W.dtype == X.dtype and LUT.dtype == tl.pointer_type(tl.int32), "pass tensors of these types")
    TC_PADDED: tl.constexpr = triton.next_power_of_2(TC)
    in_TC = tl.arange(0, TC_PADDED) < TC if TC != TC_PADDED else tl.full((TC_PADDED,), True, tl.int1)
    pid = tl.program_id(0)
    pidk = tl.program_id(1)
    # what this program reads, and how often
    head = LUT + pid * 4
    start = tl.load(head)
    count = tl.load(head + 1)
    where = tl.load(head + 2)
    if not DW:
        taps = count
    rp = tl.arange(0, TP)
    rc = tl.arange(0, TC_PADDED)
    rk = pidk * TK + tl.arange(0, TK)
    if DW:
        acc = tl.zeros((TC_PADDED, TK), dtype=tl.float32)
        # pixels are summed
        whole = count // TP * TP
        for p in range(0, whole, TP):
            pixel = tl.load(LUT + start + p + rp)
            x = tl.load(X + rc[:, None] + pixel[None, :] * stride_xp, mask=in_TC[:, None], other=0.0)
            y = tl.load(W + pixel[:, None] * stride_wr + rk[None, :], mask=(rk < K)[None, :], other=0.0)
            acc = tl.dot(x, y, acc, input_precision="ieee")
        # what is left, under its masks
        if whole < count:
            pixel = tl.load(LUT + start + whole + rp)
            in_ = whole + rp < count
            x = tl.load(X + rc[:, None] + pixel[None, :] * stride_xp, mask=in_[None, :] & in_TC[:, None], other=0.0)
            y = tl.load(W + pixel[:, None] * stride_wr + rk[None, :], mask=in_[:, None] & (rk < K)[None, :], other=0.0)
            acc = tl.dot(x, y, acc, input_precision="ieee")
        py = Y + where * stride_yp + rc[:, None] * K + rk[None, :]
        checky = (rc < C)[:, None] & (rk < K)[None, :] & in_TC[:, None]
    else:
        acc = tl.zeros((TP, TK), dtype=tl.float32)
        offp = (where + rp) * stride_xp
        for tap in range(taps):
            # one tap of the filter
            shift = tl.load(LUT + start + tap * 2)
            filter = tl.load(LUT + start + tap * 2 + 1)
            whole = C // TC * TC
            for c in range(0, whole, TC):
                x = tl.load(X + offp[:, None] + shift + c + rc[None, :], mask=in_TC[None, :], other=0.0)
                if DX:
                    w = tl.load(
                        W + filter * stride_wr + rk[:, None] * C + c + rc[None, :],
                        mask=tl.broadcast_to((rk < K)[:, None], (TK, TC_PADDED)) & in_TC[None, :],
                        other=0.0,
                    )
                    acc = tl.dot(x, tl.trans(w), acc, input_precision="ieee")
                else:
                    w = tl.load(
                        W + filter * stride_wr + (c + rc)[:, None] * K + rk[None, :],
                        mask=tl.broadcast_to((rk < K)[None, :], (TC_PADDED, TK)) & in_TC[:, None],
                        other=0.0,
                    )
                    acc = tl.dot(x, w, acc, input_precision="ieee")
            # what is left, under its masks
            if whole < C:
                x = tl.load(
                    X + offp[:, None] + shift + whole + rc[None, :],
                    mask=(whole + rc < C)[None, :] & in_TC[None, :],
                    other=0.0,
                )
                if DX:
                    w = tl.load(
                        W + filter * stride_wr + rk[:, None] * C + whole + rc[None, :],
                        mask=(rk < K)[:, None] & (whole + rc < C)[None, :] & in_TC[None, :],
                        other=0.0,
                    )
                    acc = tl.dot(x, tl.trans(w), acc, input_precision="ieee")
                else:
                    w = tl.load(
                        W + filter * stride_wr + (whole + rc)[:, None] * K + rk[None, :],
                        mask=(whole + rc < C)[:, None] & (rk < K)[None, :] & in_TC[:, None],
                        other=0.0,
                    )
                    acc = tl.dot(x, w, acc, input_precision="ieee")
        if BIAS:
            tl.static_assert(BIAS_PTR.dtype == X.dtype, "pass tensors of these types")
            acc += tl.load(BIAS_PTR + rk, mask=rk < K, other=0.0)[None, :]
        py = Y + (where + rp)[:, None] * stride_yp + rk[None, :]
        checky = (where + rp < P)[:, None] & (rk < K)[None, :]
    if ACCUMULATE:
        acc += tl.load(py, mask=checky, other=0.0)
        tl.debug_barrier()  # Y is read above and written below
    tl.store(py, acc.to(Y.dtype.element_ty), mask=checky)
