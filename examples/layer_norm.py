"""Layer norm, forward and backward: three kernels of one text, picked by name.

A row is one block, of any length up to the next multiple of 128. The gradients of gamma and beta
are sums over all rows: each program of `backward` adds its rows to one of a few buffers, under a
lock, and `finish` adds the buffers up. With fewer buffers than programs, rows meet at a lock; with
more than one, they seldom wait.

    python examples/layer_norm.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
#define ROW_INDICES                 \\
  int row = get_program_id(0);      \\
  int rn[TN] = 0 ... TN;            \\
  bool inside[TN] = rn < n;         \\
  long off[TN] = (long)row * n + rn

__global__ void forward(TYPE *X __noalias __readonly, TYPE *Y __noalias __writeonly,
                        TYPE *GAMMA __noalias __readonly, TYPE *BETA __noalias __readonly,
                        float *MEAN __noalias __writeonly, float *RSTD __noalias __writeonly,
                        int n, float eps) {
  ROW_INDICES;
  TYPE *px[TN] = X + off;
  TYPE *py[TN] = Y + off;
  float x[TN] = inside ? *px : 0;
  // mean and variance
  float mean = x[+] / n;
  x = inside ? x - mean : 0;
  float rstd = 1 / sqrtf((x * x)[+] / n + eps);
  *(MEAN + row) = mean;
  *(RSTD + row) = rstd;
  // scale and shift
  float gamma[TN] = *?(inside) (GAMMA + rn);
  float beta[TN] = *?(inside) (BETA + rn);
  *?(inside) py = x * rstd * gamma + beta;
}

// DGAMMA, DBETA [buffers, n]: zero at first. LOCKS [buffers]: zero, and zero again at the end
__global__ void backward(TYPE *X __noalias __readonly, TYPE *DY __noalias __readonly,
                         TYPE *DX __noalias __writeonly, TYPE *GAMMA __noalias __readonly,
                         float *MEAN __noalias __readonly, float *RSTD __noalias __readonly,
                         float *DGAMMA __noalias, float *DBETA __noalias,
                         int *LOCKS, int buffers, int n) {
  ROW_INDICES;
  TYPE *px[TN] = X + off;
  TYPE *pdy[TN] = DY + off;
  TYPE *pdx[TN] = DX + off;
  // operands
  float x[TN] = inside ? *px : 0;
  float dy[TN] = inside ? *pdy : 0;
  float gamma[TN] = inside ? *(GAMMA + rn) : 0;
  float mean = *(MEAN + row);
  float rstd = *(RSTD + row);
  // gradient of the input
  float xhat[TN] = (x - mean) * rstd;
  xhat = inside ? xhat : 0;
  float g[TN] = gamma * dy;
  float c1 = (xhat * g)[+] / n;
  float c2 = g[+] / n;
  *?(inside) pdx = (g - xhat * c1 - c2) * rstd;
  // gradients of the parameters
  int buffer = row % buffers;
  float *pdgamma[TN] = DGAMMA + buffer * n + rn;
  float *pdbeta[TN] = DBETA + buffer * n + rn;
  int *plock = LOCKS + buffer;
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  *?(inside) pdgamma = *?(inside) pdgamma + dy * xhat;
  *?(inside) pdbeta = *?(inside) pdbeta + dy;
  atomic_xchg(plock, 0);
}

// what the buffers hold, summed
__global__ void finish(float *DGAMMA __noalias __readonly, float *DBETA __noalias __readonly,
                       TYPE *OUT_GAMMA __noalias __writeonly, TYPE *OUT_BETA __noalias __writeonly,
                       int buffers, int n) {
  int rn[TN] = get_program_id(0) * TN + 0 ... TN;
  int rb[TB] = 0 ... TB;
  float dgamma[TN] = 0;
  float dbeta[TN] = 0;
  for (int b = 0; b < buffers; b += TB) {
    bool inside[TB, TN] = (rb < buffers - b)[:, newaxis] && rn[newaxis, :] < n;
    int off[TB, TN] = (b + rb)[:, newaxis] * n + rn[newaxis, :];
    float g[TB, TN] = inside ? *(DGAMMA + off) : 0;
    float h[TB, TN] = inside ? *(DBETA + off) : 0;
    dgamma += g[+, :];
    dbeta += h[+, :];
  }
  *?(rn < n) (OUT_GAMMA + rn) = dgamma;
  *?(rn < n) (OUT_BETA + rn) = dbeta;
}
"""

BUFFERS = 64

forward_kernel = triton.kernel(SOURCE, kernel="forward")
backward_kernel = triton.kernel(SOURCE, kernel="backward")
finish_kernel = triton.kernel(SOURCE, kernel="finish")


def defines(x: torch.Tensor) -> dict[str, Any]:
    """The type of the tensors, and a block for a whole row."""
    return {"TYPE": x.dtype, "TN": triton.cdiv(x.shape[1], 128) * 128}


class LayerNorm(torch.autograd.Function):
    """(x - mean) * rstd * gamma + beta for every row of x."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float
    ) -> torch.Tensor:
        rows, n = x.shape
        y = torch.empty_like(x)
        mean, rstd = torch.empty((2, rows), dtype=torch.float32, device=x.device)
        forward_kernel(*(x, y, gamma, beta, mean, rstd, n, eps), grid=(rows,), defines=defines(x))
        ctx.save_for_backward(x, gamma, mean, rstd)
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, gamma, mean, rstd = ctx.saved_tensors
        rows, n = x.shape
        dx, dgamma, dbeta = torch.empty_like(x), torch.empty_like(gamma), torch.empty_like(gamma)
        sums = torch.zeros((2, BUFFERS, n), dtype=torch.float32, device=x.device)
        locks = torch.zeros(BUFFERS, dtype=torch.int32, device=x.device)
        backward_kernel(
            *(x, dy.contiguous(), dx, gamma, mean, rstd, sums[0], sums[1], locks, BUFFERS, n),
            grid=(rows,),
            defines=defines(x),
        )
        finish_kernel(
            *(sums[0], sums[1], dgamma, dbeta, BUFFERS, n),
            grid=lambda opt: (triton.cdiv(n, opt.TN),),
            defines={"TYPE": x.dtype, "TN": 64, "TB": 16},
        )
        return dx, dgamma, dbeta, None


def layer_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Layer norm over the last axis; gamma and beta have the type of x (half or float)."""
    return LayerNorm.apply(x.reshape(-1, x.shape[-1]), gamma, beta, eps).view(x.shape)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = (8, 1024, 1600) if device == "cuda" else (3, 25, 600)
    torch.manual_seed(0)
    x = (torch.randn(shape, device=device) * 3 - 7).requires_grad_()
    gamma = torch.randn(shape[-1], device=device, requires_grad=True)
    beta = torch.randn(shape[-1], device=device, requires_grad=True)
    dy = torch.randn(shape, device=device)
    y = layer_norm(x, gamma, beta)
    y.backward(dy)
    exact = [t.detach().double().requires_grad_() for t in (x, gamma, beta)]
    want = torch.nn.functional.layer_norm(exact[0], shape[-1:], *exact[1:])
    want.backward(dy.double())
    print(backward_kernel.source({"TYPE": "float", "TN": triton.cdiv(shape[-1], 128) * 128}))
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
