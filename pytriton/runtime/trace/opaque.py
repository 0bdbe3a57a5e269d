"""A kernel call as one operator of torch: what a tracer records where it cannot see into the launch.

``torch.compile`` knows how to launch a ``@triton.jit`` function, but not everything that a Triton-C kernel
may ask for: CPU tensors, absent tensors, doubles, sweeps over texts that differ. Such a call is recorded as
an operator ``pytriton::<kernel>_<hash>``. Its schema says which tensors are written; its body makes the same
call as an untraced program, with all its checks and its tuning. The name depends on the contents only, so
that caches on disk find the operator again in the next process.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from pytriton.runtime.options.defines import Config, Options
from pytriton.runtime.plan import Plan

__all__ = ["ABSENT", "Kind", "opaque_operator", "point_of"]

NAMESPACE: Final = "pytriton"

ABSENT: Final = "absent"
# What is known of an argument while tracing: a tensor's dtype, device and whether it has no axes; the type of
# a number; or ABSENT.
Kind = tuple[torch.dtype, torch.device, bool] | type | str

_NUMBERS: Final = {bool: "bool", int: "SymInt", float: "float"}

_lock: Final = threading.Lock()
_library: Final[Any] = torch.library.Library(NAMESPACE, "FRAGMENT")  # type: ignore[no-untyped-call]
_operators: Final[dict[str, Any]] = {}


def opaque_operator(plan: Plan, identity: str, kinds: Sequence[Kind]) -> Any:
    """The overload for calls of this plan with such arguments, and the positions that it takes.

    It takes the arguments that are not absent, and then three sizes of the grid for each config of the plan.
    ``identity`` is a text that tells this plan from all others.
    """
    decides = f"{identity} {kinds} {plan.first.translation.text} {plan.written_positions}"
    digest = hashlib.sha256(decides.encode()).hexdigest()[:16]
    name = f"{plan.first.translation.function}_{digest}"
    with _lock:
        if name not in _operators:
            _operators[name] = _define(name, plan, kinds)
        return _operators[name]


def _define(name: str, plan: Plan, kinds: Sequence[Kind]) -> Any:
    tags = [torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides]
    _library.define(name + _schema(plan, kinds), tags=tags)
    _library.impl(name, _body(plan, kinds), "CompositeExplicitAutograd")
    # A bare kernel call is nothing to autograd, traced or not.
    _library.impl(name, torch.library.fallthrough_kernel, "Autograd")
    torch.library.register_fake(f"{NAMESPACE}::{name}", lambda *_: None, lib=_library)
    return getattr(getattr(torch.ops, NAMESPACE), name).default


def _schema(plan: Plan, kinds: Sequence[Kind]) -> str:
    written = plan.written_positions
    taken = []
    for at, (kind, parameter) in enumerate(zip(kinds, plan.first.binder.own.parameters, strict=True)):
        if isinstance(kind, type):
            taken.append(f"{_NUMBERS[kind]} p_{parameter.name}")
        elif kind != ABSENT:
            alias = f"(a{at}!)" if at in written else ""
            taken.append(f"Tensor{alias} p_{parameter.name}")
    return f"({', '.join([*taken, 'SymInt[] grids'])}) -> ()"


def _body(plan: Plan, kinds: Sequence[Kind]) -> Callable[..., None]:
    """The call as it would be untraced: absent arguments are None, each candidate gets its own grid."""
    absent = [at for at, kind in enumerate(kinds) if kind == ABSENT]
    index = {point_of(Options(config)): at for at, config in enumerate(plan.configs)}

    def launch(*given: Any) -> None:
        *taken, grids = given
        arguments: list[Any] = list(taken)
        for at in absent:
            arguments.insert(at, None)

        def grid(options: Options) -> tuple[int, ...]:
            start = 3 * index[point_of(options)]
            return tuple(grids[start : start + 3])

        plan.call(arguments, tuple(grids) if len(index) == 1 else grid)

    return launch


def point_of(options: Options) -> Config:
    """The point of a sweep that a grid function is asked for."""
    return Config(dict(options.defines), options.num_warps, options.num_stages)
