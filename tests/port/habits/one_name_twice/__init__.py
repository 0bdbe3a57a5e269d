"""Two files have a kernel, a source and a Python name in common."""
import torch
from . import forward, backward


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,)).float()
    return [forward.run(x), backward.run(x)]
