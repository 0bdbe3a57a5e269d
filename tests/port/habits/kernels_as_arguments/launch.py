import torch
import triton


def elementwise(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.d('TN'))])
    return y


def in_turn(kernels, x):
    for kernel in kernels:
        x = elementwise(kernel, x)
    return x
