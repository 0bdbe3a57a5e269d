# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
    a: tl.int1,
    b: tl.int8,
    c: tl.int16,
    d,
    e: tl.int64,
    g: tl.uint8,
    h: tl.uint16,
    i: tl.uint32,
    j: tl.uint64,
    k: tl.float16,
    l,
    m: tl.float64,
):
    tl.store(Y, a.to(Y.dtype.element_ty))
    tl.store(Y + 1, b.to(Y.dtype.element_ty))
    tl.store(Y + 2, c.to(Y.dtype.element_ty))
    tl.store(Y + 3, tl.cast(d, tl.float64))
    tl.store(Y + 4, e.to(Y.dtype.element_ty))
    tl.store(Y + 5, g.to(Y.dtype.element_ty))
    tl.store(Y + 6, h.to(Y.dtype.element_ty))
    tl.store(Y + 7, i.to(Y.dtype.element_ty))
    tl.store(Y + 8, j.to(Y.dtype.element_ty))
    tl.store(Y + 9, k.to(Y.dtype.element_ty))
    tl.store(Y + 10, l.to(Y.dtype.element_ty))
    tl.store(Y + 11, m)
