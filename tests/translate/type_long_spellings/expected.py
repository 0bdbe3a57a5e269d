# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # long*
    B,  # unsigned long*
    C,  # short*
    D,  # unsigned int*
    E,  # char*
    F,  # bool*
    G,  # unsigned short*
    H,  # int*
):
    tl.store(A, -1)
    tl.debug_barrier()  # A, written above, may overlap B, written below
    tl.store(B, 1)
    tl.debug_barrier()  # B, written above, may overlap C, written below
    tl.store(C, -2)
    tl.debug_barrier()  # C, written above, may overlap D, written below
    tl.store(D, 3)
    tl.debug_barrier()  # D, written above, may overlap E, written below
    tl.store(E, -4)
    tl.debug_barrier()  # E, written above, may overlap F, written below
    tl.store(F, True)
    tl.debug_barrier()  # F, written above, may overlap G, written below
    tl.store(G, 6)
    tl.debug_barrier()  # G, written above, may overlap H, written below
    tl.store(H, -7)
