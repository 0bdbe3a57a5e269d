"""What the old packages took from ``triton`` beside their kernels: tensors, sizes, and mappings by tensor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, TypeVar

import torch
from torch.utils.weak import WeakIdKeyDictionary

from pytriton.compat.triton_names import testing


def empty(shape: Sequence[int] | int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """An uninitialised tensor on the current CUDA device; on the CPU where there is none."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.empty(shape, dtype=dtype, device=device)


def synchronize(device: Any = None) -> None:
    """Wait for the work of a CUDA device, the current one if None; on a CPU everything is done already."""
    wanted = None if device is None or isinstance(device, int) else torch.device(device)
    if torch.cuda.is_available() and (wanted is None or wanted.type == "cuda"):
        torch.cuda.synchronize(device)


def cdiv(a: int, b: int) -> int:
    """a / b, rounded up: how many tiles of b elements cover a elements."""
    return -(a // -b)


def cdiv_sum(a: Iterable[int], b: int) -> int:
    """The sum of ``cdiv(x, b)`` over a list."""
    return sum(cdiv(x, b) for x in a)


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least n; 1 for n below 1."""
    return 1 << (n - 1).bit_length() if n > 1 else 1


def shape(x: Any) -> Any:
    """The sizes of a tensor."""
    return x.shape


Value = TypeVar("Value")


class IdDict(WeakIdKeyDictionary, Generic[Value]):
    """A weak mapping keyed by object identity: tensors have neither a useful hash nor ``==``."""


bench_registry: Final[IdDict[int]] = IdDict()
"""The best time of a launch in nanoseconds, by the tensor that it writes."""

ctx_registry: Final[IdDict[Any]] = IdDict()
"""The ctx of ``pytriton.function``, by the tensor that its forward gave."""


# What ``pytriton.testing`` offers that needs torch: a stopwatch, and tensors made of blocks.
#
# A block mask has one entry a block: ``mask[h, i, j]`` stands for rows ``i * block`` to ``(i + 1) * block`` and
# the columns likewise, of head ``h`` and of every batch entry.


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
    milliseconds = torch.quantile(times, torch.tensor(quantiles, dtype=torch.float64)).tolist()
    return tuple(milliseconds) if percentiles else milliseconds[0]


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
