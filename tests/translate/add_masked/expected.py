# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# adds two vectors
@triton.jit
def add(
    x,  # float*
    y,  # float*
    z,  # float*
    n,  # elements
    TILE: tl.constexpr,
):
    rx = tl.program_id(0) * TILE + tl.arange(0, TILE)
    check = rx < n
    # both operands
    a = tl.load(x + rx, mask=check, other=0.0)
    b = tl.load(y + rx, mask=check, other=0.0)
    tl.store(z + rx, a + b, mask=check)  # the sum
