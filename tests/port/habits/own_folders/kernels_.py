import torch
import triton


def launch(kernel, x, by=1.0):
    y = torch.empty_like(x)
    kernel(y, x, by, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y
