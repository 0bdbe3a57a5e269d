"""Is a tensor all of its memory? Asked while a call is traced, with sizes that may be symbols."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

__all__ = ["is_whole"]


def is_whole(argument: Any) -> bool:
    """Whether a written tensor is all of its memory, so that a copy of it holds all that a kernel may write."""
    if not isinstance(argument, torch.Tensor):
        return True
    if isinstance(argument, FunctionalTensor):
        argument = torch._from_functional_tensor(argument.elem)
    if torch.compiler.is_dynamo_compiling():
        return _fills_storage(argument)
    # The question is no part of the graph; torch 2.13 would fail to write a product of three symbols into it.
    with disable_proxy_modes_tracing():
        return _fills_storage(argument)


def _fills_storage(tensor: torch.Tensor) -> bool:
    size: Any = tensor.untyped_storage().size()
    return bool(tensor.numel() * tensor.dtype.itemsize == size)
