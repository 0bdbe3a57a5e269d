# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    B,  # float*
    C,  # float*
    H: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    in_H = tl.arange(0, triton.next_power_of_2(H)) < H
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    h = tl.arange(0, triton.next_power_of_2(H))
    g = tl.arange(0, 2)
    mk = m[:, None] * K + k[None, :]
    kn = k[:, None] * N + n[None, :]
    mn = m[:, None] * N + n[None, :]
    gh = g[:, None] * H + h[None, :]
    a = tl.load(
        A + mk[:, :, None, None] * 2 * H + gh[None, None, :, :],
        mask=in_H[None, None, None, :],
        other=0.0,
    )
    b = tl.load(
        B + kn[:, :, None, None] * 2 * H + gh[None, None, :, :],
        mask=in_H[None, None, None, :],
        other=0.0,
    )
    c = tl.full((M, N, 2, triton.next_power_of_2(H)), 1.0, tl.float32)
    c += tl.permute(
        tl.reshape(
            tl.dot(
                tl.reshape(
                    tl.permute(a, (2, 3, 0, 1)), (2 * triton.next_power_of_2(H), M, K)
                ),
                tl.reshape(
                    tl.permute(b, (2, 3, 0, 1)), (2 * triton.next_power_of_2(H), K, N)
                ),
                input_precision="ieee",
            ),
            (2, triton.next_power_of_2(H), M, N),
        ),
        (2, 3, 0, 1),
    )
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(
        C + mn[:, :, None, None] * 2 * H + gh[None, None, :, :],
        c,
        mask=in_H[None, None, None, :],
    )
