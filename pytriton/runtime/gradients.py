"""What a launch is to autograd: a change in place of what it writes, and the end of every gradient.

Autograd keeps a version of each tensor, by which it notices that a value it needs was overwritten. An operation of
torch counts the version up; so does a launch, for each tensor that it writes. Where gradients are recorded, torch
refuses to change a leaf that wants one, and so does a launch. Anything else that requires a gradient may be passed,
but no gradient comes back through the call, of which a warning tells once.

None of this concerns a call whose gradients are the business of something around it: an operator, the ``forward`` of
an ``autograd.Function``, ``no_grad``. Packages of the old days are left alone: what they did ran, so their launches
count nothing, and a leaf that they write draws a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import torch

from pytriton.runtime.arguments import Binder
from pytriton.runtime.refusals import headline, refusal

__all__ = ["check_gradients", "count_changes", "increment_version"]

_C: Final[Any] = torch._C  # parts of it have no stubs
_AUTOGRAD: Final = _C.DispatchKey.AutogradFunctionality

increment_version: Final[Callable[[Iterable[torch.Tensor]], None]] = _C._increment_version
"""``torch.autograd.graph.increment_version`` of several tensors; those of inference mode have no version."""


def count_changes(arguments: Sequence[Any], written: Iterable[int]) -> None:
    """Note that the tensors at these positions change."""
    increment_version([each for at in written if isinstance(each := arguments[at], torch.Tensor)])


def check_gradients(
    binder: Binder,
    arguments: Sequence[Any],
    written: Sequence[int],
    legacy: bool,
    tell: Callable[[str], None],
) -> None:
    """Refuse a written leaf that requires a gradient (TC524), or ``tell`` that gradients stop here (TC526)."""
    if not torch.is_grad_enabled() or _C._dispatch_tls_is_dispatch_key_excluded(_AUTOGRAD):
        return
    found = [at for at, each in enumerate(arguments) if isinstance(each, torch.Tensor) and each.requires_grad]
    for at in found:
        leaf = _leaf(arguments[at]) if at in written and arguments[at].numel() else ""
        if leaf:
            message = f"{binder.place(at)} is {leaf} that requires a gradient, and the kernel writes it"
            cure = "call it under torch.no_grad(), or pass a copy"
            if not legacy:
                raise refusal(message, "TC524", cure)
            tell(headline(message, "TC524", cure))
            return
    if found:
        message = f"{binder.place(found[0])} requires a gradient, but gradients stop at the call of a kernel"
        tell(
            headline(
                message, "TC526", "make it an operator with pytriton.op, or call it under torch.no_grad()"
            )
        )


def _leaf(tensor: torch.Tensor) -> str:
    """``a leaf`` or ``a view of a leaf``; empty for what torch lets one change in place."""
    if tensor.is_leaf:
        return "a leaf"
    base = tensor._base
    return "a view of a leaf" if base is not None and base.is_leaf and base.requires_grad else ""
