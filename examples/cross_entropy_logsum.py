"""Cross-entropy of rows of scores in three passes over them, out of place, with gradient.

forward reads a row once and leaves two numbers of it: the loss, and log(sum(exp(x))), with which backward
needs no second reduction: it reads the row once and writes its gradient once. cross_entropy.py saves the second
tensor, and pays with a fourth pass.

    python examples/cross_entropy_logsum.py
"""

from __future__ import annotations

from typing import Any

import torch
from cross_entropy import defines, show

import pytriton as triton

SOURCE = """
// X [rows, n]: scores; LOSS [rows]: -log(softmax(X)) at the label; LOGSUM [rows]: log(sum(exp(X)))
__global__ void forward(TYPE *X __readonly, long *LABEL __readonly, TYPE *LOSS __noalias,
                        float *LOGSUM __noalias, int n) {
  int row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  TYPE *px[TN] = X + (long)row * n + rn;
  // the largest score becomes 0: nothing overflows
  float x[TN] = inside ? *px : -F32_INFINITY;
  float largest = x[max];
  float logsum = largest + log(exp(x - largest)[+]);
  float score = *(X + (long)row * n + *(LABEL + row));
  *(LOSS + row) = logsum - score;
  *(LOGSUM + row) = logsum;
}

// DX [rows, n]: (softmax(X) - onehot(LABEL)) * DLOSS
__global__ void backward(TYPE *X __readonly, long *LABEL __readonly, float *LOGSUM __readonly,
                         TYPE *DLOSS __readonly, TYPE *DX __noalias, int n) {
  int row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  TYPE *px[TN] = X + (long)row * n + rn;
  TYPE *pdx[TN] = DX + (long)row * n + rn;
  float x[TN] = inside ? *px : -F32_INFINITY;
  float probability[TN] = exp(x - *(LOGSUM + row));
  float here[TN] = rn == *(LABEL + row);
  float dloss = *(DLOSS + row);
  *?(inside) pdx = (probability - here) * dloss;
}
"""

forward_kernel = triton.kernel(SOURCE, kernel="forward", num_warps=8)
backward_kernel = triton.kernel(SOURCE, kernel="backward", num_warps=8)


class CrossEntropy(torch.autograd.Function):
    """-log(softmax(x))[label] of each row; the gradient is (softmax(x) - onehot(label)) * dloss."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        rows, n = x.shape
        loss = torch.empty(rows, dtype=x.dtype, device=x.device)
        logsum = torch.empty(rows, dtype=torch.float32, device=x.device)
        forward_kernel(x, label, loss, logsum, n, grid=(rows,), defines=defines(x))
        ctx.save_for_backward(x, label, logsum)
        return loss

    @staticmethod
    def backward(ctx: Any, dloss: torch.Tensor) -> tuple[torch.Tensor, None]:
        x, label, logsum = ctx.saved_tensors
        rows, n = x.shape
        dx = torch.empty_like(x)
        dloss = dloss.contiguous()
        backward_kernel(x, label, logsum, dloss, dx, n, grid=(rows,), defines=defines(x))
        return dx, None


def cross_entropy(x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """The loss [rows] of scores x [rows, n] for labels [rows] (int64) in [0, n)."""
    return CrossEntropy.apply(x.contiguous(), label)


if __name__ == "__main__":
    show(forward_kernel, cross_entropy)
