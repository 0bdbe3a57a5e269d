"""The package has a folder and a file of the names that a port would choose for its kernels."""
import torch
from .kernels import shift
from .kernels_ import launch


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [launch(shift.kernel, x), launch(shift.kernel, x, 2.0)]
