# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


@triton.jit
def softmax_bwd(
    Y,  # half* or float*
    scale: tl.float32,
    DY,  # half* or float*
    LUT,  # int*
    batch_y, batch_dy,
    BLOCK: tl.constexpr, TN: tl.constexpr,
):  # fmt: skip
    tl.static_assert(isinstance(BLOCK, int) and BLOCK < 2**31 and BLOCK > -(2**31), "port again with -D BLOCK=...")
    tl.static_assert(one_of(Y.dtype.element_ty, tl.float16, tl.float32), "port again with -D TYPE=...")
    tl.static_assert(BLOCK != 0, "port again with -D BLOCK=...")
    tl.static_assert(DY.dtype == Y.dtype and LUT.dtype == tl.pointer_type(tl.int32), "pass tensors of these types")
    TN_PADDED: tl.constexpr = triton.next_power_of_2(TN)
    in_TN = tl.arange(0, TN_PADDED) < TN if TN != TN_PADDED else True
    line = tl.program_id(0) // BLOCK
    within = tl.program_id(0) % BLOCK
    batch = tl.program_id(1)
    count = tl.load(LUT + line * 4)
    list = LUT + tl.load(LUT + line * 4 + 1)
    t = tl.arange(0, TN_PADDED)
    check = (t // BLOCK < count) & in_TN
    block = tl.load(list + tl.where(check, t // BLOCK * 2, 0), mask=in_TN, other=0)
    inside = (block * BLOCK + within) * BLOCK + t % BLOCK
    pdy = DY + batch * batch_dy + inside
    # the gradient is replaced in place
    y = tl.load(Y + batch * batch_y + inside, mask=check, other=0.0).to(tl.float32)
    dy = tl.load(pdy, mask=check, other=0.0).to(tl.float32)
    tl.debug_barrier()  # DY is read above and written below
    tl.store(pdy, (y * (dy - tl.sum(y * dy, axis=0)) * scale).to(DY.dtype.element_ty), mask=check)
