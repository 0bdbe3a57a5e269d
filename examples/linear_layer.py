"""An nn.Module on a Triton-C kernel, trained for 50 steps, eager and compiled.

The kernel multiplies matrices of any size and strides, so that the layer's three products (forward, and one
for each gradient) are three calls of one text. As an operator it needs no annotation to be compiled: torch
knows from the schema that nothing but the result is written, and a training step is one graph.

    python examples/linear_layer.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton

SOURCE = """
__global__ void matmul(float *A __noalias __readonly, float *B __noalias __readonly, float *C __noalias,
                       int M, int N, int K,
                       int stride_am, int stride_ak, int stride_bk, int stride_bn) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  float *pa[TM, TK] = A + rm[:, newaxis] * stride_am + rk[newaxis, :] * stride_ak;
  float *pb[TK, TN] = B + rk[:, newaxis] * stride_bk + rn[newaxis, :] * stride_bn;
  for (int k = K; k > 0; k -= TK) {
    bool in_a[TM, TK] = rm[:, newaxis] < M && rk[newaxis, :] < k;
    bool in_b[TK, TN] = rk[:, newaxis] < k && rn[newaxis, :] < N;
    float a[TM, TK] = in_a ? *pa : 0;
    float b[TK, TN] = in_b ? *pb : 0;
    c += a @ b;
    pa += TK * stride_ak;
    pb += TK * stride_bk;
  }
  bool in_c[TM, TN] = rm[:, newaxis] < M && rn[newaxis, :] < N;
  float *pc[TM, TN] = C + rm[:, newaxis] * N + rn[newaxis, :];
  *?(in_c) pc = c;
}
"""
TILES = {"TM": [32, 64], "TN": [32, 64], "TK": 32}
kernel = pytriton.kernel(SOURCE, TILES)

STEPS = 50
BACKEND = "inductor" if torch.cuda.is_available() else "aot_eager"  # the second needs no C++ compiler


@pytriton.op("linear_layer::matmul")
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [M, K] @ b [K, N], any strides."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel(
        *(a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1)),
        grid=lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
    )
    return c


def keep(ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs)


def backward(ctx: Any, dc: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = ctx.saved_tensors
    return matmul(dc, b.t()), matmul(a.t(), dc)


matmul.register_autograd(backward, setup_context=keep)


class Linear(torch.nn.Module):
    """x [batch, inputs] -> x @ weight + bias [batch, outputs]."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(inputs, outputs) * inputs**-0.5)
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return matmul(x, self.weight) + self.bias


def train(compiled: bool, device: str, layer: type[torch.nn.Module] = Linear) -> torch.Tensor:
    """The losses of a small network that learns a function of two numbers, [STEPS]."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(Linear(2, 30), torch.nn.Tanh(), Linear(30, 1)).to(device)
    if layer is not Linear:
        model = torch.nn.Sequential(*(_of_torch(one) for one in model)).to(device)
    forward = torch.compile(model, backend=BACKEND, fullgraph=True) if compiled else model
    torch.manual_seed(1)  # the same data for every model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(STEPS):
        x = torch.rand(50, 2, device=device)
        loss = (forward(x) - (x[:, :1] * 3).sin() * x[:, 1:]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def _of_torch(module: torch.nn.Module) -> torch.nn.Module:
    """The same layer, computed by torch."""
    if not isinstance(module, Linear):
        return module
    made = torch.nn.Linear(*module.weight.shape)
    with torch.no_grad():
        made.weight.copy_(module.weight.t())
        made.bias.copy_(module.bias)
    return made


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(kernel.source())
    print(f"{matmul}\n")
    wanted = train(False, device, torch.nn.Linear).double()
    eager, compiled = (train(compiled, device).double() for compiled in (False, True))
    print(f"{'step':>4}{'torch.nn.Linear':>18}{'eager':>12}{'compiled':>12}")
    for step in (*range(0, STEPS, 10), STEPS - 1):
        print(f"{step:4}{wanted[step]:18.6f}{eager[step]:12.6f}{compiled[step]:12.6f}")
    for name, losses in (("eager", eager), ("compiled", compiled)):
        print(
            f"largest relative error of a loss, {name}: {float(((losses - wanted) / wanted).abs().max()):.1e}"
        )


if __name__ == "__main__":
    main()
