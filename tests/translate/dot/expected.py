# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def dot(
    A,  # half*
    B,  # half*
    C,  # half*
    M,
    N,
    K,
    lda,  # multiple of 8
    ldb,  # multiple of 8
    ldc,  # multiple of 8
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
):
    # prologue
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * TM + tl.arange(0, TM)
    rn = pn * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    c = tl.zeros((TM, TN), dtype=tl.float32)
    # pointers to operands
    pa = A + rk[None, :] + rm[:, None] * lda
    pb = B + rk[:, None] * ldb + rn[None, :]
    # reduction loop
    for k in range(0, K, TK):
        a = tl.load(pa)
        b = tl.load(pb)
        c = tl.dot(a, b, c)
        pa += TK
        pb += TK * ldb
    # epilogue
    pc = C + rn[None, :] + rm[:, None] * ldc
    tl.store(pc, c.to(C.dtype.element_ty))
