# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def softmax_fwd(
    X,  # half* or float*
    scale: tl.float32,
    LUT,  # int*
    RPE, KEYS, PAIRS,  # half* or float*
    batch_x, head_rpe, row_rpe, batch_keys, row_pairs,
    BLOCK: tl.constexpr, TN: tl.constexpr, INFINITY: tl.constexpr, APPLY_SCALE: tl.constexpr = False,
    APPLY_RPE: tl.constexpr = False, APPLY_KEYS: tl.constexpr = False, KEYS_MUL: tl.constexpr = False,
    APPLY_PAIRS: tl.constexpr = False, PAIRS_MUL: tl.constexpr = False,
):  # fmt: skip
    tl.static_assert(isinstance(BLOCK, int) and BLOCK < 2**31 and BLOCK > -(2**31), "port again with -D BLOCK=...")
    tl.static_assert(BLOCK != 0, "port again with -D BLOCK=...")
    tl.static_assert(not PAIRS_MUL or APPLY_PAIRS, "port again with -D APPLY_PAIRS=... -D PAIRS_MUL=...")
    tl.static_assert(not KEYS_MUL or APPLY_KEYS, "port again with -D APPLY_KEYS=... -D KEYS_MUL=...")
    tl.static_assert(
        INFINITY == "F16_INFINITY"
        and X.dtype.element_ty == tl.float16
        or INFINITY == "F32_INFINITY"
        and X.dtype.element_ty == tl.float32,
        "port again with -D INFINITY=... -D TYPE=...",
    )
    tl.static_assert(LUT.dtype == tl.pointer_type(tl.int32), "pass tensors of these types")
    TN_PADDED: tl.constexpr = triton.next_power_of_2(TN)
    in_TN = tl.arange(0, TN_PADDED) < TN if TN != TN_PADDED else True
    # this program's row of numbers, and the row of blocks that it runs through
    line = tl.program_id(0) // BLOCK
    within = tl.program_id(0) % BLOCK
    batch = tl.program_id(1)
    count = tl.load(LUT + line * 4)
    list = LUT + tl.load(LUT + line * 4 + 1)
    row = tl.load(LUT + line * 4 + 2) * BLOCK + within
    head = tl.load(LUT + line * 4 + 3)
    # element t of the row stands in the block number t / BLOCK of the list
    t = tl.arange(0, TN_PADDED)
    check = (t // BLOCK < count) & in_TN
    place = tl.where(check, t // BLOCK * 2, 0)
    block = tl.load(list + place, mask=in_TN, other=0)
    column = tl.load(list + place + 1, mask=in_TN, other=0) * BLOCK + t % BLOCK
    px = X + batch * batch_x + (block * BLOCK + within) * BLOCK + t % BLOCK
    y = tl.load(px, mask=check, other=float("-inf")).to(tl.float32)
    if APPLY_SCALE:
        y *= scale
    if APPLY_RPE:
        tl.static_assert(RPE.dtype == X.dtype, "pass tensors of these types")
        y += tl.load(RPE + head * head_rpe + row * row_rpe + column, mask=check, other=0.0)
    if APPLY_KEYS:
        tl.static_assert(KEYS.dtype == X.dtype, "pass tensors of these types")
        key = tl.load(KEYS + batch * batch_keys + column, mask=check, other=float("-inf"))
        if KEYS_MUL:
            key = tl.where(key == 0.0, tl.full((TN_PADDED,), float("-inf"), KEYS.dtype.element_ty), 0.0)
        y += key
    if APPLY_PAIRS:
        tl.static_assert(PAIRS.dtype == X.dtype, "pass tensors of these types")
        pair = tl.load(PAIRS + row * row_pairs + column, mask=check, other=float("-inf"))
        if PAIRS_MUL:
            pair = tl.where(pair == 0.0, tl.full((TN_PADDED,), float("-inf"), PAIRS.dtype.element_ty), 0.0)
        y += pair
    y = tl.where(check, y, float("-inf"))
    y = tl.exp(y - tl.max(tl.where(in_TN, y, float("nan")), axis=0))
    tl.debug_barrier()  # LUT, read above, may overlap X, written below
    tl.store(px, (y / tl.sum(tl.where(in_TN, y, 0.0), axis=0)).to(X.dtype.element_ty), mask=check)
