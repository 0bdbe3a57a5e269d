# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    a: tl.int8,
    b: tl.uint8,
    c: tl.int16,
    d: tl.int1,
):
    tl.store(Y, a * a.to(tl.int32))
    tl.store(Y + 1, b + b.to(tl.int32))
    tl.store(Y + 2, c * c.to(tl.int32))
    tl.store(Y + 3, d + d.to(tl.int32))
    tl.store(Y + 4, b.to(tl.int32) << 4)
    tl.store(Y + 5, ~b.to(tl.int32))
    tl.store(Y + 6, -d.to(tl.int32))
