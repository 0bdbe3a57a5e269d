# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


@triton.constexpr_function
def spelled(value):
    # 1 and 1.0 are equal, but not to a text; nor are 0.0 and -0.0
    return str(value)


# C = scale * A B, any layout, the inner dimension cut into SPLIT pieces that are added under a lock.
@triton.jit
def product(
    A, B, C,  # half* or float* or bfloat16*
    scale: tl.float32, M, N, K, lda, ldb, ldc,
    locks,  # int*
    SPLIT: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, A_DOWN: tl.constexpr,
    B_DOWN: tl.constexpr, A_ACROSS: tl.constexpr, B_ACROSS: tl.constexpr,
):  # fmt: skip
    tl.static_assert(isinstance(SPLIT, int) and SPLIT < 2**31 and SPLIT > -(2**31), "port again with -D SPLIT=...")
    tl.static_assert(one_of(A.dtype.element_ty, tl.bfloat16, tl.float16, tl.float32), "port again with -D TYPE=...")
    tl.static_assert(SPLIT >= 1, "port again with -D SPLIT=...")
    tl.static_assert(
        B_ACROSS == "ldb" and spelled(B_DOWN) == "1" or B_DOWN == "ldb" and spelled(B_ACROSS) == "1",
        "port again with -D B_DOWN=... -D B_ACROSS=...",
    )
    tl.static_assert(
        A_ACROSS == "lda" and spelled(A_DOWN) == "1" or A_DOWN == "lda" and spelled(A_ACROSS) == "1",
        "port again with -D A_DOWN=... -D A_ACROSS=...",
    )
    tl.static_assert(B.dtype == A.dtype and C.dtype == A.dtype, "pass tensors of these types")
    # neighbours in time are neighbours in space: a few rows of tiles, column after column
    tile = tl.program_id(0)
    down = (M + TM - 1) // TM
    across = (N + TN - 1) // TN
    above = tile // (4 * across) * 4
    together = tl.minimum(down - above, 4)
    y = above + tile % together
    x = tile % (4 * across) // together
    # my piece of the inner dimension
    piece = tl.program_id(1)
    K //= SPLIT
    im = y * TM + tl.arange(0, TM)
    in_ = x * TN + tl.arange(0, TN)
    ik = tl.arange(0, TK)
    okm = im < M
    okn = in_ < N
    # first tiles
    if A_DOWN == "lda":
        pa = A + im[:, None] * lda + (piece * K + ik)[None, :]
    else:
        pa = A + im[:, None] + (piece * K + ik)[None, :] * lda
    if B_DOWN == "ldb":
        pb = B + (piece * K + ik)[:, None] * ldb + in_[None, :]
    else:
        pb = B + (piece * K + ik)[:, None] + in_[None, :] * ldb
    # multiply these while the next ones arrive
    sum = tl.zeros((TM, TN), dtype=tl.float32)
    rest = K % TK
    for left in range(K, rest, -TK):
        a = tl.load(pa, mask=okm[:, None], other=0.0)
        pa += TK if A_DOWN == "lda" else TK * lda
        b = tl.load(pb, mask=okn[None, :], other=0.0)
        pb += TK * ldb if B_DOWN == "ldb" else TK
        sum = tl.dot(a, b, sum, input_precision="ieee")
    # what is left, under its masks
    if rest > 0:
        a = tl.load(pa, mask=okm[:, None] & (ik < rest)[None, :], other=0.0)
        b = tl.load(pb, mask=okn[None, :] & (ik < rest)[:, None], other=0.0)
        sum = tl.dot(a, b, sum, input_precision="ieee")
    c = (sum * scale).to(C.dtype.element_ty)
    pc = C + im[:, None] * ldc + in_[None, :]
    okc = okm[:, None] & okn[None, :]
    if SPLIT == 1:
        tl.store(pc, c, mask=okc)
    else:
        tl.static_assert(locks.dtype == tl.pointer_type(tl.int32), "pass tensors of these types")
        lock = locks + tile
        done = lock + tl.num_programs(0)
        taken = 1
        while taken == 1:
            taken = tl.atomic_cas(lock, 0, 1)
        tl.debug_barrier()  # nothing below begins before the lock is taken
        before = tl.load(done)
        if before == 0:
            tl.store(pc, c, mask=okc)
        else:
            tl.store(pc, c + tl.load(pc, mask=okc, other=0.0), mask=okc)
        tl.debug_barrier()  # all above is done before the lock is released
        tl.atomic_xchg(done, (before + 1) % SPLIT)
        tl.atomic_xchg(lock, 0)
