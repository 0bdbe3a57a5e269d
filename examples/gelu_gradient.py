"""GELU with a bias, in ten lines of Triton-C, trained: its gradient is derived from the text.

`pytriton.op(..., gradient=True)` reads the kernel, derives its backward as Triton-C, and launches that in
`loss.backward()`. Each program reads its own elements of x, so their gradient is stored; all rows read the same
bias, so its gradient is added up. The text that was derived can be printed, kept and edited:

    python examples/gelu_gradient.py
"""

from __future__ import annotations

import torch

import pytriton

GELU = """
__global__ void gelu(TYPE *y, TYPE *x, TYPE *bias, int n) {
  int row = get_program_id(0);
  int r[TILE] = get_program_id(1) * TILE + 0 ... TILE;
  bool inside[TILE] = r < n;
  float b[TILE] = inside ? *(bias + r) : 0;
  float v[TILE] = b + (inside ? *(x + row * n + r) : 0);
  // v, by the share of a normal distribution below it
  float below[TILE] = 0.5 * (1 + erf(v * 0.70710678));
  *?(inside) (y + row * n + r) = v * below;
}
"""

kernel = pytriton.kernel(GELU)


@pytriton.op("pytriton_examples::gelu", gradient=True)
def gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """GELU of x + bias, along the last axis of a matrix."""
    rows, n = x.shape
    x = x.contiguous()
    y = torch.empty_like(x)
    defines = {"TYPE": x.dtype, "TILE": 64}
    kernel(y, x, bias, n, grid=lambda opt: (rows, pytriton.cdiv(n, opt.TILE)), defines=defines)
    return y


def derived() -> str:
    """The backward as text."""
    return pytriton.gradient(kernel, defines={"TYPE": torch.float32, "TILE": 64}).source


def train(device: str, steps: int = 30) -> list[float]:
    """The losses of a small network that learns a sine."""
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 16, device=device)[:, None]
    wanted = torch.sin(x)
    first = torch.randn(1, 32, device=device, requires_grad=True)
    bias = torch.zeros(32, device=device, requires_grad=True)
    last = (0.1 * torch.randn(32, 1, device=device)).requires_grad_()
    optimizer = torch.optim.Adam([first, bias, last], lr=0.05)
    losses = []
    for _ in range(steps):
        loss = (gelu(x @ first, bias) @ last - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def errors(device: str, dtype: torch.dtype) -> list[float]:
    """Relative errors of the gradients of x and of bias, against torch in double."""
    x, bias = (torch.randn(shape, device=device).to(dtype).requires_grad_() for shape in ((5, 100), (100,)))
    flowing = torch.randn(5, 100, device=device).to(dtype)
    ours = torch.autograd.grad(gelu(x, bias), [x, bias], flowing)
    exact = [t.detach().double().requires_grad_() for t in (x, bias)]
    wanted = torch.autograd.grad(torch.nn.functional.gelu(exact[0] + exact[1]), exact, flowing.double())
    pairs = zip(ours, wanted, strict=True)
    return [float((mine.double() - other).norm() / other.norm()) for mine, other in pairs]


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(kernel.source({"TYPE": torch.float32, "TILE": 64}))
    print(derived())
    for name, dtype in (("float", torch.float32), ("half", torch.float16)):
        of_x, of_bias = errors(device, dtype)
        print(f"relative error, {name}: {of_x:.1e} of x, {of_bias:.1e} of bias")
    losses = train(device)
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    assert losses[-1] < 0.2 * losses[0]


if __name__ == "__main__":
    main()
