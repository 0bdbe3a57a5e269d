"""Any permutation of a 4-D tensor, through 3-D blocks.

A copy is fast where both sides move along memory: a block must be wide along the axis that is
innermost in x and along the one that is innermost in y. So a block takes three axes (`^` then turns
it in registers), and programs walk the fourth, the outermost in x that is not innermost in y. The
text does not know the order: the wrapper gives it as defines, a permutation and the subscripts that
go with it.

    python examples/permute.py
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import torch

import pytriton as triton

SOURCE = """
// x's axes are called 0, 1, 2 (those of the block, in the order of X) and 3 (one element a program)
__global__ void permute(TYPE *X __noalias __readonly, TYPE *Y __noalias __writeonly,
                        int N0, int N1, int N2,
                        long sx0, long sx1, long sx2, long sx3,
                        long sy0, long sy1, long sy2, long sy3) {
  // which block
  int grid0 = (N0 + T0 - 1) / T0;
  int grid1 = (N1 + T1 - 1) / T1;
  int pid = get_program_id(0);
  int r1[T1] = pid % grid1 * T1 + 0 ... T1;
  pid /= grid1;
  int r0[T0] = pid % grid0 * T0 + 0 ... T0;
  int r3 = pid / grid0;
  int r2[T2] = get_program_id(1) * T2 + 0 ... T2;
  // read in the order of X
  TYPE *px[T0, T1, T2] = X + r3 * sx3 + r0[:, newaxis, newaxis] * sx0
                                      + r1[newaxis, :, newaxis] * sx1
                                      + r2[newaxis, newaxis, :] * sx2;
  bool checkx[T0, T1, T2] = (r0 < N0)[:, newaxis, newaxis] && (r1 < N1)[newaxis, :, newaxis]
                                                           && (r2 < N2)[newaxis, newaxis, :];
  TYPE x[T0, T1, T2] = checkx ? *px : 0;
  // write in the order of Y
  TYPE *py[SHAPE_Y] = Y + r3 * sy3 + r0[AT_0] * sy0 + r1[AT_1] * sy1 + r2[AT_2] * sy2;
  bool checky[SHAPE_Y] = r0[AT_0] < N0 && r1[AT_1] < N1 && r2[AT_2] < N2;
  *?(checky) py = x[ORDER];
}
"""

kernel = triton.kernel(SOURCE, num_warps=4)


def order_defines(order: tuple[int, int, int]) -> dict[str, Any]:
    """The defines for a block of y whose axis i is axis order[i] of the block of x."""
    places = {axis: ", ".join(":" if one == axis else "newaxis" for one in order) for axis in range(3)}
    return {
        "ORDER": ", ".join(f"^{axis}" for axis in order),
        "SHAPE_Y": ", ".join(f"T{axis}" for axis in order),
        **{f"AT_{axis}": place for axis, place in places.items()},
    }


def tiles(order: tuple[int, int, int]) -> dict[str, int]:
    """32 elements along what is innermost in x and in y, the rest of 4096 along the other axes."""
    wide = {2, order[2]}
    return {f"T{axis}": 32 if axis in wide else (4 if len(wide) == 2 else 8) for axis in range(3)}


def permute(x: torch.Tensor, dims: tuple[int, int, int, int]) -> torch.Tensor:
    """`x.permute(dims).contiguous()` for a 4-D x with any strides."""
    y = torch.empty([x.shape[axis] for axis in dims], dtype=x.dtype, device=x.device)
    if not y.numel():
        return y
    # the axis of one element a program: not the innermost of x nor that of y
    outer = next(axis for axis in range(3) if axis != dims[3])
    inner = [axis for axis in range(4) if axis != outer]
    order = tuple(inner.index(axis) for axis in dims if axis != outer)
    stride_y = {axis: y.stride(place) for place, axis in enumerate(dims)}
    axes = [*inner, outer]
    n = [x.shape[axis] for axis in axes]
    kernel(
        *(x, y, *n[:3], *(x.stride(axis) for axis in axes), *(stride_y[axis] for axis in axes)),
        grid=lambda opt: (
            triton.cdiv(n[0], opt.T0) * triton.cdiv(n[1], opt.T1) * n[3],
            triton.cdiv(n[2], opt.T2),
        ),
        defines={"TYPE": x.dtype, **order_defines(order), **tiles(order)},
    )
    return y


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = (32, 96, 112, 80) if device == "cuda" else (2, 5, 9, 35)
    x = torch.randn(shape, device=device)
    print(kernel.source({"TYPE": "float", **order_defines((2, 0, 1)), **tiles((2, 0, 1))}))
    for dims in permutations(range(4)):
        difference = (permute(x, dims) - x.permute(dims)).abs().max()
        print(f"{dims}: largest difference {float(difference)}")


if __name__ == "__main__":
    main()
