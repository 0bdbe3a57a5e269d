# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    I,  # int*
    S,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + r
    v = r.to(tl.float32)
    m = r < n
    tl.atomic_add(p, v, mask=m)
    tl.atomic_add(p, v, mask=m)
    tl.atomic_add(p, v)
    tl.atomic_add(p, v, mask=m)
    tl.atomic_add(I + r // 4, tl.full((T,), 1, tl.int32))
    tl.atomic_add(S, tl.sum(v, axis=0))
    tl.atomic_add(p, -1.0 * v)
