# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


@triton.jit
def contract(
    A, B, C,  # half* or float*
    M, N, K, dim_b, dim_m, dim_n, stride_a_b, stride_a_m, stride_b_b, stride_b_n, stride_c_b, stride_c_m, stride_c_n,
    AD, BD,  # char*, a buffer of 256 bytes
    TM: tl.constexpr, TN: tl.constexpr, WIDTH: tl.constexpr, TK: tl.constexpr,
):  # fmt: skip
    tl.static_assert(isinstance(WIDTH, int) and WIDTH < 2**31 and WIDTH > -(2**31), "port again with -D WIDTH=...")
    tl.static_assert(one_of(A.dtype.element_ty, tl.float16, tl.float32), "port again with -D TYPE=...")
    tl.static_assert(WIDTH & -WIDTH <= 2147483648 and WIDTH & -WIDTH >= 2, "port again with -D WIDTH=...")
    tl.static_assert(
        B.dtype == A.dtype
        and C.dtype == A.dtype
        and one_of(AD.dtype.element_ty, tl.int1, tl.int8, tl.uint8)
        and one_of(BD.dtype.element_ty, tl.int1, tl.int8, tl.uint8),
        "pass tensors of these types",
    )
    AD = AD.to(tl.pointer_type(tl.int8))
    BD = BD.to(tl.pointer_type(tl.int8))
    # program ids: 0x4 rows of tiles stay together
    pid = tl.program_id(0)
    grid_m = (M + TM - 1) // TM
    grid_n = (N + TN - 1) // TN
    group = pid // (WIDTH * grid_n)
    size = tl.minimum(grid_m - group * WIDTH, WIDTH)
    pid_m = group * WIDTH + pid % size
    pid_n = pid % (WIDTH * grid_n) // size
    pid_b = tl.program_id(1)
    # coordinates
    rm = pid_m * TM + tl.arange(0, TM)
    rn = pid_n * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    m_m = rm % dim_m
    n_n = rn % dim_n
    b_b = pid_b % dim_b
    offa = m_m * stride_a_m
    offb = n_n * stride_b_n
    pa0 = A + b_b * stride_a_b
    pb0 = B + b_b * stride_b_b
    # tables
    pad = AD.to(tl.pointer_type(tl.int32)) + rk
    pbd = BD.to(tl.pointer_type(tl.int32)) + rk
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    rest = K % TK
    for k in range(K, rest, -TK):
        ad = tl.load(pad)
        bd = tl.load(pbd)
        checka = tl.broadcast_to((rm < M)[:, None], (TM, TK))
        checkb = tl.broadcast_to((rn < N)[None, :], (TK, TN))
        pa = pa0 + offa[:, None] + ad[None, :]
        pb = pb0 + bd[:, None] + offb[None, :]
        a = tl.load(pa, mask=checka, other=0.0)
        b = tl.load(pb, mask=checkb, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        pad += TK
        pbd += TK
    # what is left, under its masks
    if rest > 0:
        checkk = rk < rest
        ad = tl.load(pad, mask=checkk, other=0)
        bd = tl.load(pbd, mask=checkk, other=0)
        checka = (rm < M)[:, None] & checkk[None, :]
        checkb = checkk[:, None] & (rn < N)[None, :]
        pa = pa0 + offa[:, None] + ad[None, :]
        pb = pb0 + bd[:, None] + offb[None, :]
        a = tl.load(pa, mask=checka, other=0.0)
        b = tl.load(pb, mask=checkb, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    # epilogue
    offm = m_m * stride_c_m
    offn = n_n * stride_c_n
    pc = C + b_b * stride_c_b + offm[:, None] + offn[None, :]
    c = acc.to(C.dtype.element_ty)
    checkc = (rm < M)[:, None] & (rn < N)[None, :]
    tl.store(pc, c, mask=checkc)
