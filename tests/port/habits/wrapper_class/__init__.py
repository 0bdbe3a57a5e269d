"""An operator is an object that holds its kernels, by what they depend on."""
from .scale import Scale
import torch


def main(seed, m=5, n=20):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (m, n)).float()
    plain, shifted = Scale(2.0), Scale(0.5, shift=1.0)
    return [plain(x), shifted(x), plain(x.half()), plain(x[:, ::2])]
