# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def ieee_ceil(x):
    # tl.ceil takes numbers below 2^-126 for 0
    return tl.where((x > 0.0) & (x < 1.0), 1.0, tl.ceil(x))


@triton.jit
def ieee_floor(x):
    # tl.floor takes numbers above -2^-126 for 0
    return tl.where((x > -1.0) & (x < 0.0), -1.0, tl.floor(x))


@triton.jit
def f(
    X,  # float*
    B,  # bfloat16*
    D,  # double*
    Y,  # float*
    C,  # bfloat16*
    E,  # double*
):
    r = tl.arange(0, 16)
    value = ieee_floor(tl.load(X + r))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = ieee_ceil(tl.load(X + r))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 16 + r, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = ieee_ceil(tl.load(X))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 32, value_2)
    tl.debug_barrier()  # Y, written above, may overlap B, read below
    value_3 = ieee_ceil(tl.load(B + r).to(tl.float32)).to(tl.bfloat16)
    tl.debug_barrier()  # B, read above, may overlap C, written below
    tl.store(C + r, value_3)
    tl.debug_barrier()  # C, written above, may overlap D, read below
    value_4 = tl.floor(tl.load(D + r))
    tl.debug_barrier()  # D, read above, may overlap E, written below
    tl.store(E + r, value_4)
