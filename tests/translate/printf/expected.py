# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    X,  # half*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    # what was loaded
    tl.device_print("pid", tl.program_id(0))
    tl.device_print("n", n)
    tl.device_print("x", x)
    tl.device_print("r", r, hex=True)
    tl.device_print("T", T)
    tl.device_print("the sum")
    for k in range(n):
        tl.device_print("n", tl.cast(n, tl.uint32))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, r + x.to(tl.int32))
