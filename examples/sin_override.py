"""torch.sin replaced: a kernel becomes an operator, and the operator takes the place of PyTorch's own.

`pytriton.op` makes a function around a kernel a `torch.library` operator: its schema follows from the signature,
and each run is compared with it. `pytriton.override` lets it run wherever PyTorch would run `aten::sin`: models
need no change, gradients keep working, and at the end of the `with` block all is as before.

    python examples/sin_override.py [directory]

prints the errors against torch, and the GB/s of `torch.sin` before, during and after the replacement. The
directory (a temporary one by default) gets the table as CSV, and as a plot where matplotlib is installed.
"""

from __future__ import annotations

import os
import sys
import tempfile

import torch

import pytriton
from pytriton.testing import Benchmark, do_bench, perf_report

SOURCE = """
__global__ void sin_kernel(TYPE *Y __noalias, TYPE *X __noalias __readonly, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n;
  TYPE *px[TILE] = X + i;
  TYPE *py[TILE] = Y + i;
  *?(inside) py = sin(*?(inside) px);
}
"""
kernel = pytriton.kernel(SOURCE)
TILE = [512, 1024, 2048]
KEY = "CUDA" if torch.cuda.is_available() else "CPU"


@pytriton.op("sin_override::sin")
def sin(x: torch.Tensor) -> torch.Tensor:
    """sin(x); like torch's, of integers in float."""
    x = x.contiguous() if x.is_floating_point() else x.to(torch.float32).contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    kernel(
        *(y, x, n),
        grid=lambda opt: (pytriton.cdiv(n, opt.TILE),),
        defines={"TYPE": x.dtype, "TILE": TILE},
    )
    return y


class Model(torch.nn.Module):
    """Somebody's model, which knows nothing of kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(self.linear(x))


def gradient(model: Model, x: torch.Tensor) -> torch.Tensor:
    """The gradient of the sum of the model's results, with respect to x."""
    x = x.detach().requires_grad_()
    (found,) = torch.autograd.grad(model(x).sum(), x)
    return found


def print_errors(device: str) -> None:
    """torch.sin during the replacement, against torch.sin in double precision without it."""
    for dtype in (torch.float32, torch.float16, torch.int64):
        x = torch.linspace(-100, 100, 5_003, device=device).to(dtype)
        wanted = torch.sin(x.double())
        with pytriton.override("aten::sin", sin, dispatch_key=KEY):
            error = float((torch.sin(x).double() - wanted).abs().max())
        print(f"largest error, {str(dtype).removeprefix('torch.'):8}: {error:.1e}")
    model, x = Model().to(device), torch.randn(7, 16, device=device)
    wanted = gradient(model, x)
    with pytriton.override("aten::sin", sin, dispatch_key=KEY):
        error = float((gradient(model, x) - wanted).abs().max())
    print(f"largest error, gradient of a model: {error:.1e}")


@perf_report(
    Benchmark(
        x_names=["n"],
        x_vals=[2**at for at in (range(16, 28, 2) if KEY == "CUDA" else range(8, 13, 2))],
        y_name="when",
        y_vals=["before", "during", "after"],
        y_lines=["torch before", "pytriton", "torch after"],
        plot_name=f"sin-{KEY.lower()}",
        args={"device": KEY.lower()},
        xlabel="numbers",
        ylabel="GB/s",
        x_log=True,
    )
)
def bandwidth(n: int, when: str, device: str) -> float:
    """GB/s of torch.sin, bytes read plus written, from the median time."""
    x = torch.randn(n, device=device)
    if when == "during":
        with pytriton.override("aten::sin", sin, dispatch_key=KEY):
            milliseconds = do_bench(lambda: torch.sin(x), percentiles=None)
    else:
        milliseconds = do_bench(lambda: torch.sin(x), percentiles=None)
    return 2 * x.nbytes / milliseconds * 1e-6


def main() -> None:
    print(kernel.source({"TYPE": torch.float32, "TILE": TILE}))
    print(f"{sin}\n")
    print_errors(KEY.lower())
    print()
    directory = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="sin_override_")
    bandwidth.run(print_data=True, save_path=directory)
    print(f"\nwritten to {directory}: {', '.join(sorted(os.listdir(directory)))}")


if __name__ == "__main__":
    main()
