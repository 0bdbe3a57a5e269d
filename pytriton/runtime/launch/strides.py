"""Tensors whose elements do not lie in memory as their shape says, and a call that says nothing about it.

A kernel gets addresses. Of the strides of a tensor it knows what the call passes as integers and defines. So a call
with ``x[::2]``, an expanded tensor, or a transposed one beside one that is not, and none of its strides among the
numbers, is most likely one that takes its elements for neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import torch

__all__ = ["tell_of_strides", "unexplained"]


def unexplained(arguments: Sequence[Any], numbers: Set[int]) -> int | None:
    """The position of the first tensor that ``numbers`` do not account for; None if there is none.

    It is not dense, or has other strides than another tensor of its shape; and none of them is a number. A stride
    of 0 counts only where there is no other, and one of 1 never, as both are numbers for many reasons.
    """
    tensors = [(at, each) for at, each in enumerate(arguments) if isinstance(each, torch.Tensor)]
    doubtful = ((at, each) for at, each in tensors if not each.is_contiguous())
    for at, each in doubtful:
        layout = _layout(each)
        others = (_layout(other) for _, other in tensors if other.shape == each.shape)
        steps = {stride for _, stride in layout if stride > 1} or {0}
        if steps.isdisjoint(numbers) and (not _is_dense(layout) or any(layout != other for other in others)):
            return at
    return None


def tell_of_strides(place: str, tensor: torch.Tensor, tell: Callable[[str, str, str], None]) -> None:
    """The warning for it (TC527)."""
    tell(
        f"{place} has shape {tuple(tensor.shape)} and strides {tensor.stride()}, of which the call passes none: "
        "elements are addressed as they lie in memory",
        "TC527",
        "pass it as .contiguous(), or pass its strides",
    )


def _layout(tensor: torch.Tensor) -> tuple[tuple[int, int], ...]:
    """Size and stride of each axis along which there is a step to take."""
    return tuple(axis for axis in zip(tensor.shape, tensor.stride(), strict=True) if axis[0] > 1)


def _is_dense(layout: tuple[tuple[int, int], ...]) -> bool:
    """Whether the elements fill a stretch of memory, in whatever order of the axes."""
    wanted = 1
    for size, stride in sorted(layout, key=lambda axis: axis[1]):
        if stride != wanted:
            return False
        wanted *= size
    return True
