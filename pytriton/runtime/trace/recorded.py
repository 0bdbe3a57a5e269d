"""How a traced call of a kernel is recorded: as one operator of torch, or as a launch that Inductor knows."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import torch

from pytriton.compat.torch_names import increment_versions
from pytriton.emit import python
from pytriton.emit.printer import printed
from pytriton.errors import CompileError
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation
from pytriton.runtime.compile.specialize import pin_types
from pytriton.runtime.options.defines import Options, point_of
from pytriton.runtime.plan import Plan

# A kernel call as one operator of torch: what a tracer records where it cannot see into the launch.
#
# ``torch.compile`` knows how to launch a ``@triton.jit`` function, but not everything that a Triton-C kernel may
# need: CPU tensors, absent tensors, doubles, sweeps whose sources differ. Such a call is recorded as an
# operator ``pytriton::<kernel>_<hash>``. Its schema declares which tensors are written; its body makes the same
# call as an untraced program, with all its checks and its tuning. The name depends on the contents only, so that
# caches on disk find the operator again in the next process.


NAMESPACE: Final = "pytriton"

ABSENT: Final = "absent"
# What is known of an argument while tracing: a tensor's dtype, device and whether it has no axes; the type of
# a number; or ABSENT.
TracedKind = tuple[torch.dtype, torch.device, bool] | type | str

_NUMBERS: Final = {bool: "bool", int: "SymInt", float: "float"}

_lock: Final = threading.Lock()
_library: Final[Any] = torch.library.Library(NAMESPACE, "FRAGMENT")  # type: ignore[no-untyped-call]
_operators: Final[dict[str, Any]] = {}


def opaque_operator(plan: Plan, identity: str, kinds: Sequence[TracedKind]) -> Any:
    """The overload for calls of this plan with such arguments, and the positions that it takes.

    It takes the arguments that are not absent, and then three sizes of the grid for each config of the plan.
    ``identity`` is a string that identifies this plan.
    """
    decides = f"{identity} {kinds} {plan.first.translation.text} {plan.written_positions}"
    digest = hashlib.sha256(decides.encode()).hexdigest()[:16]
    name = f"{plan.first.translation.function}_{digest}"
    with _lock:
        if name not in _operators:
            _operators[name] = _define(name, plan, kinds)
        return _operators[name]


def _define(name: str, plan: Plan, kinds: Sequence[TracedKind]) -> Any:
    overload = define(_library, name + _schema(plan, kinds), _body(plan, kinds), lambda *_: None)
    # A bare kernel call is nothing to autograd, traced or not.
    _library.impl(name, torch.library.fallthrough_kernel, "Autograd")
    return overload


def define(library: Any, signature: str, run: Callable[..., Any], shapes: Callable[..., Any]) -> Any:
    """The overload of a new operator, ``name(...) -> ...``; ``shapes``: its results on fake tensors."""
    name = signature.partition("(")[0]
    library.define(signature, tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides))
    library.impl(name, run, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{library.ns}::{name}", shapes, lib=library)
    return getattr(getattr(torch.ops, library.ns), name).default


def _schema(plan: Plan, kinds: Sequence[TracedKind]) -> str:
    written = plan.written_positions
    taken = []
    for at, (kind, parameter) in enumerate(zip(kinds, plan.first.binder.own.parameters, strict=True)):
        if isinstance(kind, type):
            taken.append(f"{_NUMBERS[kind]} p_{parameter.name}")
        elif kind != ABSENT:
            alias = f"(a{at}!)" if at in written else ""
            taken.append(f"Tensor{alias} p_{parameter.name}")
    return f"({', '.join([*taken, 'SymInt[] grids'])}) -> ()"


def _body(plan: Plan, kinds: Sequence[TracedKind]) -> Callable[..., None]:
    """The call as it would be untraced: absent arguments are None, each candidate gets its own grid."""
    absent = [at for at, kind in enumerate(kinds) if kind == ABSENT]
    index = {point_of(options): at for at, options in enumerate(plan.options)}

    def launch(*passed: Any) -> None:
        *taken, grids = passed
        arguments: list[Any] = list(taken)
        for at in absent:
            arguments.insert(at, None)

        def grid(options: Options) -> tuple[int, ...]:
            start = 3 * index[point_of(options)]
            return tuple(grids[start : start + 3])

        plan.call(arguments, tuple(grids[:3]) if len(index) == 1 else grid)

    return launch


# The form of a kernel that Inductor can launch: scalars are cast first; a sweep has one constexpr more.
#
# Where Dynamo or Inductor launch a kernel, they count no version of what it writes (runtime/launch/gradients.py).
# Such a launch is followed by an operator that only marks a tensor as changed. Where a graph is made
# functional it leaves its input marked as changed, and is gone; so Inductor's code does not call it.


@cache
def change_operator() -> Any:
    """``pytriton::change(Tensor(a!) x) -> ()``: counts as a change of ``x``, and leaves it as it is."""
    change = define(_library, "change(Tensor(a!) x) -> ()", _count, lambda x: None)
    _library.impl("change", torch.library.fallthrough_kernel, "Autograd")
    change.py_functionalize_impl(_mark_as_changed)
    return change


def _count(x: torch.Tensor) -> None:
    increment_versions((x,))


def _mark_as_changed(context: Any, x: torch.Tensor) -> None:
    context.replace(x, context.unwrap_tensors(x))
    context.commit_update(x)
    context.sync(x)


def native_modules(plan: Plan, kinds: Sequence[TracedKind]) -> list[Translation] | None:
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
    if len(translations) > 1 and any(module.traits.writes_elsewhere for module in translations):
        return None
    return translations if len({(module.function, module.text) for module in translations}) == 1 else None


def _is_exact(parameter: Parameter, kind: TracedKind) -> bool:
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
    tree = module.tree
    parameters = (*tree.parameters, python.FunctionParameter(name, python.CONSTEXPR))
    return printed(tree._replace(parameters=parameters))[0], name
