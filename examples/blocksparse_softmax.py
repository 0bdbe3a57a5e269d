"""Softmax along the rows of a block-sparse matrix, with optional masks, forward and backward.

Only the blocks that a layout [heads, rows, columns] names are stored, one after the other:
x is [samples, blocks, BLOCK, BLOCK]. A program has one row of numbers. A table tells it which blocks
form its row of blocks, and another the columns where they lie, which is where the masks are read.
The block of a program spans the longest row of any head, rarely a power of two. Three tensors may be
added to the scores, and each may be absent: the text sees a null pointer.

    python examples/blocksparse_softmax.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
// X, Y [samples, blocks, BLOCK, BLOCK], may be one tensor; the other tensors may be null:
// RPE [samples, heads, M, N], added; KEYS [samples, N], ATTENTION [M, N], added or, with _MUL, kept where not 0
__global__ void forward(TYPE *X __aligned(16), TYPE *Y __aligned(16), float scale,
                        int *ROWS __readonly, int *COLUMNS __readonly,
                        TYPE *RPE __readonly, TYPE *KEYS __readonly, TYPE *ATTENTION __readonly,
                        int rows, long stride_x,
                        long stride_rpe_z, int stride_rpe_h, int stride_rpe_m,
                        int stride_keys, int stride_attention) {
  // which row of blocks, which row in it, which sample
  int row = get_program_id(0) / BLOCK;
  int line = get_program_id(0) % BLOCK;
  int z = get_program_id(1);
  int head = row / rows;
  int m = row % rows * BLOCK + line;
  // blocks of this row
  int first = *(ROWS + row);
  int count = *(ROWS + row + 1) - first;
  int rb[TN] = (0 ... TN) / BLOCK;
  int rn[TN] = (0 ... TN) % BLOCK;
  bool check[TN] = rb < count;
  int column[TN] = check ? *(COLUMNS + first + rb) : 0;
  int n[TN] = column * BLOCK + rn;
  // pointers
  long off[TN] = z * stride_x + (first + rb) * (BLOCK * BLOCK) + line * BLOCK + rn;
  TYPE *px[TN] = X + off;
  TYPE *py[TN] = Y + off;
  TYPE *prpe[TN] = RPE + z * stride_rpe_z + head * stride_rpe_h + m * stride_rpe_m + n;
  TYPE *pkeys[TN] = KEYS + z * stride_keys + n;
  TYPE *pattention[TN] = ATTENTION + m * stride_attention + n;
  // what is absent is not loaded
  bool has_rpe[TN] = RPE;
  bool has_keys[TN] = KEYS;
  bool has_attention[TN] = ATTENTION;
  float x[TN] = check ? *px : -F32_INFINITY;
  float rpe[TN] = check && has_rpe ? *prpe : 0;
#ifdef KEYS_MUL
  float keys[TN] = check && has_keys ? *pkeys : 1;
  keys = keys == 0 ? -F32_INFINITY : 0;
#else
  float keys[TN] = check && has_keys ? *pkeys : 0;
#endif
#ifdef ATTENTION_MUL
  float attention[TN] = check && has_attention ? *pattention : 1;
  attention = attention == 0 ? -F32_INFINITY : 0;
#else
  float attention[TN] = check && has_attention ? *pattention : 0;
#endif
  x = x * scale + rpe + keys + attention;
  // softmax
  x = exp(x - x[max]);
  x = x / x[+];
  *?(check) py = x;
}

// DX may be DY
__global__ void backward(TYPE *Y __aligned(16), TYPE *DY __aligned(16), TYPE *DX __aligned(16), float scale,
                         int *ROWS __readonly, long stride_x) {
  int row = get_program_id(0) / BLOCK;
  int line = get_program_id(0) % BLOCK;
  int first = *(ROWS + row);
  int count = *(ROWS + row + 1) - first;
  int rb[TN] = (0 ... TN) / BLOCK;
  int rn[TN] = (0 ... TN) % BLOCK;
  bool check[TN] = rb < count;
  long off[TN] = get_program_id(1) * stride_x + (first + rb) * (BLOCK * BLOCK) + line * BLOCK + rn;
  TYPE *py[TN] = Y + off;
  TYPE *pdy[TN] = DY + off;
  TYPE *pdx[TN] = DX + off;
  float y[TN] = check ? *py : 0;
  float dy[TN] = check ? *pdy : 0;
  *?(check) pdx = y * (dy - (y * dy)[+]) * scale;
}
"""

forward_kernel = triton.kernel(SOURCE, kernel="forward")
backward_kernel = triton.kernel(SOURCE, kernel="backward")


class Softmax(torch.autograd.Function):
    """The gradient is y * (dy - sum(y * dy)) * scale; masks get none."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, layout: BlockSparseSoftmax, scale: float, masks: Any) -> Any:
        rpe, keys, attention, modes = masks
        y = torch.empty_like(x)
        strides = rpe.stride()[:3] if rpe is not None else (0, 0, 0)
        forward_kernel(
            *(x, y, scale, layout.rows, layout.columns, rpe, keys, attention),
            *(layout.shape[1], x.stride(0), *strides),
            *(mask.stride(0) if mask is not None else 0 for mask in (keys, attention)),
            grid=layout.grid(x),
            defines={**layout.defines(x), **modes},
        )
        ctx.save_for_backward(y)
        ctx.layout, ctx.scale = layout, scale
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (y,) = ctx.saved_tensors
        dx = torch.empty_like(y)
        backward_kernel(
            *(y, dy.contiguous(), dx, ctx.scale, ctx.layout.rows, y.stride(0)),
            grid=ctx.layout.grid(y),
            defines=ctx.layout.defines(y),
        )
        return dx, None, None, None


class BlockSparseSoftmax:
    """Softmax for one layout [heads, rows, columns] of blocks; blocks count in the order of `nonzero()`."""

    def __init__(self, layout: torch.Tensor, block: int, device: torch.device | str = "cpu") -> None:
        self.block = block
        self.shape = tuple(layout.shape)
        self.counts = layout.bool().sum(2).flatten()
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), self.counts.cpu().cumsum(0)])
        self.rows = starts.int().to(device)
        self.columns = layout.nonzero()[:, 2].int().to(device)
        self.widest = max(int(self.counts.max()), 1)

    def grid(self, x: torch.Tensor) -> tuple[int, int]:
        """A program for each row of numbers of each sample."""
        return len(self.counts) * self.block if x.shape[1] else 0, x.shape[0]

    def defines(self, x: torch.Tensor) -> dict[str, Any]:
        """The type, and a block as wide as the longest row."""
        return {"TYPE": x.dtype, "BLOCK": self.block, "TN": self.widest * self.block}

    def __call__(
        self,
        x: torch.Tensor,
        scale: float = 1.0,
        rpe: torch.Tensor | None = None,
        key_mask: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        key_mask_mode: str = "add",
        attention_mask_mode: str = "add",
    ) -> torch.Tensor:
        """softmax(x * scale + masks) of x [samples, blocks, BLOCK, BLOCK] (half or float), row by row.

        `rpe` [samples, heads, M, N] is added; `key_mask` [samples, N] and `attention_mask` [M, N] are
        added, or in mode `mul` tell by 0 what is left out. All have the type of x.
        """
        modes = {
            name: 1
            for name, mode in (("KEYS_MUL", key_mask_mode), ("ATTENTION_MUL", attention_mask_mode))
            if mode == "mul"
        }
        masks = [mask if mask is None else mask.contiguous() for mask in (rpe, key_mask, attention_mask)]
        return Softmax.apply(x.contiguous(), self, scale, (*masks, modes))


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    samples, heads, size, block = (8, 12, 64, 32) if device == "cuda" else (2, 2, 5, 16)
    torch.manual_seed(0)
    layout = (torch.rand(heads, size, size) < 0.4).long()
    layout[:, range(size), range(size)] = 1
    h, i, j = layout.nonzero().t()
    softmax = BlockSparseSoftmax(layout, block, device)
    x = torch.randn(samples, len(h), block, block, device=device, requires_grad=True)
    keys = torch.randn(samples, size * block, device=device)
    y = softmax(x, scale=0.5, key_mask=keys)
    dy = torch.randn_like(y)
    y.backward(dy)

    exact = x.detach().double().requires_grad_()
    dense = torch.full((samples, heads, size, size, block, block), -float("inf"), device=device).double()
    dense[:, h, i, j] = exact * 0.5
    dense = dense.transpose(3, 4).reshape(samples, heads, size * block, -1) + keys[:, None, None]
    want = dense.softmax(-1).view(samples, heads, size, block, size, block).transpose(3, 4)[:, h, i, j]
    want.backward(dy.double())
    print(forward_kernel.source(softmax.defines(x)))
    for name, got, expected in (("forward", y.detach(), want.detach()), ("gradient", x.grad, exact.grad)):
        print(f"relative error, {name}: {float((got - expected).norm() / expected.norm()):.1e}")


if __name__ == "__main__":
    main()
