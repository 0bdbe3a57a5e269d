# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # long*
    B,  # unsigned int*
    C,  # long*
    D,  # short*
    N: tl.constexpr,
    M: tl.constexpr,
    K: tl.constexpr,
):
    in_N = tl.arange(0, triton.next_power_of_2(N)) < N
    m = tl.arange(0, M)
    n = tl.arange(0, triton.next_power_of_2(N))
    k = tl.arange(0, K)
    a = tl.load(A + m[:, None] * K + k[None, :])
    b = tl.load(B + k[:, None] * N + n[None, :], mask=in_N[None, :], other=0)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(
        C + m[:, None] * N + n[None, :],
        tl.sum(b.to(tl.int64)[None, :, :] * a[:, :, None], axis=1) + 1,
        mask=in_N[None, :],
    )
    tl.debug_barrier()  # C, written above, may overlap D, read below
    # short @ bool
    d = tl.load(D + m[:, None] * K + k[None, :])
    tl.debug_barrier()  # D, read above, may overlap C, written below
    tl.store(
        C + M * N + m[:, None] * N + n[None, :],
        tl.sum(
            (b > 0).to(tl.int32)[None, :, :] * d.to(tl.int32)[:, :, None], axis=1
        ).to(C.dtype.element_ty),
        mask=in_N[None, :],
    )
