"""``pytriton.op``: a function around kernels as an operator of PyTorch.

The operator is defined with ``Library.define`` and ``Library.impl``, whose calls cost a fraction of those of
``torch.library.custom_op``. What it is made of:

    schema              from the annotations and ``mutates_args``
    the body            for every device without a kernel of its own; what it writes is checked against the schema
    a fake kernel       the body itself on fake tensors, with its launches skipped, unless one is given
    an autograd kernel  always; without a formula it raises when a gradient is needed, as custom_op does
    a decomposition     AOTAutograd traces into the body, so that Inductor sees the kernels; not while
                        exporting, not for a device with a kernel of its own, and not into a body that
                        has a fake kernel of its own

A call with plain tensors and no gradient needed, where no mode, transform or profiler is active, goes
straight to the body (``shortcut.py``): the dispatcher would end there after two walks, at several times the cost.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, Final, Generic, ParamSpec, SupportsIndex, TypeVar, overload

import torch
from torch.autograd.graph import increment_version
from torch.utils.flop_counter import register_flop_formula

from pytriton.boundary import entry
from pytriton.compat import torch_names
from pytriton.operators.body import Body, Recorder, Recording
from pytriton.operators.formulas import AutogradFormula, DerivedFormula
from pytriton.operators.shortcut import Shortcut
from pytriton.runtime.errors import refusal
from pytriton.runtime.options.annotations import Truth
from pytriton.runtime.options.table import option

_P = ParamSpec("_P")
_R = TypeVar("_R")

_library: Final[Any] = torch.library

_NAME: Final = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")
_UNQUOTED: Final = re.compile(r"[\\\"\x00-\x1f]")
_RESERVED: Final = frozenset({"aten", "prim", "prims", "pytriton", "torch"})
_defined: Final[dict[str, Operator[..., Any]]] = {}
_anchors: Final[dict[str, Any]] = {}
"""For each name that was defined again, a library that keeps the dispatcher's entry of that name, which is all
that the dispatcher does by default. Graphs and overloads hold the address of the entry."""


class Operator(Generic[_P, _R]):
    """A torch operator around kernels. Made by ``pytriton.op``; called like the function it was made of."""

    def __init__(
        self,
        name: str,
        function: Callable[_P, _R],
        schema: str,
        gradient: bool,
        scratch_bytes: int | None,
    ) -> None:
        self.name = name
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        space, _, self._short = name.partition("::")
        self._lib: Any = _library.Library(space, "FRAGMENT")
        tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)
        self._lib.define(self._short + schema, tags=tags)
        self.overload: Any = getattr(getattr(torch.ops, space), self._short).default
        self._declared = torch_names.schema_of(self.overload)
        recorder = Recorder(name, function) if gradient else None
        self.body = Body(name, recorder or function, self._declared.arguments)
        self._traceable = True
        self._fake: Callable[..., Any] | None = None
        self._own_kernels: set[str] = set()  # device types
        self._shortcut = Shortcut(self.overload, self.body)
        self._gradient = AutogradFormula(self.overload, self.body.launch)
        self._register()
        if recorder is not None:
            self._derive_autograd(recorder.recording, scratch_bytes)
        self.__class__ = type("Operator", (Operator,), {})
        self._shorten()

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the operator. Each operator has a class of its own, whose ``__call__`` is made for its schema."""
        result: _R = self.overload(*args, **kwargs)
        return result

    def _shorten(self) -> None:
        self.__class__.__call__ = self._shortcut.caller(self._gradient.eager)  # type: ignore[method-assign]

    def _retire(self) -> None:
        """Give the name back to torch, for another operator.

        Eager calls of this one still run its function, and graphs its formula. What asks the dispatcher for it, by
        name or through a mode, whose handle keeps this overload, gets the new operator; if that has another schema,
        LaunchError (TC540) is raised.
        """
        space, _, short = self.name.partition("::")

        def replaced(*args: Any, **kwargs: Any) -> Any:
            current = getattr(getattr(torch.ops, space), short, None)
            overload: Any = self.overload if current is None else current.default
            same = str(torch_names.schema_of(overload)) == str(self._declared)
            if overload is not self.overload and same:
                return overload(*args, **kwargs)
            raise refusal(
                f"{self.name}: this operator was replaced, as its name was defined again",
                "TC540",
                "call the new operator, and compile again what calls it",
            )

        if self.name not in _anchors:
            _anchors[self.name] = _library.Library(self.name.partition("::")[0], "FRAGMENT")
            _anchors[self.name].impl(self._short, _library.fallthrough_kernel, "BackendSelect")
        torch_names.destroy(self._lib)
        torch_names.replace(self.overload, replaced)

    def __repr__(self) -> str:
        return f"<pytriton.op {self.name}{self.schema}>"

    def __reduce__(self) -> Any:
        return _operator_named, (self.name,)

    @property
    def schema(self) -> str:
        """``(Tensor x, Tensor(a1!) y, ...) -> ...``, as torch writes it."""
        return str(self._declared).removeprefix(self.name)

    @property
    def mutates_args(self) -> frozenset[str]:
        """The names of the arguments that it writes."""
        return self.body.written

    # What may be registered, with the signatures of torch.library.

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """``backward(ctx, *grads)`` and ``setup_context(ctx, inputs, output)``.

        Raises LaunchError (TC540) for an operator that writes its arguments: autograd cannot follow that.
        """
        self._check_unwritten()
        self._gradient.formula(backward, setup_context)

    def _derive_autograd(self, recording: Recording, scratch_bytes: int | None) -> None:
        """Derive the formula from the kernels in the body; raises LaunchError (TC540) as ``register_autograd``."""
        self._check_unwritten()
        given = self._declared, scratch_bytes, recording
        derived = DerivedFormula(self.name, self.function, *given)
        self._gradient.record = recording.of
        self.register_autograd(derived.backward, setup_context=derived.setup_context)

    def _check_unwritten(self) -> None:
        if self.body.written:
            raise refusal(
                f"{self.name}: an operator that writes its arguments ({', '.join(sorted(self.body.written))}) "
                "has no gradient",
                "TC540",
                "write to new tensors and return them",
            )

    def register_kernel(
        self, device_types: str | Sequence[str], func: Callable[..., Any] | None = None
    ) -> Any:
        """What runs on these devices instead of the body: ``register_kernel("cpu")(torch.sin)``."""
        types = (device_types,) if isinstance(device_types, str) else tuple(device_types)

        def register(given: Callable[..., Any]) -> Callable[..., Any]:
            for device_type in types:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that a kernel is registered again
                    key = torch_names.key_for_device(device_type)
                    self._lib.impl(self._short, given, key, allow_override=True)
                self._own_kernels.add(device_type)
                self._shortcut.leave_out(device_type)
            self._shorten()
            return given

        return register if func is None else register(func)

    def register_fake(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """What gives results of the right shapes, dtypes, strides and devices, in place of the body.

        A body with one does not run on fake tensors, so it is not traced into either.
        """
        self._fake = func
        self._traceable = False
        return func

    def register_vmap(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """``func(info, in_dims, *args)`` gives the result and its out_dims."""
        _library.register_vmap(self.name, func, lib=self._lib)
        return func

    def register_autocast(self, device_type: str, cast_inputs: torch.dtype) -> None:
        """Under autocast for this device, floating arguments are cast to this dtype first."""
        self._shortcut.casts()
        self._shorten()
        _library.register_autocast(self.name, device_type, cast_inputs, lib=self._lib)

    def register_torch_dispatch(
        self, torch_dispatch_class: Any, func: Callable[..., Any] | None = None, /
    ) -> Any:
        """What runs under a mode, or for a subclass, with ``__torch_dispatch__``."""

        def register(given: Callable[..., Any]) -> Callable[..., Any]:
            _library.register_torch_dispatch(self.name, torch_dispatch_class, given, lib=self._lib)
            return given

        return register if func is None else register(func)

    def register_flop_formula(self, formula: Callable[..., int]) -> Callable[..., int]:
        """``formula(*shapes, out_shape=...)``, a tensor argument given as its shape, for FlopCounterMode."""
        register_flop_formula(self.overload.overloadpacket)(formula)
        return formula

    # The dispatcher.

    def _shapes(self, *args: Any, **kwargs: Any) -> Any:
        return (self._fake or self.body.shapes)(*args, **kwargs)

    def _decompose(self, mode: Any, called: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Trace into the body under functionalisation."""
        device_types = {argument.device.type for argument in args if isinstance(argument, torch.Tensor)}
        if not self._traceable or device_types & self._own_kernels or torch_names.exporting():
            return mode.__torch_dispatch__(called, types, args, kwargs)
        plain_types = (torch.Tensor, torch_names.FunctionalTensor)
        if any(type_ not in plain_types and not issubclass(type_, torch_names.FakeTensor) for type_ in types):
            return NotImplemented
        with mode:
            return self.body.trace(*args, **kwargs)

    def _register(self) -> None:
        self._lib.impl(self._short, self.body.launch, "CompositeExplicitAutograd")
        _library.register_fake(self.name, self._shapes, lib=self._lib)
        self._lib.impl(self._short, self._gradient.dispatched(), "Autograd", with_keyset=True)
        if self.body.written:
            self._lib.impl(self._short, self._before_write, "ADInplaceOrView", with_keyset=True)
        _library.register_torch_dispatch(
            self.name, torch_names.FunctionalTensorMode, self._decompose, lib=self._lib
        )
        if torch_names.KERNELS_OF is None:  # an old torch: nothing is traced into
            self._traceable = False
        else:
            torch_names.KERNELS_OF[self.name] = [_Uncacheable()]

    def _before_write(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        for name, tensor in self.body.given(args, kwargs):
            if name in self.body.written:
                increment_version(tensor)
        return self.overload.redispatch(keys & torch_names.AFTER_VERSIONS, *args, **kwargs)


class _Uncacheable:
    """In place of the kernels of an operator, where AOTAutograd looks for what its cache on disk depends on.

    That cache knows a graph by the names of its operators. What the body of one of ours becomes would be
    found there again after the body has changed, so graphs with such operators are not kept. (Inductor's own
    cache knows what the body became, and is not concerned.)
    """

    def __getattr__(self, name: str) -> Any:
        torch_names.bypass_autograd_cache("an operator of pytriton is traced into")


def _operator_named(name: str) -> Operator[..., Any]:
    """For copies and pickles."""
    return _defined[name]


@overload
def op(function: Callable[_P, _R], /) -> Operator[_P, _R]: ...


@overload
def op(
    name: str,
    function: Callable[_P, _R],
    /,
    *,
    mutates_args: Iterable[str] = (),
    gradient: Truth = False,
    scratch_bytes: SupportsIndex | None = None,
) -> Operator[_P, _R]: ...


@overload
def op(
    name: str | None = None,
    /,
    *,
    mutates_args: Iterable[str] = (),
    gradient: Truth = False,
    scratch_bytes: SupportsIndex | None = None,
) -> Callable[[Callable[_P, _R]], Operator[_P, _R]]: ...


@entry
def op(
    name: str | Callable[..., Any] | None = None,
    function: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Iterable[str] = (),
    gradient: Truth = False,
    scratch_bytes: SupportsIndex | None = None,
) -> Any:
    """Make a function around kernels an operator ``namespace::name``; used as a decorator.

    Without a name, the namespace is the function's module with ``_`` for dots, and the name is the function's.
    Annotate its parameters and results with types that ``torch.library.infer_schema`` knows. ``mutates_args`` names
    the arguments that it writes; every run is compared with it (TC541). With ``gradient=True`` its backward is
    derived from its kernels; the body may then only allocate, view, copy and launch. ``scratch_bytes`` is that of
    ``pytriton.gradient``. Defining a name again replaces the operator. Raises LaunchError if the function cannot be
    an operator (TC540).
    """
    if name is None:
        return partial(op, mutates_args=mutates_args, gradient=gradient, scratch_bytes=scratch_bytes)
    mutates_args = option("mutates_args", mutates_args)
    derived, limit = option("gradient", gradient), option("scratch_bytes", scratch_bytes)
    if callable(name) and not isinstance(name, str):
        function = name
        name = f"{function.__module__.replace('.', '_')}::{function.__name__}"
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.partition("::")[0] in _RESERVED:
        raise refusal(
            f"'{name}' is not a valid operator name",
            "TC540",
            "write 'mylib::sin', with a namespace of your own",
        )

    @entry
    def define(given: Callable[_P, _R]) -> Operator[_P, _R]:
        if not callable(given):
            raise refusal(
                f"{name}: {given!r} is not a function", "TC540", "decorate a function with pytriton.op"
            )
        schema = _schema_of(given, name, mutates_args)
        former = _defined.pop(name, None)
        if former is not None:
            former._retire()
        operator = Operator(name, given, schema, derived, limit)
        _defined[name] = operator
        return operator

    return define if function is None else define(function)


def _schema_of(function: Callable[..., Any], name: str, mutates_args: Iterable[str]) -> str:
    """The schema of a function; raises LaunchError (TC540) if it can have none."""
    try:
        schema: str = _library.infer_schema(_quoted(function), mutates_args=mutates_args)
        return schema
    except ValueError as error:
        raise refusal(
            f"{name}: {error}",
            "TC540",
            "annotate parameters and result, as in (x: torch.Tensor) -> torch.Tensor",
        ) from error


def _quoted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with escapes in the defaults of its annotations: torch writes them into schemas as they are."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(default=_UNQUOTED.sub(lambda match: f"\\{ord(match[0]):03o}", parameter.default))
        if isinstance(parameter.default, str)
        else parameter
        for parameter in signature.parameters.values()
    ]
    if parameters == [*signature.parameters.values()]:
        return function
    quoted = FunctionType(
        (lambda: None).__code__, function.__globals__
    )  # only read: its globals and signature
    quoted.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return quoted
