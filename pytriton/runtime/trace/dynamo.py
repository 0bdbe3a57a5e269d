"""Kernel calls under ``torch.compile`` and other tracers.

Dynamo executes ``Kernel.__call__`` symbolically, so what it walks through must be plain Python that it knows,
and sizes may be symbols. Everything that needs the translator happens in functions that Dynamo calls for
real, on constants (``assume_constant_result``): they give back the *name* of a route, which the walk finds as
an attribute of ``ROUTES``. There are two kinds of routes:

* ``NativeRoute`` ends in ``jit_function[grid](...)``, or in a ``triton.autotune`` of it for a sweep. Inductor
  then sees a Triton kernel. It guesses the types of scalars from their values, so the generated module is
  loaded in a form that casts each scalar to its declared type first.
* ``OpaqueRoute`` ends in an operator (``recorded.py``) whose body is the untraced call. It is taken wherever
  the native form could differ from an untraced call in any bit.

Tracers below Dynamo (``make_fx``, the functionalisation of AOTAutograd) walk the same way.
"""

from __future__ import annotations

import hashlib
import operator
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final

import numpy
import torch
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, get_proxy_mode

from pytriton.compat.torch_names import (
    FakeTensor,
    FunctionalTensor,
    from_functional,
    is_jit_tracing,
    mark_constant,
    without_modes,
)
from pytriton.compat.triton_names import triton
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter, Translation
from pytriton.runtime.compile.load import load
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.arguments import rule_of
from pytriton.runtime.locks import several_ranks
from pytriton.runtime.options.defines import Config, Options, defines_of
from pytriton.runtime.plan import Plan
from pytriton.runtime.trace.recorded import (
    ABSENT,
    TracedKind,
    change_operator,
    native_modules,
    opaque_operator,
    with_point,
)

# Is a tensor all of its memory? Asked while a call is traced, with sizes that may be symbols.


def is_whole(argument: Any) -> bool:
    """Whether a written tensor is all of its memory, so that a copy of it holds all that a kernel may write."""
    if not isinstance(argument, torch.Tensor):
        return True
    if isinstance(argument, FunctionalTensor):
        argument = from_functional(argument.elem)
    if torch.compiler.is_dynamo_compiling():
        return _fills_storage(argument)
    # The comparison must not enter the graph: torch 2.13 fails on a product of three symbols there.
    with disable_proxy_modes_tracing():
        return _fills_storage(argument)


def _fills_storage(tensor: torch.Tensor) -> bool:
    size: Any = tensor.untyped_storage().size()
    return bool(tensor.numel() * tensor.dtype.itemsize == size)


class _Routes:
    """Everything that traced code finds by name: ``Points``, ``Planned``, and routes."""


ROUTES: Final = _Routes()
_lock: Final = threading.RLock()
_tokens: Final = count(1)
_names: Final[dict[Any, str]] = {}
_kernels: Final[weakref.WeakValueDictionary[str, Any]] = weakref.WeakValueDictionary()


def enrol(kernel: Any) -> str:
    """A text by which traced code can name a kernel object. (A number would become a symbol.)"""
    token = f"kernel {next(_tokens)}"
    _kernels[token] = kernel
    return token


# Dynamo knows this function, under any name, and takes it for True.
is_dynamo_compiling: Final[Callable[[], bool]] = torch.compiler.is_dynamo_compiling


def is_recorded(kernel: str) -> bool:
    """Whether make_fx records a launch of tensors that have memory.

    Raises LaunchError (TC543) under torch.jit.trace, which records operators of torch only.
    """
    if is_jit_tracing():
        raise refusal(
            f"{kernel}: torch.jit.trace would leave the launch out of its graph",
            "TC543",
            "make the function around it an operator with pytriton.op",
        )
    return get_proxy_mode() is not None


def is_traced(arguments: Sequence[Any]) -> bool:
    """Whether some tensor has no memory because a tracer runs."""
    return any(isinstance(argument, (FakeTensor, FunctionalTensor)) for argument in arguments)


def call_traced(
    kernel: Any,
    arguments: Sequence[Any],
    grid: Any,
    defines: Mapping[str, Any] | None,
    num_warps: Any,
    num_stages: Any,
    bench: Any = 0,
) -> None:
    """Record the launch in the graph of the tracer. Walked by Dynamo.

    Raises LaunchError for wrong use, as far as it shows in what a tracer knows.
    """
    if bench:
        raise refusal(
            f"{kernel.name}: bench={bench} requires a timing, which a traced call cannot give",
            "TC543",
            "measure the compiled function, for example with pytriton.testing.do_bench",
        )
    fixed = {} if defines is None else {name: _fixed(value) for name, value in defines.items()}
    warps, stages = _fixed(num_warps), _fixed(num_stages)
    computed: list[dict[str, Any]] = []
    if kernel._definition.heuristics.functions:
        points = getattr(ROUTES, _points(kernel.token, fixed, warps, stages))
        computed = points.computed(kernel._definition.heuristics.functions, arguments)
    planned = getattr(ROUTES, _planned(kernel.token, fixed, warps, stages, computed))
    if len(arguments) != planned.count:
        planned.refuse_count(arguments)
    recorded = is_dynamo_compiling() and torch.is_grad_enabled()  # other tracers are below autograd
    for at, argument in enumerate(arguments):
        if isinstance(argument, torch.Tensor):
            wants = recorded and argument.requires_grad
            _check_tensor(planned.name, at, argument, wants, wants and argument.is_leaf)
    kinds = [_kind(argument) for argument in arguments]
    named = [arguments[at] for at in planned.key]
    key = [operator.index(argument) for argument in named if isinstance(argument, (int, torch.SymInt))]
    # The opaque operator knows other values when it runs.
    may_tune = len(key) == len(named) and all(is_whole(arguments[at]) for at in planned.tuned_writes)
    route = getattr(ROUTES, _route(planned.name, kinds, key, may_tune))
    route.launch(arguments, [_three(grid, options) for options in planned.options])


def _fixed(value: Any) -> Any:
    """The value with symbols replaced by what they are now; a tracer guards on that."""
    if isinstance(value, (list, tuple)):
        return [_fixed(item) for item in value]
    if isinstance(value, (bool, torch.SymBool)):
        return True if value else False  # noqa: SIM210  (bool(x) would stay a symbol)
    if isinstance(value, (int, torch.SymInt)):
        return operator.index(value)
    return value


def _kind(argument: Any) -> Any:
    if argument is None:
        return ABSENT
    if isinstance(argument, torch.Tensor):
        if argument.numel() == 0:
            return ABSENT
        return argument.dtype, argument.device, argument.dim() == 0
    if isinstance(argument, (bool, torch.SymBool)):
        return bool
    if isinstance(argument, (int, torch.SymInt)):
        return int
    if isinstance(argument, (float, torch.SymFloat)):
        return float
    return type(argument)


def _three(grid: Any, options: Any) -> tuple[Any, Any, Any]:
    """The three sizes for one candidate; they may be symbols."""
    sizes = grid(options) if callable(grid) else grid
    if not isinstance(sizes, (tuple, list)):
        sizes = (sizes,)
    if not 1 <= len(sizes) <= 3:
        raise refusal(f"the grid has {len(sizes)} entries", "TC511", "a grid has 1 to 3")
    three: tuple[Any, ...] = (*sizes, 1, 1)
    return three[0], three[1], three[2]


class _TracedOptions(Options):
    """Options whose numbers stay numbers where a tracer makes symbols of all integers that it meets."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        return _fixed(self.defines[name] if name in self.defines else Options.__getitem__(self, name))

    d = D = __getitem__


# What is computed for real, on constants.


class Points:
    """The configs of a call as plain dictionaries, for heuristics to compute from."""

    def __init__(self, names: tuple[str, ...], configs: Sequence[Config]) -> None:
        self.names = names
        self.defines = [dict(Options(config).defines) for config in configs]

    def computed(
        self, functions: Mapping[str, Callable[[dict[str, Any]], Any]], arguments: Sequence[Any]
    ) -> list[dict[str, Any]]:
        """The values of the heuristics for each config. Traced by Dynamo."""
        results = []
        for defines in self.defines:
            inputs = {**dict(zip(self.names, arguments, strict=False)), **defines}
            values = {}
            for name, function in functions.items():
                inputs[name] = values[name] = _fixed(function(inputs))
            results.append(values)
        return results


class Planned:
    """A plan, with the facts that traced code needs."""

    def __init__(self, name: str, plan: Plan, kernel: Any) -> None:
        self.name = name
        self.plan = plan
        self.kernel = kernel
        # What constant buffers hold belongs to the kernel object; all else shows in the text.
        owner = kernel.token if plan.first.translation.buffers else ""
        self.identity = f"{plan.text!r} {kernel._definition.settings!r} {owner} {plan.configs}"
        self.count = len(plan.first.binder.own.parameters)
        self.options = [_TracedOptions(config) for config in plan.configs]
        sweeps = len(plan.configs) > 1
        self.key = plan.named_key if sweeps else ()
        self.tuned_writes = plan.written_positions if sweeps else ()

    def refuse_count(self, arguments: Sequence[Any]) -> None:
        self.plan.first.binder.own.bind(arguments)


def _constant(function: Callable[..., str]) -> Callable[..., str]:
    """A function that Dynamo calls for real, on constants."""
    mark_constant(function)
    return function


def _kept(key: Any, make: Callable[[str], Any]) -> str:
    """The name in ROUTES of what ``make`` made for this key."""
    with _lock:
        if key not in _names:
            name = f"r{len(_names)}"
            setattr(ROUTES, name, make(name))
            _names[key] = name
        return _names[key]


@_constant
def _points(token: str, defines: Mapping[str, Any], num_warps: Any, num_stages: Any) -> str:
    kernel = _kernels[token]
    configs = kernel._definition.configs(defines_of(defines), num_warps, num_stages)
    names = kernel._before_heuristics(configs[0]).names
    return _kept(("points", token, configs), lambda _: Points(names, configs))


@_constant
def _planned(
    token: str,
    defines: Mapping[str, Any],
    num_warps: Any,
    num_stages: Any,
    computed: Sequence[Mapping[str, Any]],
) -> str:
    kernel = _kernels[token]
    configs = kernel._definition.configs(defines_of(defines), num_warps, num_stages)
    if computed:
        configs = tuple(
            replace(config, defines={**config.defines, **values})
            for config, values in zip(configs, computed, strict=True)
        )
    return _kept(
        ("plan", token, configs),
        lambda name: Planned(name, kernel.traced_plan(configs), kernel),
    )


@_constant
def _check_tensor(planned: str, at: int, argument: torch.Tensor, wanting: bool, leaf: bool) -> str:
    getattr(ROUTES, planned).plan.check_traced(at, argument, wanting, leaf)
    return planned


@_constant
def _route(planned: str, kinds: Sequence[TracedKind], key: Sequence[int], may_tune: bool) -> str:
    """The name of the route; ``may_tune``: Inductor may tune, by this key, on copies of what is written."""
    plan: Planned = getattr(ROUTES, planned)
    exporting = torch.compiler.is_exporting()
    # Each rank's Inductor would choose for itself.
    may_tune = len(plan.options) == 1 or (may_tune and not several_ranks())
    asked = ("route", planned, tuple(kinds), tuple(key), may_tune, exporting)
    return _kept(asked, lambda name: _make_route(name, plan, kinds, key, may_tune, exporting))


@_constant
def _route_without(route: str, broken: Sequence[tuple[int, int]]) -> str:
    """The name of the route for calls that break promises: positions, and the promised divisors."""
    native: NativeRoute = getattr(ROUTES, route)
    return _kept(("without", route, tuple(broken)), lambda name: native.without(name, dict(broken)))


def _make_route(
    name: str,
    planned: Planned,
    kinds: Sequence[TracedKind],
    key: Sequence[int],
    may_tune: bool,
    exporting: bool,
) -> Any:
    plan = planned.plan
    _check_kinds(plan, kinds)

    def opaque() -> OpaqueRoute:
        positions = tuple(at for at, kind in enumerate(kinds) if kind != ABSENT)
        return OpaqueRoute(opaque_operator(plan, planned.identity, kinds), positions)

    def without(name: str, broken: Mapping[int, int]) -> Any:
        other = Planned(name, plan.without(broken), planned.kernel)
        return _make_route(name, other, kinds, key, may_tune, exporting)

    unchecked = not plan.is_checked(on_cpu=False)  # the opaque operator launches as a plain call does
    modules = native_modules(plan, kinds) if may_tune and unchecked else None
    if modules is None:
        return opaque()
    changed = [at for at in plan.written_positions if isinstance(kinds[at], tuple)]
    return NativeRoute(name, plan, modules, key, changed, opaque, without, exporting)


# Dynamo has arrays in place of NumPy's numbers.
_UNTRACED: Final = {
    int: ("an address", "pass the tensor, or None for an absent one"),
    numpy.ndarray: ("a NumPy value", "pass a tensor or a Python number"),
}


def _check_kinds(plan: Plan, kinds: Sequence[TracedKind]) -> None:
    """Refuse what the checks of an untraced call would refuse for any value; raises LaunchError."""
    binder = plan.first.binder.own
    stand_ins: list[Any] = []
    with without_modes():
        for at, (kind, parameter) in enumerate(zip(kinds, binder.parameters, strict=True)):
            if kind is numpy.ndarray or (kind is int and isinstance(parameter.type, PointerType)):
                what, cure = _UNTRACED[kind]
                binder.place(at).refuse(f"is {what}, which torch.compile cannot follow", "TC543", cure)
            if isinstance(kind, tuple):
                stand_ins.append(torch.zeros((), dtype=kind[0]) if kind[2] else torch.zeros(1, dtype=kind[0]))
            else:
                stand_ins.append(None if kind == ABSENT else kind())  # type: ignore[operator]
        binder.bind(stand_ins)


# Routes. ``launch`` is walked by Dynamo.


class OpaqueRoute:
    """Through an operator that makes the untraced call."""

    def __init__(self, operator_: Any, positions: tuple[int, ...]) -> None:
        self.operator = operator_
        self.positions = positions

    def launch(self, arguments: Sequence[Any], grids: Sequence[tuple[Any, Any, Any]]) -> None:
        taken = [arguments[at] for at in self.positions]
        self.operator(*taken, [size for grid in grids for size in grid])


# Inductor passes integers as 32 bits up to _LARGEST without a look at the other end. Constants beyond it are an
# error in torch 2.11.
_LEAST: Final = -(1 << 31)
_LARGEST: Final = (1 << 31) - 1


class NativeRoute:
    """Through ``jit_function[grid](...)``, which Inductor turns into a launch of its own.

    A sweep becomes a ``triton.autotune``. Its configs hold the constexprs and one more, ``point``: the number
    of the candidate, by which the grid is chosen. ``key`` enters that number, because Inductor keeps what it
    once tuned and would not tune again for other values of the key. What the kernel writes is named to the
    autotuner, which measures on copies of it.

    ``opaque`` takes integers that need more than the 32 bits in which Inductor may pass them. An exported program
    has no guards, so that there it takes as well those that only a check at run time can know to fit. ``without``
    makes the route for calls that break promises, given its name and what is broken. ``changed`` are the positions
    of the tensors that count as changed.
    """

    def __init__(
        self,
        name: str,
        plan: Plan,
        modules: Sequence[Translation],
        key: Sequence[int],
        changed: Sequence[int],
        opaque: Callable[[], OpaqueRoute],
        without: Callable[[str, Mapping[int, int]], Any],
        exporting: bool,
    ) -> None:
        self.name = name
        self.without = without
        self.kernel_name = modules[0].kernel
        self.changed, self.change = changed, change_operator()
        limits = (_limits(at, param) for at, param in enumerate(modules[0].parameters))
        self.integers = [limit for limit in limits if limit is not None]
        self.wide = [at for at, _, high, _, _ in self.integers if high > _LARGEST]
        self.exporting = exporting
        self.opaque: Any = opaque() if self.wide or exporting else None
        self.sweeps = len(modules) > 1
        self.constexprs: dict[str, Any] = dict(modules[0].constexprs)
        self.options = _launch_options(plan.configs[0])
        self.point = ""
        self.first = 0
        if not self.sweeps:
            self.function = load(modules[0].function, modules[0].text).compiled
            return
        text, self.point = with_point(modules[0])
        self.first = int(hashlib.sha256(str(list(key)).encode()).hexdigest()[:6], 16) << 8 if key else 0
        configs = [
            triton.Config({**module.constexprs, self.point: self.first + at}, **_launch_options(config))
            for at, (module, config) in enumerate(zip(modules, plan.configs, strict=True))
        ]
        compiled = load(modules[0].function, text).compiled
        written = [compiled.arg_names[at] for at in plan.written_positions]
        self.function = triton.autotune(configs=configs, key=[], restore_value=written)(compiled)

    def launch(self, arguments: Sequence[Any], grids: Sequence[tuple[Any, Any, Any]]) -> None:
        if self.exporting and self._undecided(arguments):
            self.opaque.launch(arguments, grids)
            return
        broken = []
        for at, low, high, multiple, shown in self.integers:
            value = arguments[at]
            if not low <= value <= high:
                raise refusal(f"{self.kernel_name}: {shown} does not fit: {low} to {high}", "TC506")
            if value % multiple != 0:
                broken.append((at, multiple))
        if broken:
            route = getattr(ROUTES, _route_without(self.name, broken))
            route.launch(arguments, grids)
            return
        for at in self.wide:
            if not _LEAST <= arguments[at] <= _LARGEST:
                self.opaque.launch(arguments, grids)
                return
        for grid in grids:
            if grid[0] < 0 or grid[1] < 0 or grid[2] < 0:
                raise refusal(f"{self.kernel_name}: the grid has a negative entry", "TC512")
        if grids[0][0] == 0 or grids[0][1] == 0 or grids[0][2] == 0:
            return
        function = self.function
        if not is_dynamo_compiling():
            function = torch.library.wrap_triton(function)
        if self.sweeps:
            point, first = self.point, _fixed(self.first)
            function[lambda meta: grids[meta[point] - first]](*arguments)
        else:
            constexprs = {name: _fixed(value) for name, value in self.constexprs.items()}
            options = {name: _fixed(value) for name, value in self.options.items()}
            function[grids[0]](*arguments, **constexprs, **options)
        if is_dynamo_compiling() and not self.exporting:  # an exported program has only what it needs
            for at in self.changed:
                self.change(arguments[at])

    def _undecided(self, arguments: Sequence[Any]) -> bool:
        """Whether some integer may fit or not, by what is known of its symbol."""
        for at, low, high, multiple, _ in self.integers:
            value = arguments[at]
            for limit in (low, _LEAST):
                if _is_open(value >= limit):
                    return True
            for limit in (high, _LARGEST):
                if _is_open(value <= limit):
                    return True
            if multiple != 1 and _is_open(value % multiple == 0):
                return True
        return False


def _is_open(condition: Any) -> bool:
    """Whether a condition is true for some values of its symbols and false for others; adds no guard."""
    symbols: Any = torch.fx.experimental.symbolic_shapes  # a tracer of symbols has imported it
    otherwise: Any = torch.sym_not
    return not (
        symbols.statically_known_true(condition) or symbols.statically_known_true(otherwise(condition))
    )


def _limits(at: int, parameter: Parameter) -> tuple[int, int, int, int, str] | None:
    """Position, least and largest value, the number that must divide it, and how messages show it."""
    rule = rule_of(parameter)
    if rule.kind not in ("int", "uint"):
        return None
    shown = f"argument {at + 1} '{parameter.name}' ({parameter.declaration})"
    return at, rule.low, rule.high, rule.divisor, shown


def _launch_options(config: Config) -> dict[str, int]:
    """Triton's default number of stages is not passed on: it may differ between devices."""
    stages = {} if config.num_stages is None else {"num_stages": config.num_stages}
    return {"num_warps": config.num_warps, **stages}
