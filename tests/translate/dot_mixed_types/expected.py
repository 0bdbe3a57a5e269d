# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # float*
    D,  # char*
    C,  # float*
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    o = i[:, None] * T + i[None, :]
    c = tl.dot(tl.load(A + o).to(tl.float32), tl.load(B + o), input_precision="ieee")
    d = tl.load(D + o).to(tl.float16)
    value = tl.dot(tl.load(D + o).to(tl.float16), d, c)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + o, value)
