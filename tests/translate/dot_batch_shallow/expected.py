# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    M: tl.constexpr,
    K: tl.constexpr,
    N: tl.constexpr,
    H: tl.constexpr,
):
    in_M = tl.arange(0, triton.next_power_of_2(M)) < M
    in_K = tl.arange(0, triton.next_power_of_2(K)) < K
    m = tl.arange(0, triton.next_power_of_2(M))
    n = tl.arange(0, N)
    k = tl.arange(0, triton.next_power_of_2(K))
    h = tl.arange(0, H)
    a = tl.load(
        A + (m[:, None] * K + k[None, :])[:, :, None] * H + h[None, None, :],
        mask=in_M[:, None, None] & in_K[None, :, None],
        other=0.0,
    )
    b = tl.load(
        B + (k[:, None] * N + n[None, :])[:, :, None] * H + h[None, None, :],
        mask=in_K[:, None, None],
        other=0.0,
    )
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(
        C + (m[:, None] * N + n[None, :])[:, :, None] * H + h[None, None, :],
        tl.sum(
            tl.where(
                in_K[None, :, None, None],
                b.to(tl.float32)[None, :, :, :] * a.to(tl.float32)[:, :, None, :],
                0.0,
            ),
            axis=1,
        ),
        mask=in_M[:, None, None],
    )
