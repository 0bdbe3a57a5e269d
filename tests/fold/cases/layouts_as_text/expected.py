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


# C = A B in four layouts, for each a text: what is read along which axis is said by the caller
@triton.jit
def matmul(
    A, B, C,  # half* or float*
    alpha: tl.float32, M, N, K, lda, ldb, ldc,
    locks,  # int*
    TM: tl.constexpr, TN: tl.constexpr, TZ: tl.constexpr, TK: tl.constexpr, STRIDE_AM: tl.constexpr,
    STRIDE_BK: tl.constexpr, STRIDE_BN: tl.constexpr, STRIDE_AK: tl.constexpr, SHAPE_A: tl.constexpr,
    USE_A: tl.constexpr, BROADCAST_AK: tl.constexpr, BROADCAST_AM: tl.constexpr, SHAPE_B: tl.constexpr,
    USE_B: tl.constexpr, BROADCAST_BK: tl.constexpr, BROADCAST_BN: tl.constexpr, MASKED: tl.constexpr = False,
    RELU: tl.constexpr = False, GELU: tl.constexpr = False,
):  # fmt: skip
    tl.static_assert(isinstance(TZ, int) and TZ < 2**31 and TZ > -(2**31), "port again with -D TZ=...")
    tl.static_assert(one_of(A.dtype.element_ty, tl.float16, tl.float32), "port again with -D TYPE=...")
    tl.static_assert(TZ >= 1, "port again with -D TZ=...")
    tl.static_assert(not RELU or not GELU, "port again with -D RELU=... -D GELU=...")
    tl.static_assert(
        BROADCAST_BK == ":, newaxis" and BROADCAST_BN == "newaxis, :" and SHAPE_B == "TK, TN" and STRIDE_BK == "ldb" and
        USE_B == "b" and spelled(STRIDE_BN) == "1" or BROADCAST_BK == "newaxis, :" and BROADCAST_BN == ":, newaxis" and
        SHAPE_B == "TN, TK" and STRIDE_BN == "ldb" and USE_B == "^b" and spelled(STRIDE_BK) == "1",
        "port again with -D or a --run of this"
    )  # fmt: skip
    tl.static_assert(
        BROADCAST_AK == ":, newaxis" and BROADCAST_AM == "newaxis, :" and SHAPE_A == "TK, TM" and STRIDE_AK == "lda" and
        USE_A == "^a" and spelled(STRIDE_AM) == "1" or BROADCAST_AK == "newaxis, :" and BROADCAST_AM == ":, newaxis" and
        SHAPE_A == "TM, TK" and STRIDE_AM == "lda" and USE_A == "a" and spelled(STRIDE_AK) == "1",
        "port again with -D or a --run of this"
    )  # fmt: skip
    tl.static_assert(B.dtype == A.dtype and C.dtype == A.dtype, "pass tensors of these types")
    # prologue
    pid = tl.program_id(0)
    pidz = tl.program_id(2)
    gridm = (M + TM - 1) // TM
    gridn = (N + TN - 1) // TN
    width = 8 * gridn
    group = pid // width
    group_size = tl.minimum(gridm - group * 8, 8)
    pidm = group * 8 + pid % group_size
    pidn = pid % width // group_size
    rm = pidm * TM + tl.arange(0, TM)
    rn = pidn * TN + tl.arange(0, TN)
    # reduction splitting
    if TZ > 1:
        K //= TZ
    rk = pidz * K + tl.arange(0, TK)
    # pointers to operands
    if STRIDE_AM == "lda":
        pa = A + rk[None, :] + rm[:, None] * lda
    else:
        pa = A + rk[:, None] * lda + rm[None, :]
    if STRIDE_BK == "ldb":
        pb = B + rk[:, None] * ldb + rn[None, :]
    else:
        pb = B + rk[None, :] + rn[:, None] * ldb
    # prefetches operands
    if MASKED and STRIDE_AM == "lda":
        a_mask = (rk < K)[None, :] & (rm < M)[:, None]
    elif MASKED:
        a_mask = (rk < K)[:, None] & (rm < M)[None, :]
    if MASKED and STRIDE_BN != "ldb":
        b_mask = (rk < K)[:, None] & (rn < N)[None, :]
    elif MASKED:
        b_mask = (rk < K)[None, :] & (rn < N)[:, None]
    # reduction loop
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    if not MASKED:
        for k in range(0, K, TK):
            a = tl.load(pa)
            b = tl.load(pb)
            acc = tl.dot(
                a if STRIDE_AM == "lda" else tl.trans(a),
                b if STRIDE_BK == "ldb" else tl.trans(b),
                acc,
                input_precision="ieee",
            )
            pa += TK if STRIDE_AM == "lda" else TK * lda
            pb += TK * ldb if STRIDE_BK == "ldb" else TK
    else:
        for k in range(K, 0, -TK):
            a = tl.load(pa, mask=a_mask, other=0.0)
            b = tl.load(pb, mask=b_mask, other=0.0)
            acc = tl.dot(
                a if STRIDE_AM == "lda" else tl.trans(a),
                b if STRIDE_BK == "ldb" else tl.trans(b),
                acc,
                input_precision="ieee",
            )
            pa += TK if STRIDE_AM == "lda" else TK * lda
            pb += TK * ldb if STRIDE_BK == "ldb" else TK
            a_mask = tl.full((TM, TK) if STRIDE_AM == "lda" else (TK, TM), k > TK, tl.int1)
            b_mask = tl.full((TK, TN) if STRIDE_BK == "ldb" else (TN, TK), k > TK, tl.int1)
    acc *= alpha
    if RELU:
        acc = tl.where(acc > 0.0, acc, 0.0)
    elif GELU:
        # the sigmoid form
        acc /= 1.0 + tl.exp(-1.702 * acc)
    c = acc.to(C.dtype.element_ty)
    # epilogue
    rcm = pidm * TM + tl.arange(0, TM)
    rcn = pidn * TN + tl.arange(0, TN)
    pc = C + rcm[:, None] * ldc + rcn[None, :]
    checkc = (rcm < M)[:, None] & (rcn < N)[None, :]
    if TZ == 1:
        tl.store(pc, c, mask=checkc)
    else:
        tl.static_assert(locks.dtype == tl.pointer_type(tl.int32), "pass tensors of these types")
        # accumulate partial result using spin-locks
        plock = locks + pid
        pcount = plock + tl.num_programs(0)
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
