# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    B,  # float*
    C,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    o = i[:, None] * T + i[None, :]
    a = tl.load(A + o)
    b = tl.load(B + o)
    c = tl.load(C + o)
    tl.debug_barrier()  # A, read above, may overlap Y, written below
    tl.store(Y + o, tl.dot(a, b, c, input_precision="ieee"))
    tl.debug_barrier()  # Y is written above and below
    tl.store(
        Y + T * T + o,
        c
        - 2.0
        * tl.dot(
            tl.dot(-1.0 * a, b, input_precision="ieee"),
            tl.trans(c),
            input_precision="ieee",
        ),
    )
