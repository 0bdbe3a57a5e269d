# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.constexpr_function
def one_of(value, *known):
    return value in known


# Softmax of rows; a program has one whole row in registers.
@triton.jit
def forward(
    Y, X,  # half* or float* or bfloat16* or double*
    n, ldy, ldx,
    LENGTH: tl.constexpr,
):  # fmt: skip
    tl.static_assert(
        one_of(Y.dtype.element_ty, tl.bfloat16, tl.float16, tl.float32, tl.float64), "port again with -D TYPE=..."
    )
    tl.static_assert(X.dtype == Y.dtype, "pass tensors of these types")
    LENGTH_PADDED: tl.constexpr = triton.next_power_of_2(LENGTH)
    in_LENGTH = tl.arange(0, LENGTH_PADDED) < LENGTH if LENGTH != LENGTH_PADDED else True
    inside = (tl.arange(0, LENGTH_PADDED) < n) & in_LENGTH
    x = tl.load(X + tl.program_id(0) * ldx + tl.arange(0, LENGTH_PADDED), mask=inside, other=float("-inf")).to(
        tl.float32
    )
    e = tl.exp(x - tl.max(tl.where(in_LENGTH, x, float("nan")), axis=0))
    py = Y + tl.program_id(0) * ldy + tl.arange(0, LENGTH_PADDED)
    tl.store(py, (e / tl.sum(tl.where(in_LENGTH, e, 0.0), axis=0)).to(Y.dtype.element_ty), mask=inside)
