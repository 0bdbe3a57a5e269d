"""Memory of tensors, and that of gradients, which is addressed as that of the tensors that they belong to."""

from __future__ import annotations

import torch

from pytriton.compat.torch_names import shares_memory
from pytriton.runtime.errors import refusal


def like(
    tensor: torch.Tensor,
    values: torch.Tensor | None,
    dtype: torch.dtype,
    reach: int | None,
    stored: int | None = None,
    around: bool = False,
) -> torch.Tensor:
    """Memory addressed as the tensor's is: zeros, or these values. What lies around a view is there, too, unless
    a kernel touches no element beyond ``reach``; ``around``: the values have it around them. ``stored``: how many
    elements it stores, from the first one on; if these are all, nothing has to be zeroed.
    """
    if values is not None and (
        values.shape != tensor.shape or values.is_complex() or values.layout != tensor.layout
    ):
        raise refusal(
            f"a {values.layout} gradient of {values.dtype} and shape {tuple(values.shape)} was given for a "
            f"{tensor.layout} tensor of {tensor.dtype} and shape {tuple(tensor.shape)}",
            "TC755",
        )
    if not is_whole(tensor) and not is_enough(tensor, reach):
        if around and values is not None:
            return values
        memory = torch.zeros(elements(tensor), dtype=dtype, device=tensor.device)
        view = placed(memory, tensor)
        return view if values is None else view.copy_(values)
    if values is not None and values.dtype == dtype and values.stride() == tensor.stride():
        return values.detach().resolve_neg()
    result = torch.empty_strided(tensor.size(), tensor.stride(), dtype=dtype, device=tensor.device)
    if values is not None:
        return result.copy_(values)
    return result if stored == tensor.numel() and tensor.is_contiguous() else result.zero_()


def is_enough(tensor: torch.Tensor, reach: int | None) -> bool:
    """Whether a kernel that touches elements up to ``reach`` stays inside a tensor without gaps."""
    return reach is not None and reach <= tensor.numel() and tensor.is_contiguous()


def is_whole(tensor: torch.Tensor) -> bool:
    """Whether there is no memory around it."""
    return tensor.untyped_storage().nbytes() == tensor.nbytes and tensor.storage_offset() == 0


def narrowed(tensor: torch.Tensor) -> torch.Tensor:
    """The elements of an expanded tensor that have memory of their own."""
    for axis, step in enumerate(tensor.stride()):
        if step == 0:
            tensor = tensor.narrow(axis, 0, min(1, tensor.shape[axis]))
    return tensor


def spread(gradient: torch.Tensor, expanded: torch.Tensor) -> torch.Tensor:
    """A gradient of an expanded tensor that sums to this one over the expanded axes: the first elements have it."""
    if gradient.shape == expanded.shape:
        return gradient
    result = gradient.new_zeros(expanded.shape)
    result[tuple(slice(size) for size in gradient.shape)] = gradient
    return result


def own(tensor: torch.Tensor) -> torch.Tensor:
    """Without the memory around a view."""
    return tensor if is_whole(tensor) else tensor.clone()


def overlaps_itself(tensor: torch.Tensor) -> bool:
    """Whether two elements may be one; exact for strides that nest."""
    extent = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1:
            if stride <= extent:
                return True
            extent += stride * (size - 1)
    return False


def share_memory(
    left: torch.Tensor, reach_of_left: int | None, right: torch.Tensor, reach_of_right: int | None
) -> bool:
    """Whether a kernel that touches elements of two tensors up to their reach may touch the same memory."""
    if not shares_memory(left, right) or not left.numel():
        return False
    if reach_of_left is None or reach_of_right is None:
        return True
    ends = [t.data_ptr() + n * t.element_size() for t, n in ((left, reach_of_left), (right, reach_of_right))]
    return left.data_ptr() < ends[1] and right.data_ptr() < ends[0]


def elements(tensor: torch.Tensor) -> int:
    """How many elements that memory has."""
    return tensor.untyped_storage().nbytes() // tensor.element_size()


def flat(tensor: torch.Tensor) -> torch.Tensor:
    """All of that memory."""
    return tensor.as_strided((elements(tensor),), (1,), 0)


def placed(memory: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """The view of other memory with the layout of a tensor."""
    return memory.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
