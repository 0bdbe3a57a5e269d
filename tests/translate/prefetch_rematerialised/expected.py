# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def conv(
    X,  # float*
    W,  # float*
    Y,  # float*
    C,
    R,
    H,
    T: tl.constexpr,
):
    rp = tl.arange(0, T)
    rf = tl.arange(0, T)
    K = C * R
    # the first step: channel and tap of each k
    rk = tl.arange(0, T)
    pw = W + rk[:, None] * T + rf[None, :]
    acc = tl.zeros((T, T), dtype=tl.float32)
    whole = K // T * T
    for k in range(0, whole, T):
        rc = (k + tl.arange(0, T)) // R
        rr = (k + tl.arange(0, T)) % R
        x = tl.load(X + rc[None, :] * H + rr[None, :] + rp[:, None])
        w = tl.load(pw)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        pw += T * T
    # what is left, under its masks
    if whole < K:
        rc = (whole + tl.arange(0, T)) // R
        rr = (whole + tl.arange(0, T)) % R
        x = tl.load(
            X + rc[None, :] * H + rr[None, :] + rp[:, None],
            mask=(whole + tl.arange(0, T) < K)[None, :],
            other=0.0,
        )
        w = tl.load(pw, mask=(whole + tl.arange(0, T) < K)[:, None], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + rp[:, None] * T + rf[None, :], acc)
