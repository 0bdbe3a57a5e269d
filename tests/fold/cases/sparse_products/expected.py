# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


@triton.constexpr_function
def spelled(value):
    # 1 and 1.0 are equal, but not to a text; nor are 0.0 and -0.0
    return str(value)


@triton.jit
def kernel(
    A, B, C,  # half* or float*
    M, N, K, stride_za, stride_ha, stride_ma, stride_ka, stride_zb, stride_hb, stride_kb, stride_nb, stride_zc,
    stride_hc, stride_mc,
    LUT, LOCKS,  # int*
    nlocks, off_width,
    TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BLOCK: tl.constexpr, TZ: tl.constexpr,
    STRIDE_OUTER: tl.constexpr, STRIDE_INNER: tl.constexpr, SDD: tl.constexpr = False, DSD: tl.constexpr = False,
    DDS: tl.constexpr = False,
):  # fmt: skip
    tl.static_assert(isinstance(BLOCK, int) and BLOCK < 2**31 and BLOCK > -(2**31), "port again with -D BLOCK=...")
    tl.static_assert(isinstance(TZ, int) and TZ < 2**31 and TZ > -(2**31), "port again with -D TZ=...")
    tl.static_assert(one_of(A.dtype.element_ty, tl.float16, tl.float32), "port again with -D TYPE=...")
    tl.static_assert(
        SDD and STRIDE_OUTER == "BLOCK" and not DDS and not DSD and spelled(STRIDE_INNER) == "1" and (TZ == 1 or TZ != 0
        and TZ != 1 and (TK * TZ <= 2147483646 and TK * TZ >= 1)) or not SDD and TZ == 1 and (STRIDE_INNER == "BLOCK"
        and spelled(STRIDE_OUTER) == "1" or STRIDE_OUTER == "BLOCK" and spelled(STRIDE_INNER) == "1") and (DDS and not
        DSD or DSD and not DDS), "port again with -D or a --run of this"
    )  # fmt: skip
    tl.static_assert(
        B.dtype == A.dtype and C.dtype == A.dtype and LUT.dtype == tl.pointer_type(tl.int32),
        "pass tensors of these types",
    )
    pid0 = tl.program_id(0)
    pid1 = tl.program_id(1) + off_width
    pidz = tl.program_id(2)
    ri = tl.arange(0, TM)
    rj = tl.arange(0, TN)
    rk = tl.arange(0, TK)
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    if SDD:
        # one block of the result, and one share of the inner dimension
        header = LUT + pid1 * 3
        head = tl.load(header)
        rm = tl.load(header + 1) * BLOCK + ri
        rn = tl.load(header + 2) * BLOCK + rj
        share = (K + TK * TZ - 1) // (TK * TZ) * TK
        first = pid0 * share
        left = tl.minimum(K - first, share)
        pa = A + pidz * stride_za + head * stride_ha + rm[:, None] * stride_ma + (first + rk)[None, :] * stride_ka
        pb = B + pidz * stride_zb + head * stride_hb + rn[None, :] * stride_nb + (first + rk)[:, None] * stride_kb
        checkam = tl.broadcast_to((rm < M)[:, None], (TM, TK))
        checkbn = tl.broadcast_to((rn < N)[None, :], (TK, TN))
        rest = left % TK
        for k in range(left, rest, -TK):
            a = tl.load(pa, mask=checkam, other=0.0)
            b = tl.load(pb, mask=checkbn, other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
            pa += TK * stride_ka
            pb += TK * stride_kb
        # what is left, under its masks
        if rest > 0:
            a = tl.load(pa, mask=checkam & (rk < rest)[None, :], other=0.0)
            b = tl.load(pb, mask=checkbn & (rk < rest)[:, None], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        pc = C + pidz * stride_zc + pid1 * BLOCK * BLOCK + ri[:, None] * BLOCK + rj[None, :]
        checkc = tl.full((TM, TN), True, tl.int1)
    else:
        # one row or column of blocks: how many, where they are listed, which it is, in which head
        header = LUT + pid1 * 4
        size = tl.load(header)
        pidx = LUT + tl.load(header + 1)
        index = tl.load(header + 2)
        head = tl.load(header + 3)
        if DSD:
            rm = index * BLOCK + ri
            rn = pid0 * TN + rj
        else:
            rm = pid0 * TM + ri
            rn = index * BLOCK + rj
        checkm = rm < M
        checkn = rn < N
        for k in range(size):
            block = tl.load(pidx)
            rko = tl.load(pidx + 1) * BLOCK + rk
            if DSD and STRIDE_OUTER == "BLOCK":
                pa = A + pidz * stride_za + block * BLOCK * BLOCK + ri[:, None] * BLOCK + rk[None, :]
            elif DSD:
                pa = A + pidz * stride_za + block * BLOCK * BLOCK + ri[:, None] + rk[None, :] * BLOCK
            if DSD:
                pb = B + pidz * stride_zb + head * stride_hb + rko[:, None] * stride_kb + rn[None, :] * stride_nb
                a = tl.load(pa)
                b = tl.load(pb, mask=checkn[None, :], other=0.0)
            else:
                pa = A + pidz * stride_za + head * stride_ha + rm[:, None] * stride_ma + rko[None, :] * stride_ka
                if STRIDE_OUTER == "BLOCK":
                    pb = B + pidz * stride_zb + block * BLOCK * BLOCK + rk[:, None] * BLOCK + rj[None, :]
                else:
                    pb = B + pidz * stride_zb + block * BLOCK * BLOCK + rk[:, None] + rj[None, :] * BLOCK
                a = tl.load(pa, mask=checkm[:, None], other=0.0)
                b = tl.load(pb)
            acc = tl.dot(a, b, acc, input_precision="ieee")
            pidx += 2
        pc = C + pidz * stride_zc + head * stride_hc + rm[:, None] * stride_mc + rn[None, :]
        checkc = checkm[:, None] & checkn[None, :]
    c = acc.to(C.dtype.element_ty)
    if TZ == 1:
        tl.store(pc, c, mask=checkc)
    else:
        tl.static_assert(LOCKS.dtype == LUT.dtype, "pass tensors of these types")
        # the shares of a block are added one after another
        plock = LOCKS + pid1 - tl.cast(off_width, tl.int64) + tl.program_id(2) * tl.num_programs(1)
        pcount = plock + nlocks
        repeat = 1
        while repeat == 1:
            repeat = tl.atomic_cas(plock, 0, 1)
        tl.debug_barrier()  # nothing below begins before the lock is taken
        count = tl.load(pcount)
        if count == 0:
            tl.store(pc, c, mask=checkc)
        else:
            tl.store(pc, c + tl.load(pc, mask=checkc, other=0.0), mask=checkc)
        tl.debug_barrier()  # all above is done before the lock is released
        tl.atomic_xchg(pcount, (count + 1) % TZ)
        tl.atomic_xchg(plock, 0)
