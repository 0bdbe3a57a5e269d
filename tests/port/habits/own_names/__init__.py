"""The package has files of the names that a port would choose: _triton.py, kernels/, _testing.py."""
import torch
from ._triton import launch
from .kernels import shift


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [launch(shift.kernel, x), launch(shift.kernel, x, 2.0)]
