"""Copy and transpose a matrix: two kernels in one text, and what `newaxis` and `^` do.

A block of pointers in two dimensions comes from two blocks of indices, one along each axis; which
of them is multiplied by the row stride says how the block lies in memory. The transpose reads a
block along the rows of X and turns it in registers with `^`, so that both the load and the store
run along rows of memory.

    python examples/copy_transpose.py
"""

from __future__ import annotations

import torch

import pytriton as triton

SOURCE = """
// Y[i, j] = X[i, j] for X [M, N]
__global__ void copy(TYPE *Y __noalias, TYPE *X __noalias __readonly,
                     int M, int N, int ldy, int ldx) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  bool inside[TM, TN] = rm[:, newaxis] < M && rn[newaxis, :] < N;
  TYPE *px[TM, TN] = X + rm[:, newaxis] * ldx + rn[newaxis, :];
  TYPE *py[TM, TN] = Y + rm[:, newaxis] * ldy + rn[newaxis, :];
  *?(inside) py = *?(inside) px;
}

// Y[j, i] = X[i, j] for X [M, N]
__global__ void transpose(TYPE *Y __noalias, TYPE *X __noalias __readonly,
                          int M, int N, int ldy, int ldx) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  bool inside[TM, TN] = rm[:, newaxis] < M && rn[newaxis, :] < N;
  TYPE *px[TM, TN] = X + rm[:, newaxis] * ldx + rn[newaxis, :];
  TYPE *py[TN, TM] = Y + rn[:, newaxis] * ldy + rm[newaxis, :];
  TYPE x[TM, TN] = *?(inside) px;
  *?(^inside) py = ^x;
}
"""

copy_kernel = triton.kernel(SOURCE)
transpose_kernel = triton.kernel(SOURCE, kernel="transpose")
TILES = {"TM": 32, "TN": 32}


def launch(kernel: triton.kernel, y: torch.Tensor, x: torch.Tensor, tiles: dict[str, int]) -> None:
    """Run one of the two kernels over all blocks of x."""
    m, n = x.shape
    kernel(
        *(y, x, m, n, y.stride(0), x.stride(0)),
        grid=lambda opt: (triton.cdiv(m, opt.TM), triton.cdiv(n, opt.TN)),
        defines={"TYPE": x.dtype, **tiles},
    )


def copy(x: torch.Tensor, tiles: dict[str, int] = TILES) -> torch.Tensor:
    """A contiguous copy of x [M, N]; rows of x may stand apart."""
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch(copy_kernel, y, x, tiles)
    return y


def transpose(x: torch.Tensor, tiles: dict[str, int] = TILES) -> torch.Tensor:
    """The contiguous transpose of x [M, N]; rows of x may stand apart."""
    y = torch.empty((x.shape[1], x.shape[0]), dtype=x.dtype, device=x.device)
    launch(transpose_kernel, y, x, tiles)
    return y


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    m, n = (4099, 2053) if device == "cuda" else (99, 53)
    x = torch.randn(m, n, device=device)
    print(transpose_kernel.source({"TYPE": x.dtype, **TILES}))
    print(f"copy equals torch:       {torch.equal(copy(x), x)}")
    print(f"transpose equals torch:  {torch.equal(transpose(x), x.t())}")


if __name__ == "__main__":
    main()
