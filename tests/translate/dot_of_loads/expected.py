# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    o = i[:, None] * T + i[None, :]
    pa = A + o
    pb = B + o
    c = tl.dot(tl.load(pa), tl.load(pb))
    c = tl.dot(tl.load(pa), tl.load(pb) + 1.0, c)
    c = (
        tl.dot(
            tl.load(pa).to(tl.float32),
            tl.full((T, T), 2.0, tl.float32),
            input_precision="ieee",
        )
        - c
    )
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + o, c)
