"""The form of a kernel that Inductor can launch: scalars are cast first; a sweep has one constexpr more.

Where Dynamo or Inductor launch a kernel, they count no version of what it writes (runtime/launch/gradients.py).
An operator that does nothing but say that a tensor changes stands after such a launch. Where a graph is made
functional it leaves its input marked as changed, and is gone; so Inductor's code does not call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import torch

from pytriton.errors import CompileError
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation
from pytriton.runtime.compile.specialize import pin_types
from pytriton.runtime.launch.gradients import increment_version
from pytriton.runtime.plan import Plan
from pytriton.runtime.trace.opaque import Kind

__all__ = ["change_operator", "native_modules", "with_point"]

_library: Final[Any] = torch.library.Library("pytriton", "FRAGMENT")  # type: ignore[no-untyped-call]


@cache
def change_operator() -> Any:
    """``pytriton::change(Tensor(a!) x) -> ()``: counts as a change of ``x``, and leaves it as it is."""
    _library.define("change(Tensor(a!) x) -> ()", tags=[torch.Tag.pt2_compliant_tag])
    _library.impl("change", _count, "CompositeExplicitAutograd")
    _library.impl("change", torch.library.fallthrough_kernel, "Autograd")
    torch.library.register_fake("pytriton::change", lambda x: None, lib=_library)
    change = torch.ops.pytriton.change.default
    change.py_functionalize_impl(_mark_as_changed)
    return change


def _count(x: torch.Tensor) -> None:
    increment_version((x,))


def _mark_as_changed(context: Any, x: torch.Tensor) -> None:
    context.replace(x, context.unwrap_tensors(x))
    context.commit_update(x)
    context.sync(x)


def native_modules(plan: Plan, kinds: Sequence[Kind]) -> list[Translation] | None:
    """The candidates' modules if Inductor's launch of them is exact; else None.

    It is for tensors of exactly the declared element types on one GPU, and numbers that it passes unrounded,
    with one text for all candidates. Those of a sweep must write through their parameters only, as nothing else
    is restored after measuring.
    """
    own = plan.first.binder.own
    devices = {kind[1] for kind in kinds if isinstance(kind, tuple)}
    if own is not plan.first.binder or len(devices) != 1 or next(iter(devices)).type != "cuda":
        return None
    if not all(_is_exact(param, kind) for param, kind in zip(own.parameters, kinds, strict=True)):
        return None
    try:
        translations = [pin_types(candidate.translation) for candidate in plan.every_candidate()]
    except CompileError:
        return None
    if any(module.traits.described or module.traits.positive for module in translations):
        return None  # that holds for some launches
    if len(translations) > 1 and any(module.traits.strays for module in translations):
        return None
    return translations if len({(module.function, module.text) for module in translations}) == 1 else None


def _is_exact(parameter: Parameter, kind: Kind) -> bool:
    match parameter.type:
        case PointerType(element=ScalarType() as element):
            return isinstance(kind, tuple) and kind[0] == getattr(torch, element.torch)
        case ScalarType(kind="bool"):
            return kind is bool
        case ScalarType(kind="float", bits=32):
            return kind is float
        case ScalarType(kind="int" | "uint"):
            return kind is int
    return False


def with_point(module: Translation) -> tuple[str, str]:
    """The text with one more constexpr, which nothing reads, and its name."""
    name = "point"
    while name in module.text:
        name += "_"
    start = module.text.index(f"def {module.function}(")
    end = module.text.index("):\n", start)
    before = module.text[:end].rstrip()
    comma = "" if before.endswith((",", "(")) else ","
    return f"{before}{comma} {name}: tl.constexpr{module.text[end:]}", name
