"""Batch norm, forward and backward: one program per channel, two loops over its elements.

The first loop sums what the second one needs: mean and variance forward, the two dot products of
the gradient backward. Elements of a channel lie in N pieces of L; the index of a piece and the place
in it are computed anew in each step, so a tile may reach from one sample into the next.

    python examples/batch_norm.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
// X, Y [N, C, L] with L = height * width; MEAN, RSTD, GAMMA, BETA [C]
__global__ void forward(TYPE *X __noalias __readonly, TYPE *Y __noalias __writeonly,
                        float *MEAN __noalias, float *RSTD __noalias,
                        float *GAMMA __noalias __readonly, float *BETA __noalias __readonly,
                        int N, int L, float eps) {
  int c = get_program_id(0);
  int C = get_num_programs(0);
  int M = N * L;
  // first loop: sums, of the differences from one element so that large means do not cancel
  float shift = *(X + c * L);
  float sum[TM] = 0;
  float square[TM] = 0;
  int rm[TM] = 0 ... TM;
  for (int m = 0; m < M; m += TM) {
    bool inside[TM] = rm < M;
    TYPE *px[TM] = X + (long)(rm / L) * C * L + c * L + rm % L;
    float x[TM] = inside ? *px - shift : 0;
    sum += x;
    square += x * x;
    rm += TM;
  }
  float mean = sum[+] / M;
  float var = square[+] / M - mean * mean;
  float rstd = 1 / sqrtf(max(var, 0) + eps);
  *(MEAN + c) = mean + shift;
  *(RSTD + c) = rstd;
  // second loop: normalize
  float scale = *(GAMMA + c) * rstd;
  float offset = *(BETA + c);
  rm = 0 ... TM;
  for (int m = 0; m < M; m += TM) {
    bool inside[TM] = rm < M;
    long off[TM] = (long)(rm / L) * C * L + c * L + rm % L;
    TYPE *px[TM] = X + off;
    TYPE *py[TM] = Y + off;
    float x[TM] = *?(inside) px;
    *?(inside) py = (x - shift - mean) * scale + offset;
    rm += TM;
  }
}

__global__ void backward(TYPE *X __noalias __readonly, TYPE *DY __noalias __readonly,
                         TYPE *DX __noalias __writeonly,
                         float *MEAN __noalias __readonly, float *RSTD __noalias __readonly,
                         float *GAMMA __noalias __readonly,
                         float *DGAMMA __noalias __writeonly, float *DBETA __noalias __writeonly,
                         int N, int L) {
  int c = get_program_id(0);
  int C = get_num_programs(0);
  int M = N * L;
  float mean = *(MEAN + c);
  float rstd = *(RSTD + c);
  // first loop: gradients of the parameters
  float dgamma[TM] = 0;
  float dbeta[TM] = 0;
  int rm[TM] = 0 ... TM;
  for (int m = 0; m < M; m += TM) {
    bool inside[TM] = rm < M;
    long off[TM] = (long)(rm / L) * C * L + c * L + rm % L;
    float x[TM] = inside ? *(X + off) : 0;
    float dy[TM] = inside ? *(DY + off) : 0;
    dgamma += dy * (x - mean) * rstd;
    dbeta += dy;
    rm += TM;
  }
  float g = dgamma[+];
  float b = dbeta[+];
  *(DGAMMA + c) = g;
  *(DBETA + c) = b;
  // second loop: gradient of the input
  float scale = *(GAMMA + c) * rstd;
  rm = 0 ... TM;
  for (int m = 0; m < M; m += TM) {
    bool inside[TM] = rm < M;
    long off[TM] = (long)(rm / L) * C * L + c * L + rm % L;
    float x[TM] = inside ? *(X + off) : 0;
    float dy[TM] = inside ? *(DY + off) : 0;
    float xhat[TM] = (x - mean) * rstd;
    *?(inside) (DX + off) = (dy - (b + xhat * g) / M) * scale;
    rm += TM;
  }
}
"""

forward_kernel = triton.kernel(SOURCE, kernel="forward", num_warps=4)
backward_kernel = triton.kernel(SOURCE, kernel="backward", num_warps=4)


def defines(x: torch.Tensor) -> dict[str, Any]:
    """The type of the tensors, and tiles to try."""
    return {"TYPE": x.dtype, "TM": [256, 1024, 2048]}


class BatchNorm(torch.autograd.Function):
    """(x - mean) * rstd * gamma + beta over all but axis 1; the parameters are float."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float
    ) -> torch.Tensor:
        n, c = x.shape[:2]
        length = x.shape[2:].numel()
        y = torch.empty_like(x)
        mean, rstd = torch.empty((2, c), dtype=torch.float32, device=x.device)
        forward_kernel(
            *(x, y, mean, rstd, gamma, beta, n, length, eps),
            grid=lambda opt: (c,),
            defines=defines(x),
        )
        ctx.save_for_backward(x, mean, rstd, gamma)
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, mean, rstd, gamma = ctx.saved_tensors
        n, c = x.shape[:2]
        length = x.shape[2:].numel()
        dx, dgamma, dbeta = torch.empty_like(x), torch.empty_like(gamma), torch.empty_like(gamma)
        backward_kernel(
            *(x, dy.contiguous(), dx, mean, rstd, gamma, dgamma, dbeta, n, length),
            grid=lambda opt: (c,),
            defines=defines(x),
        )
        return dx, dgamma, dbeta, None


def batch_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Training-mode batch norm of x [N, C, ...] (half or float), gamma and beta [C] in float."""
    return BatchNorm.apply(x.contiguous(), gamma, beta, eps)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = (64, 128, 56, 56) if device == "cuda" else (4, 6, 9, 10)
    torch.manual_seed(0)
    x = (torch.randn(shape, device=device) * 3 - 7).requires_grad_()
    gamma = torch.randn(shape[1], device=device, requires_grad=True)
    beta = torch.randn(shape[1], device=device, requires_grad=True)
    dy = torch.randn(shape, device=device)
    y = batch_norm(x, gamma, beta)
    y.backward(dy)
    exact = [t.detach().double().requires_grad_() for t in (x, gamma, beta)]
    want = torch.nn.functional.batch_norm(exact[0], None, None, *exact[1:], training=True)
    want.backward(dy.double())
    print(forward_kernel.source({"TYPE": "float", "TM": 1024}))
    results = {
        "forward": (y.detach(), want.detach()),
        "grad x": (x.grad, exact[0].grad),
        "grad gamma": (gamma.grad, exact[1].grad),
        "grad beta": (beta.grad, exact[2].grad),
    }
    for name, (got, expected) in results.items():
        print(f"relative error, {name}: {float((got - expected).norm() / expected.norm()):.1e}")


if __name__ == "__main__":
    main()
