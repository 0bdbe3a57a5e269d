"""What ``pytriton.testing`` offers that needs torch: a stopwatch, and tensors made of blocks.

A block mask has one entry a block: ``mask[h, i, j]`` stands for rows ``i * block`` to ``(i + 1) * block`` and the
columns likewise, of head ``h`` and of every batch entry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from triton import testing

__all__ = ["allclose", "do_bench", "mask_tensor", "sparsify_tensor"]


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[torch.Tensor] | None = None,
    percentiles: Sequence[float] | None = (0.2, 0.8),
) -> Any:
    """How long a call of ``fn`` takes, in milliseconds: ``(median, p20, p80)``.

    ``warmup`` and ``rep`` are milliseconds to spend. The gradients of ``grad_to_none`` are dropped before each
    call. Without ``percentiles`` the median alone is given. On a GPU Triton's ``do_bench`` measures; without one, a
    wall clock.
    """
    cleared, quantiles = list(grad_to_none or ()), [0.5, *(percentiles or ())]
    if torch.cuda.is_available():
        measured = testing.do_bench(fn, warmup, rep, cleared, quantiles)
        return tuple(measured) if percentiles else measured
    fn()
    estimate = max(sum(_on_cpu(fn, cleared, 3)) / 3, 1e-6)
    _on_cpu(fn, cleared, max(1, int(warmup / estimate)))
    times = torch.tensor(_on_cpu(fn, cleared, max(1, int(rep / estimate))), dtype=torch.float64)
    found = torch.quantile(times, torch.tensor(quantiles, dtype=torch.float64)).tolist()
    return tuple(found) if percentiles else found[0]


def _on_cpu(fn: Callable[[], Any], cleared: Iterable[torch.Tensor], count: int) -> list[float]:
    times = []
    for _ in range(count):
        for tensor in cleared:
            tensor.grad = None
        start = time.perf_counter_ns()
        fn()
        times.append((time.perf_counter_ns() - start) / 1e6)
    return times


def allclose(x: torch.Tensor, y: torch.Tensor, tol: float = 1e-2) -> bool:
    """Same dtype and shape, and max |x - y| / max(max |x|, max |y|) < tol. A NaN is close to nothing."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if not x.numel():
        return True
    left, right = x.detach().double(), y.detach().double()
    error = (left - right).abs().max()
    scale = torch.maximum(left.abs().max(), right.abs().max())
    return bool(error == 0) or bool(error / scale < tol)


def mask_tensor(x: torch.Tensor, mask: torch.Tensor, block: int, value: float = 0) -> torch.Tensor:
    """A copy of x [B, H, M, N] with the blocks where mask [H, M / block, N / block] is 0 set to value.

    Raises ValueError for sizes that do not fit.
    """
    _check_sizes(x, mask, block)
    shown = mask.to(x.device).bool().repeat_interleave(block, 1).repeat_interleave(block, 2)
    return torch.where(shown, x, torch.full_like(x, value))


def sparsify_tensor(x: torch.Tensor, mask: torch.Tensor, block: int) -> torch.Tensor:
    """The blocks of x [B, H, M, N] where mask is not 0: [B, nnz, block, block], as ``mask.nonzero()`` orders them.

    Raises ValueError for sizes that do not fit.
    """
    _check_sizes(x, mask, block)
    batch, heads, rows, columns = x.shape
    blocks = x.reshape(batch, heads, rows // block, block, columns // block, block).transpose(3, 4)
    head, row, column = mask.to(x.device).nonzero(as_tuple=True)
    return blocks[:, head, row, column].contiguous()  # kernels take it by address


def _check_sizes(x: torch.Tensor, mask: torch.Tensor, block: int) -> None:
    wanted = (*mask.shape[:1], *(size * block for size in mask.shape[1:]))
    if mask.ndim != 3 or x.ndim != 4 or tuple(x.shape[1:]) != wanted:
        raise ValueError(
            f"x is {tuple(x.shape)} and the mask {tuple(mask.shape)}, but with blocks of {block} they must be "
            "[B, H, M, N] and [H, M / block, N / block]"
        )
