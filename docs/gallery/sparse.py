# %%
# # SDDMM and SpMM
#
# The two products of attention over the edges of a graph: `a @ b.T` at the places of a sparse matrix, and a
# sparse matrix times a dense one.

import torch

import pytriton

SOURCE = """
// V [edges]: the elements (ROW, COLUMN) of A @ ^B, for A [rows, n] and B [columns, n]
__global__ void sddmm(TYPE *V __noalias, TYPE *A __readonly, TYPE *B __readonly, int *ROW __readonly,
                      int *COLUMN __readonly, int edges, int n) {
  int re[TE] = get_program_id(0) * TE + 0 ... TE;
  int rn[TN] = 0 ... TN;
  long i[TE] = re < edges ? *(ROW + re) : 0;
  long j[TE] = re < edges ? *(COLUMN + re) : 0;
  float v[TE, TN] = 0;
  for (int k = 0; k < n; k += TN) {
    bool inside[TE, TN] = (re < edges)[:, newaxis] && (rn + k < n)[newaxis, :];
    float a[TE, TN] = inside ? *(A + i[:, newaxis] * n + (rn + k)[newaxis, :]) : 0;
    v += a * (inside ? *(B + j[:, newaxis] * n + (rn + k)[newaxis, :]) : 0);
  }
  *?(re < edges) (V + re) = v[:, +];
}

// Y [rows, n]: the matrix with V at COLUMN, whose row i begins at START[i], times X [columns, n]
__global__ void spmm(TYPE *Y __noalias, TYPE *V __readonly, TYPE *X __readonly, int *START __readonly,
                     int *COLUMN __readonly, int n) {
  long row = get_program_id(0);
  int re[TE] = 0 ... TE;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int end = *(START + row + 1);
  float y[TE, TN] = 0;
  for (int e = *(START + row); e < end; e += TE) {
    float v[TE] = e + re < end ? *(V + e + re) : 0;
    long j[TE] = e + re < end ? *(COLUMN + e + re) : 0;
    bool inside[TE, TN] = (e + re < end)[:, newaxis] && (rn < n)[newaxis, :];
    y += v[:, newaxis] * (inside ? *(X + j[:, newaxis] * n + rn[newaxis, :]) : 0);
  }
  *?(rn < n) (Y + row * n + rn) = y[+, :];
}
"""

sddmm_kernel = pytriton.kernel(
    SOURCE, kernel="sddmm", defines={"TE": [8, 16, 32], "TN": [32, 64, 128]}, num_warps=[2, 4]
)
spmm_kernel = pytriton.kernel(
    SOURCE, kernel="spmm", defines={"TE": [4, 8, 16], "TN": [64, 128, 256]}, num_warps=[1, 2, 4]
)

# %%
# Products of single rows have nothing for tensor cores: both kernels are bound by the rows that they gather,
# several of them in flight at once (`TE`). Sums stay in a tile until a loop is over. The gradient of each is
# the other, as the derived sources show; what is added at columns from memory is added by atomics.


@pytriton.op("gallery::sddmm", gradient=True)
def sddmm(a: torch.Tensor, b: torch.Tensor, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
    """a[row[e]] @ b[column[e]] for each edge e; row and column are int32."""
    a, b, n, edges = a.contiguous(), b.contiguous(), a.shape[1], row.numel()
    v = torch.empty((edges,), dtype=a.dtype, device=a.device)
    sddmm_kernel(
        v,
        a,
        b,
        row.contiguous(),
        column.contiguous(),
        edges,
        n,
        grid=lambda opt: (pytriton.cdiv(edges, opt.TE),),
        defines={"TYPE": a.dtype},
    )
    return v


@pytriton.op("gallery::spmm", gradient=True)
def spmm(start: torch.Tensor, column: torch.Tensor, v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The sparse matrix with the values v at (start, column), int32, in torch's CSR format, times x."""
    v, x, rows, n = v.contiguous(), x.contiguous(), start.numel() - 1, x.shape[1]
    y = torch.empty((rows, n), dtype=x.dtype, device=x.device)
    spmm_kernel(
        y,
        v,
        x,
        start.contiguous(),
        column.contiguous(),
        n,
        grid=lambda opt: (rows, pytriton.cdiv(n, opt.TN)),
        defines={"TYPE": x.dtype},
    )
    return y


# %%
# Against torch, with dense matrices:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    mask = torch.rand(20, 30, device=device) < 0.2
    row, column = (index.int() for index in mask.nonzero(as_tuple=True))
    start = torch.nn.functional.pad(mask.sum(1).cumsum(0), (1, 0)).int()
    a, b = (torch.randn(n, 70, device=device, requires_grad=True) for n in (20, 30))
    ours, theirs = spmm(start, column, sddmm(a, b, row, column), b), ((a @ b.t()) * mask) @ b
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    flowing = torch.randn_like(ours)
    for mine, other in zip(*(torch.autograd.grad(y, (a, b), flowing) for y in (ours, theirs)), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-3, rtol=1e-3)
    print("agrees with torch")
