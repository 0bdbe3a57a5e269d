# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# a mask that always holds is none; one that never does adds nothing
@triton.jit
def count(
    X,  # int*
    Y,  # int*
):
    tl.atomic_add(X, 3)
    mask = tl.full((), False, tl.int1)
    tl.atomic_add(Y, 3, mask=mask)
