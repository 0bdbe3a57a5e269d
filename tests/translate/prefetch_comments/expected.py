# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    lda,
):
    rm = tl.arange(0, 16)
    rk = tl.arange(0, 16)
    c = tl.zeros((16, 16), dtype=tl.float32)
    pa = A + rm[:, None] * lda + rk[None, :]
    pb = B + rk[:, None] * lda + rm[None, :]
    # reduction loop
    rest = K % 16
    for k in range(K, rest, -16):
        # fetch the first tiles
        # prefetch the next tiles
        a = tl.load(pa)  # next a; first a
        b = tl.load(pb)  # first b
        c = tl.dot(a, b, c)  # multiply
        # advance the pointers
        pa += 16  # along k
        pb += 16 * lda
    # what is left, under its masks
    if rest > 0:
        a = tl.load(pa, mask=tl.broadcast_to(rk[None, :] < rest, (16, 16)), other=0.0)
        b = tl.load(pb, mask=rk[:, None] < rest, other=0.0)
        c = tl.dot(a, b, c)
    tl.store(C + rm[:, None] * 16 + rm[None, :], c)
