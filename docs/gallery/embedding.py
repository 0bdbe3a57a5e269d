# %%
# # Embedding
#
# Row `i` of the result is the row of a table that index `i` names. The gradient adds each row to where it came
# from.

import torch

import pytriton

SOURCE = """
// TM indices and TN columns per program
__global__ void embedding(TYPE *Y __noalias, TYPE *TABLE __readonly, long *I __readonly, int m, int n) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  bool inside[TM, TN] = (rm < m)[:, newaxis] && (rn < n)[newaxis, :];
  long row[TM] = rm < m ? *(I + rm) : 0;
  long offset[TM, TN] = (long[TM, 1])rm[:, newaxis] * n + rn[newaxis, :];
  *?(inside) (Y + offset) = *?(inside) (TABLE + row[:, newaxis] * n + rn[newaxis, :]);
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TM": [4, 8, 16], "TN": [128, 256]}, num_warps=[4, 8])

# %%
# Indices come from memory and may repeat, so the derived gradient is added up by `atomic_add`, in a float table
# where the table is half: nothing is lost to rounding in between. An index beyond the table is reported with
# its program and element, on CPU tensors always, on a GPU with `check=True`.


@pytriton.op("gallery::embedding", gradient=True)
def embedding(index: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """The rows of a table [rows, n] that index (int64, of any shape) names."""
    index, table = index.contiguous(), table.contiguous()
    m, n = index.numel(), table.shape[1]
    y = torch.empty((*index.shape, n), dtype=table.dtype, device=table.device)
    kernel(
        y,
        table,
        index,
        m,
        n,
        grid=lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
        defines={"TYPE": table.dtype},
    )
    return y


# %%
# Against torch, and the backward as it was derived:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    table = torch.randn(100, 70, device=device, requires_grad=True)
    index = torch.randint(100, (9, 30), device=device)
    ours, theirs = embedding(index, table), torch.nn.functional.embedding(index, table)
    assert torch.equal(ours, theirs)
    flowing = torch.randn_like(ours)
    torch.testing.assert_close(*(torch.autograd.grad(y, table, flowing)[0] for y in (ours, theirs)))
    print(pytriton.gradient(kernel, defines={"TYPE": "float"}).source())
