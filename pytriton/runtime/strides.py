"""Tensors whose elements do not lie in memory as their shape says, and a call that says nothing about it.

A kernel gets addresses. Of the strides of a tensor it knows what the call passes as integers and defines. So a call
with ``x[::2]``, an expanded tensor, or a transposed one beside one that is not, and none of its strides among the
numbers, is most likely one that takes its elements for neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

import torch

from pytriton.runtime.refusals import headline

__all__ = ["unexplained", "unexplained_strides"]


def unexplained(arguments: Sequence[Any], numbers: Set[int]) -> int | None:
    """The position of the first tensor that ``numbers`` do not account for; None if there is none."""
    layouts: dict[torch.Size, list[tuple[int, tuple[tuple[int, int], ...]]]] = {}
    for at, each in enumerate(arguments):
        if isinstance(each, torch.Tensor) and each.numel() > 1:
            layouts.setdefault(each.shape, []).append((at, _layout(each)))
    doubtful = [
        at
        for alike in layouts.values()
        for at, layout in alike
        if (not _is_dense(layout) or any(layout != other for _, other in alike))
        and not any(stride in numbers for _, stride in layout if stride > 1)
    ]
    return min(doubtful, default=None)


def unexplained_strides(place: str, tensor: torch.Tensor) -> str:
    """The warning for it (TC527)."""
    message = (
        f"{place} has shape {tuple(tensor.shape)} and strides {tensor.stride()}, of which the call passes none: "
        "elements are addressed as they lie in memory"
    )
    return headline(message, "TC527", "pass it as .contiguous(), or pass its strides")


def _layout(tensor: torch.Tensor) -> tuple[tuple[int, int], ...]:
    """Size and stride of each axis along which there is a step to take."""
    return tuple(_steps(tensor))


def _steps(tensor: torch.Tensor) -> Iterator[tuple[int, int]]:
    return (axis for axis in zip(tensor.shape, tensor.stride(), strict=True) if axis[0] > 1)


def _is_dense(layout: tuple[tuple[int, int], ...]) -> bool:
    """Whether the elements fill a stretch of memory, in whatever order of the axes."""
    wanted = 1
    for size, stride in sorted(layout, key=lambda axis: axis[1]):
        if stride != wanted:
            return False
        wanted *= size
    return True
