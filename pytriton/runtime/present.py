"""What ``python -m pytriton info`` says of this machine where torch and triton are installed."""

from __future__ import annotations

import torch

from pytriton.runtime.compile.module_cache import directory

__all__ = ["rows"]


def rows() -> dict[str, str]:
    """The devices that kernels run on, and where what is compiled and measured is kept."""
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "device": ", ".join(names) or "no GPU: CPU tensors run on Triton's interpreter",
        "cache": str(directory()),
    }
