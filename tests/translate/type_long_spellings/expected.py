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
    tl.debug_barrier()
    tl.store(B, 1)
    tl.debug_barrier()
    tl.store(C, -2)
    tl.debug_barrier()
    tl.store(D, 3)
    tl.debug_barrier()
    tl.store(E, -4)
    tl.debug_barrier()
    tl.store(F, True)
    tl.debug_barrier()
    tl.store(G, 6)
    tl.debug_barrier()
    tl.store(H, -7)
