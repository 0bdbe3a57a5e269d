"""Autograd bookkeeping of launches: a launch changes what it writes in place, and ends every gradient.

Autograd keeps a version of each tensor, by which it notices that a value it needs was overwritten. An operation of
torch counts the version up; so does a launch, for each tensor that it writes. Where gradients are recorded, torch
refuses to change a leaf that requires one, and so does a launch. Anything else that requires a gradient may be
passed, but no gradient comes back through the call, and a warning is given once.

None of this concerns a call whose gradients are handled around it: an operator, the ``forward``
of an ``autograd.Function``, ``no_grad``. Legacy packages ran without these checks, so launches of their
kernels do not update version counters, and a leaf that they write causes a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.autograd.forward_ad import unpack_dual

from pytriton.compat.torch_names import (
    DispatchKey,
    base_of,
    forward_mode_active,
    increment_versions,
    is_key_excluded,
)
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.arguments import Binder

_AUTOGRAD: Final = DispatchKey.AutogradFunctionality

Tell = Callable[[str, str, str], None]
"""Warns; takes what a refusal takes: the message, the code, the cure."""


def count_changes(arguments: Sequence[Any], written: Iterable[int]) -> None:
    """Note that the tensors at these positions change."""
    increment_versions([tensor for at in written if isinstance(tensor := arguments[at], torch.Tensor)])


def check_gradients(
    binder: Binder,
    arguments: Sequence[Any],
    written: Sequence[int],
    legacy: bool,
    tell: Tell,
) -> None:
    """Refuse a tangent, or a written leaf that requires a gradient (TC524), or ``tell`` that gradients stop here
    (TC526)."""
    if is_key_excluded(_AUTOGRAD):
        return
    tensors = [(at, tensor) for at, tensor in enumerate(arguments) if isinstance(tensor, torch.Tensor)]
    if forward_mode_active():
        for at, tensor in tensors:
            if unpack_dual(tensor).tangent is not None:  # type: ignore[no-untyped-call]
                cure = "pass its primal, of torch.autograd.forward_ad.unpack_dual"
                binder.place(at).refuse("has a tangent, but a kernel computes values only", "TC524", cure)
    if torch.is_grad_enabled():
        wanting = {at: _leaf(tensor) for at, tensor in tensors if tensor.requires_grad and tensor.numel()}
        judge(binder, wanting, written, legacy, tell)


def judge(
    binder: Binder,
    wanting: Mapping[int, str],
    written: Sequence[int],
    legacy: bool,
    tell: Tell,
) -> None:
    """The same for tensors that require a gradient: their positions, and which of them are leaves, in words."""
    for at, leaf in wanting.items():
        if leaf and at in written:
            message = f"{binder.place(at)} is {leaf} that requires a gradient, and the kernel writes it"
            cure = "call it under torch.no_grad(), or pass it as .detach()"
            if not legacy:
                raise refusal(message, "TC524", cure)
            return tell(message, "TC524", cure)
    for at in wanting:
        message = f"{binder.place(at)} requires a gradient, but gradients stop at the call of a kernel"
        cure = "make it an operator with pytriton.op, or call it under torch.no_grad()"
        return tell(message, "TC526", cure)
    return None


def _leaf(tensor: torch.Tensor) -> str:
    """``a leaf`` or ``a view of a leaf``; empty for what torch lets one change in place."""
    if tensor.is_leaf:
        return "a leaf"
    base = base_of(tensor)
    return "a view of a leaf" if base is not None and base.is_leaf and base.requires_grad else ""
