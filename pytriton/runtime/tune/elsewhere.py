"""The same call on another GPU of this process, so that it can time a part of the points (``tune_devices=``).

The tensors are copied with all memory behind them, so that views overlap there as they do here. What is only an
address cannot be copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.runtime.tune.measure import Call
from pytriton.runtime.tune.record import device_name

__all__ = ["calls_on", "copied_to"]


def calls_on(devices: Iterable[int], call: Call, parameters: Sequence[Parameter]) -> Iterator[Call]:
    """The call on those GPUs that are of its model; none for one that has no memory left."""
    for device in devices:
        if device == call.device or device_name(device) != device_name(call.device):
            continue
        try:
            arguments = copied_to(f"cuda:{device}", call.arguments, parameters)
        except torch.cuda.OutOfMemoryError:
            continue
        if arguments is not None:
            yield replace(call, device=device, arguments=arguments, asked={})


def copied_to(
    device: str, arguments: Sequence[Any], parameters: Sequence[Parameter]
) -> tuple[Any, ...] | None:
    """The arguments with their tensors on another device; None where one is an address, or aligned otherwise."""
    storages: dict[int, torch.Tensor] = {}
    found: list[Any] = []
    for argument, parameter in zip(arguments, parameters, strict=True):
        if not isinstance(parameter.type, PointerType) or argument is None:
            found.append(argument)
            continue
        if not isinstance(argument, torch.Tensor) or isinstance(parameter.type.element, PointerType):
            return None
        storage = argument.untyped_storage()
        if storage.data_ptr() not in storages:
            bytes_ = torch.empty(0, dtype=torch.uint8, device=argument.device).set_(storage)
            storages[storage.data_ptr()] = bytes_.to(device, copy=True)
        copy = torch.empty(0, dtype=argument.dtype, device=device)
        place = argument.storage_offset(), argument.shape, argument.stride()
        found.append(copy.set_(storages[storage.data_ptr()].untyped_storage(), *place))
        if (found[-1].data_ptr() - argument.data_ptr()) % 16:
            return None
    return tuple(found)
