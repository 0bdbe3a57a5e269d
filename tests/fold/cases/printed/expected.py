# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def scaled(
    z, x,  # float*
    n,
    TILE: tl.constexpr, SCALE: tl.constexpr = None,
):  # fmt: skip
    tl.static_assert(
        SCALE is None or isinstance(SCALE, int) and SCALE < 2**31 and SCALE > -(2**31), "port again with -D SCALE=..."
    )
    tl.static_assert(z.dtype == tl.pointer_type(tl.float32) and x.dtype == z.dtype, "pass tensors of these types")
    i = tl.arange(0, TILE)
    y = tl.load(x + i, mask=i < n, other=0.0)
    if SCALE is not None:
        y *= SCALE
        tl.device_print("scaled", y)
    else:
        tl.device_print("as it is", i, hex=True)
        tl.device_print("y", y)
    tl.debug_barrier()  # x, read above, may overlap z, written below
    tl.store(z + i, y, mask=i < n)
