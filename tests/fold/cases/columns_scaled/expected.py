# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


# each column of A times a number of its own
@triton.jit
def scale_columns(
    A, S,  # half* or float* or bfloat16*
    M, N, lda,
    TM: tl.constexpr, TN: tl.constexpr,
):  # fmt: skip
    tl.static_assert(one_of(A.dtype.element_ty, tl.bfloat16, tl.float16, tl.float32), "port again with -D TYPE=...")
    tl.static_assert(S.dtype == A.dtype, "pass tensors of these types")
    TN_PADDED: tl.constexpr = triton.next_power_of_2(TN)
    TM_PADDED: tl.constexpr = triton.next_power_of_2(TM)
    in_TN = tl.arange(0, TN_PADDED) < TN if TN != TN_PADDED else tl.full((TN_PADDED,), True, tl.int1)
    in_TM = tl.arange(0, TM_PADDED) < TM if TM != TM_PADDED else tl.full((TM_PADDED,), True, tl.int1)
    im = tl.program_id(0) * TM + tl.arange(0, TM_PADDED)
    in_ = tl.program_id(1) * TN + tl.arange(0, TN_PADDED)
    ok = (im < M)[:, None] & (in_ < N)[None, :] & in_TM[:, None] & in_TN[None, :]
    pa = A + im[:, None] * lda + in_[None, :]
    s = tl.load(S + in_, mask=(in_ < N) & in_TN, other=0.0)
    tl.store(pa, tl.load(pa, mask=ok, other=0.0) * s[None, :], mask=ok)
