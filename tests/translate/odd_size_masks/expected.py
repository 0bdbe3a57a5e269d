# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    S,  # float*
    n,
    T: tl.constexpr,
):
    in_T = tl.arange(0, triton.next_power_of_2(T)) < T
    r = tl.arange(0, triton.next_power_of_2(T))
    p = X + r
    s = tl.full((triton.next_power_of_2(T),), 1.0, tl.float32)
    for i in range(3):
        s += tl.load(p, mask=(r >= n) & in_T, other=0.0)
        p += T
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, s, mask=(r < n + 20) & in_T)
    ps = S + r // 24
    tl.debug_barrier()  # Y, written above, may overlap S, updated below
    tl.atomic_add(ps, s, mask=in_T)
    tl.atomic_add(Y + 50 + r // T, s, mask=in_T)
