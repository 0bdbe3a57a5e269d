"""The fast path of an eager operator call: when the dispatcher would do nothing but find the body.

The dispatcher tests the keys of the tensors and at the state of the thread. If the tensors are plain ones on
one device, and no mode, transform, tracer or profiler is active, the call ends in the body, or,
where a gradient is needed, in a node of the graph around it. So a function is generated for each operator that
tests the same things, as cheaply as Python can, and calls the dispatcher in every other case. For
``add(x, y, a=1.0)`` it is

    def add(_self, /, x, y, a=_default_a):
        if _tracing() or _modes() or ...:
            return _overload(x, y, a)
        if x.__class__ is not _Tensor and ...:      # of no subclass
        if a.__class__ is not _float: ...           # nothing that the dispatcher would convert
        if not (x.is_cuda and y.is_cuda or ...): ...    # one device, without a kernel of its own
        if x.is_neg() or y.is_neg(): ...            # memory that holds other numbers than it seems
        if _grad() and (x.requires_grad or y.requires_grad):
            if _wrapped(x) or _wrapped(y):          # what torch.func left behind
                return _overload(x, y, a)
            return _gradient(x, y, a)
        return _kernel(x, y, a)

What is left out is harmless: memory that is not plain (sparse, nested, functional) is refused by a kernel
launch and known to torch's operators.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any, Final

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

from pytriton.compat import torch_names
from pytriton.operators.body import Body

_DEVICES: Final = ("cuda", "cpu")
# What every function reads or calls; in its source with a prefix that no parameter has.
_NAMES: Final[dict[str, Any]] = {
    "tracing": torch.compiler.is_dynamo_compiling,
    "modes": torch_names.dispatch_modes,
    "function_modes": torch_names.function_modes,
    "transforms": torch_names.innermost_transform,
    "traced": torch_names.is_jit_tracing,
    "profiled": torch_names.is_profiled,
    "autocast": torch_names.is_autocast,
    "forward_ad": forward_ad,
    "wrapped": torch_names.is_functorch_wrapped,
    "grad": torch.is_grad_enabled,
    "increment": increment_version,
    "Tensor": torch.Tensor,
    "Parameter": torch.nn.Parameter,
    "int": int,
    "SymInt": int,
    "float": float,
    "bool": bool,
    "str": str,
}
# What may be active in a thread: none is true if nothing is.
_STATE: Final = "tracing() modes() function_modes() transforms() traced() profiled()".split()


class Shortcut:
    """The direct calls of one operator, on devices where its body runs."""

    def __init__(self, overload: Any, body: Body) -> None:
        self._overload = overload
        self._arguments = torch_names.schema_of(overload).arguments
        self._body = body
        self._devices = [*_DEVICES]
        self._casts = False
        types = [str(argument.real_type) for argument in self._arguments]
        plain = ("Tensor", "Optional[Tensor]", "int", "SymInt", "float", "bool", "str")
        keywords = any(argument.kwarg_only for argument in self._arguments)
        self._open = "Tensor" in types and {*plain}.issuperset(types) and not keywords

    def leave_out(self, device_type: str) -> None:
        """Calls on this device go through the dispatcher, which finds a kernel of its own."""
        self._devices = [device for device in self._devices if device != device_type]

    def casts(self) -> None:
        """Under autocast calls go through the dispatcher."""
        self._casts = True

    def caller(self, gradient: Callable[..., Any]) -> Callable[..., Any]:
        """The function that calls the operator, as its class's ``__call__``.

        ``gradient`` takes a call for which a gradient is needed, if the operator writes nothing.
        """
        overload = self._overload
        if not self._open or not self._devices:
            return lambda self, *args, **kwargs: overload(*args, **kwargs)
        names = [argument.name for argument in self._arguments]
        prefix = "_"
        while any(name.startswith(prefix) for name in names):
            prefix += "_"
        closure = {**_NAMES, "overload": overload, "gradient": overload if self._body.written else gradient}
        closure["kernel"] = self._body.launch
        closure |= {f"default_{argument.name}": argument.default_value for argument in self._arguments}
        closure = {prefix + name: value for name, value in closure.items()}
        text = "\n".join(self._lines(prefix))
        # Closures are read faster than globals; and tracebacks show the lines.
        module = f"def make({', '.join(closure)}):\n{text}\n    return {torch_names.name_of(overload)}\n"
        file = f"<pytriton.op {torch_names.schema_of(overload).name}>"
        linecache.cache[file] = (len(module), None, module.splitlines(keepends=True), file)
        namespace: dict[str, Any] = {"__name__": __name__}
        exec(compile(module, file, "exec"), namespace)
        caller: Callable[..., Any] = namespace["make"](**closure)
        caller.__qualname__ = caller.__name__
        return caller

    def _lines(self, p: str) -> list[str]:
        """The source of the function, with ``p`` before all names that are not the user's."""
        tensors = [
            argument.name for argument in self._arguments if str(argument.real_type).endswith("Tensor")
        ]
        optional = [
            argument.name for argument in self._arguments if str(argument.real_type) == "Optional[Tensor]"
        ]
        tensors += optional
        arguments = ", ".join(argument.name for argument in self._arguments)

        def some(test: str) -> str:
            """Whether a test is true of some tensor that is there; ``$`` is the tensor."""
            tests = [(name, test.replace("$", name)) for name in tensors]
            return " or ".join(
                f"{n} is not None and ({asked})" if n in optional else asked for n, asked in tests
            )

        def every(test: str) -> str:
            return " and ".join(
                f"({n} is None or {n}.{test})" if n in optional else f"{n}.{test}" for n in tensors
            )

        state = [*_STATE, *["autocast()"] * self._casts, "forward_ad._current_level >= 0"]
        numbers = [
            (argument.name, str(argument.real_type))
            for argument in self._arguments
            if argument.name not in tensors
        ]
        doubts = [
            " or ".join(p + call for call in state),
            some(f"($.__class__ is not {p}Tensor and $.__class__ is not {p}Parameter)"),
            " or ".join(f"{name}.__class__ is not {p}{type_}" for name, type_ in numbers),
            some("$.is_neg()"),
        ]
        lines = [f"def {torch_names.name_of(self._overload)}({p}self, /, {self._parameters(p)}):"]
        for doubt in filter(None, doubts):
            lines += [f"    if {doubt}:", f"        return {p}overload({arguments})"]
        lines += [
            f"    if not ({' or '.join(every(f'is_{device}') for device in self._devices)}):",
            f"        return {p}overload({arguments})",
            f"    if {p}grad() and ({some('$.requires_grad')}):",
            f"        if {some(f'{p}wrapped($)')}:",
            f"            return {p}overload({arguments})",
            f"        return {p}gradient({arguments})",
        ]
        for name in tensors:
            # Autograd keeps versions of tensors, but not of those of inference mode.
            if name in self._body.written:
                test = f"{name} is not None and " if name in optional else ""
                lines += [f"    if {test}not {name}.is_inference():", f"        {p}increment({name})"]
        lines.append(f"    return {p}kernel({arguments})")
        return [f"    {line}" for line in lines]

    def _parameters(self, p: str) -> str:
        return ", ".join(
            f"{argument.name}={p}default_{argument.name}" if argument.has_default_value() else argument.name
            for argument in self._arguments
        )
