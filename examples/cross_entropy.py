"""Cross-entropy of a row of scores, forward and backward, in the memory of the scores where that is allowed.

With a vocabulary of 50,000 words the scores are the largest tensor of a language model, so the
kernels need no second one: forward overwrites each row with its negative log-probabilities, and
loads the one that belongs to the label back; backward overwrites those with the gradient. Where the
scores must stay, forward stores to a new tensor, and no copy of them is made. A row that is not a
power of two long takes a block of the next multiple of 256.

    python examples/cross_entropy.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import pytriton as triton

SOURCE = """
// X [rows, n]: scores; OUT [rows, n], may be X: -log(softmax(X)); LOSS [rows]: its element at the label
__global__ void forward(TYPE *X, TYPE *OUT, long *LABEL __readonly, TYPE *LOSS __noalias, int n) {
  int row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  long first = (long)row * n;
  TYPE *px[TN] = X + first + rn;
  TYPE *pout[TN] = OUT + first + rn;
  // the largest score becomes 0: nothing overflows
  float x[TN] = inside ? *px : -F32_INFINITY;
  x = x - x[max];
  float logsum = log(exp(x)[+]);
  *?(inside) pout = logsum - x;
  // what belongs to the label
  long label = *(LABEL + row);
  *(LOSS + row) = *(OUT + first + label);
}

// X [rows, n]: what forward left, becomes the gradient of the scores
__global__ void backward(TYPE *X __noalias, long *LABEL __readonly, TYPE *DLOSS __readonly, int n) {
  int row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  TYPE *px[TN] = X + (long)row * n + rn;
  float probability[TN] = exp(inside ? -(float[TN])*px : -F32_INFINITY);
  float here[TN] = rn == *(LABEL + row);
  float dloss = *(DLOSS + row);
  *?(inside) px = (probability - here) * dloss;
}
"""

forward_kernel = triton.kernel(SOURCE, kernel="forward", num_warps=8)
backward_kernel = triton.kernel(SOURCE, kernel="backward", num_warps=8)


def defines(x: torch.Tensor) -> dict[str, Any]:
    """The type of the scores, and a block for a whole row."""
    return {"TYPE": x.dtype, "TN": triton.cdiv(x.shape[1], 256) * 256}


class CrossEntropy(torch.autograd.Function):
    """-log(softmax(x))[label] of each row; the gradient is (softmax(x) - onehot(label)) * dloss."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, label: torch.Tensor, overwrite: bool) -> torch.Tensor:
        rows, n = x.shape
        # negative log-probabilities: no tensor that autograd should watch
        buffer = x.detach() if overwrite else torch.empty_like(x)
        loss = torch.empty(rows, dtype=x.dtype, device=x.device)
        forward_kernel(x, buffer, label, loss, n, grid=(rows,), defines=defines(x))
        ctx.buffer, ctx.label = buffer, label
        return loss

    @staticmethod
    def backward(ctx: Any, dloss: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        if ctx.buffer is None:
            raise RuntimeError("cross_entropy keeps its gradient in one buffer: one backward only")
        x, ctx.buffer = ctx.buffer, None
        rows, n = x.shape
        backward_kernel(x, ctx.label, dloss.contiguous(), n, grid=(rows,), defines=defines(x))
        return x, None, None


def cross_entropy(x: torch.Tensor, label: torch.Tensor, overwrite: bool = False) -> torch.Tensor:
    """The loss [rows] of scores x [rows, n] for labels [rows] (int64) in [0, n).

    `overwrite`: use up the memory of a contiguous x instead of new memory; nothing else may need its scores.
    """
    return CrossEntropy.apply(x.contiguous(), label, overwrite and x.is_contiguous())


def show(kernel: triton.Kernel, function: Callable[..., torch.Tensor]) -> None:
    """What the forward kernel became, and how far the function is from torch in double."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows, n = (4096, 30_000) if device == "cuda" else (20, 700)
    torch.manual_seed(0)
    x = torch.randn(rows, n, device=device, requires_grad=True)
    label = torch.randint(n, (rows,), device=device)
    dloss = torch.randn(rows, device=device)
    loss = function(x, label)
    loss.backward(dloss)
    exact = x.detach().double().requires_grad_()
    want = torch.nn.functional.cross_entropy(exact, label, reduction="none")
    want.backward(dloss.double())
    print(kernel.source(defines(x)))
    for name, got, expected in (("forward", loss.detach(), want.detach()), ("gradient", x.grad, exact.grad)):
        print(f"relative error, {name}: {float((got - expected).norm() / expected.norm()):.1e}")


if __name__ == "__main__":
    show(forward_kernel, cross_entropy)
