import torch
import triton


def launch(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y
