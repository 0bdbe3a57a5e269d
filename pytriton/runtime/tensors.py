"""Two names of 2020 that wrapped torch: uninitialised tensors, and waiting for the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["empty", "synchronize"]


def empty(shape: Sequence[int] | int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """An uninitialised tensor on the current CUDA device; on the CPU where there is none."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.empty(shape, dtype=dtype, device=device)


def synchronize(device: Any = None) -> None:
    """Wait for the work of a CUDA device, the current one if None; on a CPU everything is done already."""
    wanted = None if device is None or isinstance(device, int) else torch.device(device)
    if torch.cuda.is_available() and (wanted is None or wanted.type == "cuda"):
        torch.cuda.synchronize(device)
