"""The likely cause of an access outside, from the mistakes that are made most; first match wins.

Each rule takes an ``Outside`` and gives a sentence, or None where it does not apply. It may rely on nothing but
facts that it names: a size that was passed for a stride, a tensor that is smaller than another one, a block at the
end of a grid. Rules that need a coincidence stand before those that need little.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import torch

from pytriton.errors import counted
from pytriton.runtime.checks.memory import Outside

Rule = Callable[[Outside], str | None]


def cure_of(outside: Outside) -> str:
    """What to change."""
    for rule in _RULES:
        cure = rule(outside)
        if cure is not None:
            return cure
    return "compare the offset with the size of the tensor, and mask what is outside: *?(i < n)(p + i)"


def _not_a_tensor(outside: Outside) -> str | None:
    extent = outside.extent
    if extent is None:
        return "fill the table of addresses with x.data_ptr() of tensors that are still alive"
    name = extent.parameter.name
    if extent.is_open:
        return f"pass the tensor itself for '{name}': then its size is known"
    if extent.tensor is not None:
        return None
    if outside.absent == "an empty tensor":
        return f"launch nothing where '{name}' is empty, or mask the access"
    return f"pass a tensor for '{name}', or leave the access out under #if or a mask where there is none"


# Rules for constant buffers and locks.


def _small_buffer(outside: Outside) -> str | None:
    extent = outside.extent
    if extent is None or not extent.parameter.buffer:
        return None
    needed = outside.violation.highest + outside.site.width - extent.start
    return f"write calloc({needed}) in the source"


def _too_few_locks(outside: Outside) -> str | None:
    programs = math.prod(outside.grid)
    if outside.site.kind != "atomic" or outside.site.shape or outside.tensor is None:
        return None
    if outside.index < 0 or outside.tensor.numel() >= programs:
        return None
    name = outside.extent.parameter.name  # type: ignore[union-attr]
    return (
        f"'{name}' has {counted(outside.tensor.numel(), 'element')} for {programs} programs: make it larger"
    )


# Rules for offsets.


def _wrapped(outside: Outside) -> str | None:
    """An offset that left 32 bits."""
    if outside.extent is None or not -(1 << 32) < outside.index < -(1 << 28):
        return None
    if any(value < 0 for value in _offsets(outside).values()):
        return None
    names = [f"'{name}'" for name in outside.site.offsets]
    which = f": declare {' or '.join(names)} long" if names else ": compute it as a long"
    return f"the offset left the 32 bits of an int and wrapped around{which}"


def _index_from_memory(outside: Outside) -> str | None:
    if not outside.site.gathered:
        return None
    names = " and ".join(f"'{name}'" for name in outside.site.gathered)
    first, last = outside.reachable
    return f"the offset comes from {names}: what that holds must lead to elements {first} to {last}"


def _strides(outside: Outside) -> str | None:
    """A size, or a number of bytes, that was passed for a stride."""
    tensor, extent = outside.tensor, outside.extent
    if tensor is None or extent is None or tensor.ndim < 2:
        return None
    name, strides = extent.parameter.name, tuple(tensor.stride())
    for key, value in _offsets(outside).items():
        count, rest = divmod(value, tensor.itemsize)
        if value < 2 or value in strides:
            continue
        if not rest and value > count > 1 and count in strides:
            return f"'{key}' is {value}, but '{name}' has strides {strides}: they count elements, not bytes"
        if value in tensor.shape:
            stride = f"{name}.stride({strides.index(max(strides))})"
            return f"'{key}' is {value}, a size of '{name}', whose strides are {strides}: pass {stride}"
    return None


def _view(outside: Outside) -> str | None:
    """A view whose strides were not passed; a number that is not a stride."""
    tensor, extent = outside.tensor, outside.extent
    if tensor is None or extent is None or tensor.ndim < 2:
        return None
    name, strides, offsets = extent.parameter.name, tuple(tensor.stride()), _offsets(outside)
    if not tensor.is_contiguous() and not any(stride in offsets.values() for stride in strides if stride > 1):
        return f"'{name}' is a view with strides {strides}, none of which is passed: pass {name}.contiguous()"
    for key, value in offsets.items():
        if value not in (*strides, *tensor.shape) and value > max(strides):
            return f"'{key}' is {value}, but the strides of '{name}' are {strides}"
    return None


def _offsets(outside: Outside) -> dict[str, int]:
    """The numbers of the launch in the offset of the pointer."""
    numbers = outside.memory.numbers
    return {name: numbers[name] for name in outside.site.offsets if name in numbers}


def _negative(outside: Outside) -> str | None:
    if outside.index >= outside.reachable[0]:
        return None
    return "the offset is negative: mask it, or start the loop or the range later"


# Rules for sizes.


def _smaller_than_another(outside: Outside) -> str | None:
    """Another tensor of the launch ends exactly where the accesses do, or has room for several blocks of them."""
    tensor = outside.tensor
    if tensor is None:
        return None
    name = outside.extent.parameter.name  # type: ignore[union-attr]
    for other in outside.memory.extents.values():
        if other.tensor is None or other.parameter.name == name or other.parameter.buffer:
            continue
        exact = other.tensor.numel() == outside.highest + 1
        large = outside.violation.programs != 1 and other.tensor.numel() > outside.highest
        if (exact or (large and other.tensor.ndim == tensor.ndim == 1)) and outside.highest >= tensor.numel():
            whose = other.parameter.name
            return (
                f"'{name}' has {counted(tensor.numel(), 'element')}, and '{whose}' has {other.tensor.numel()}: "
                f"pass a tensor of shape {tuple(other.tensor.shape)}"
            )
    return None


def _mask_of_another_size(outside: Outside) -> str | None:
    """A mask that lets more through than the tensor has."""
    tensor, numbers = outside.tensor, outside.memory.numbers
    limits = [name for name in outside.site.limits if name in numbers]
    if tensor is None or not limits:
        return None
    name, shape = outside.extent.parameter.name, tuple(tensor.shape)  # type: ignore[union-attr]
    large = [limit for limit in limits if numbers[limit] > max(shape, default=1)]
    if large:
        return f"the mask lets '{large[0]}' = {numbers[large[0]]} through, but '{name}' has shape {shape}"
    sizes = [numbers[limit] for limit in limits]
    if tensor.ndim > 1 and sorted(sizes) == sorted(shape) and len(set(shape)) > 1:
        shown = ", ".join(f"{limit} = {numbers[limit]}" for limit in limits)
        return f"are sizes swapped? The mask has {shown}, and '{name}' has shape {shape}"
    if math.prod(sizes) > tensor.numel():
        shown = " * ".join(f"{limit}" for limit in limits)
        return (
            f"the mask lets {shown} = {math.prod(sizes)} elements through, but '{name}' has {tensor.numel()}"
        )
    return "the mask lets elements through that are outside: should its <= be <, and is it the mask of this axis?"


def _past_a_loop(outside: Outside) -> str | None:
    numbers = outside.memory.numbers
    bounds = [name for name in outside.site.bounds if name in numbers]
    if not bounds or outside.tensor is None:
        return None
    shown = " and ".join(f"'{name}' = {numbers[name]}" for name in bounds)
    return (
        f"the bounds of the loop come from {shown}: mask the last iteration, and see that it is the last "
        "(< for <=, no step too many)"
    )


def _unmasked_block(outside: Outside) -> str | None:
    """The last programs of a grid have nothing, or not a whole block, to do; or the first reaches too far."""
    tensor, violation, site = outside.tensor, outside.violation, outside.site
    is_first = violation.program == (0, 0, 0)
    if tensor is None or site.masked or (is_first and not site.shape):
        return None
    mask = f"mask it, *?(i < {_named(outside, tensor)})(p + i)"
    if is_first:
        return f"a block has {list(site.shape)} elements, more than are left: {mask}"
    if violation.all_outside:
        return (
            f"program {violation.program} has nothing to do: a grid of {outside.grid} is too large, "
            "round up with pytriton.cdiv(n, TILE)"
        )
    return f"the last block is not full, as the grid is rounded up: {mask}"


def _named(outside: Outside, tensor: torch.Tensor) -> str:
    """The parameter that holds the number of elements, or the last size; else a number."""
    wanted = [tensor.numel(), *reversed(tensor.shape)]
    for size in wanted:
        for name, value in outside.memory.numbers.items():
            if value == size:
                return name
    return str(tensor.numel())


_RULES: Final[tuple[Rule, ...]] = (
    *(_not_a_tensor, _small_buffer, _too_few_locks),
    *(_wrapped, _index_from_memory, _strides, _view),
    *(_smaller_than_another, _mask_of_another_size, _negative),
    *(_past_a_loop, _unmasked_block),
)
