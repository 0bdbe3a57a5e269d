# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # char*
    B,  # short*
    C,  # int*
    D,  # long*
    E,  # unsigned char*
    F,  # unsigned short*
    G,  # unsigned int*
    H,  # unsigned long*
):
    a = tl.full((), -1, tl.int8)
    b = tl.full((), -1, tl.int16)
    c = -1
    d = tl.full((), -1, tl.int64)
    e = tl.full((), 255, tl.uint8)
    f = tl.full((), 65535, tl.uint16)
    g = tl.full((), 4294967295, tl.uint32)
    h = tl.full((), 18446744073709551615, tl.uint64)
    tl.store(A, a)
    tl.debug_barrier()  # A, written above, may overlap B, written below
    tl.store(B, b)
    tl.debug_barrier()  # B, written above, may overlap C, written below
    tl.store(C, c)
    tl.debug_barrier()  # C, written above, may overlap D, written below
    tl.store(D, d)
    tl.debug_barrier()  # D, written above, may overlap E, written below
    tl.store(E, e)
    tl.debug_barrier()  # E, written above, may overlap F, written below
    tl.store(F, f)
    tl.debug_barrier()  # F, written above, may overlap G, written below
    tl.store(G, g)
    tl.debug_barrier()  # G, written above, may overlap H, written below
    tl.store(H, h)
