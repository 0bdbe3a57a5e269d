"""The short way of an eager operator call: when the dispatcher would do nothing but find the body.

The dispatcher looks at the keys of the tensors and at the state of the thread. If the tensors are dense, on one
device and of no subclass, no gradient is asked for, and no mode, transform, tracer or profiler is active, the
call ends in the kernel of that device. This file looks at the same things and calls that kernel; wherever it is
not sure it calls the dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

from pytriton.operators.body import Body

__all__ = ["Shortcut"]

_C: Final[Any] = torch._C  # parts of it have no stubs
_keys: Final = _C._dispatch_keys
# What may be active in a thread: each gives a number or an object, none of them true if nothing is.
_DISTURBANCES: Final = (
    _C._len_torch_dispatch_stack,
    _C._len_torch_function_stack,
    _C._functorch.peek_interpreter_stack,
    _C._get_tracing_state,
    _C._autograd._profiler_enabled,
)


def _bits(*names: str) -> int:
    """The bits of a dispatch key set."""
    keys = _C.DispatchKeySet(getattr(_C.DispatchKey, names[0]))
    for name in names[1:]:
        keys = keys | _C.DispatchKeySet(getattr(_C.DispatchKey, name))
    return int(keys.raw_repr())


_TYPES: Final = {"int": int, "float": float, "bool": bool, "str": str}


class Shortcut:
    """The kernels of one operator by the bits of its tensors' keys."""

    def __init__(self, schema: Any, body: Body) -> None:
        self._body = body
        self._kernels: dict[int, Callable[..., Any]] = {}
        # What each argument must be: a tensor (None), or a number of exactly this type, so that nothing
        # needs the conversions of the dispatcher.
        self._types = tuple(_type_of(str(one.type)) for one in schema.arguments)
        self._open = not any(one.kwarg_only for one in schema.arguments) and object not in self._types
        for device_type in ("cpu", "cuda"):
            self.add(device_type, body.launch)

    def add(self, device_type: str, kernel: Callable[..., Any]) -> None:
        """Note what runs on a device."""
        key = _C._dispatch_key_for_device(device_type)
        if not self._open or key not in ("CPU", "CUDA"):
            return
        self._kernels[_bits(key, f"Autocast{key}")] = kernel  # a tensor of inference mode
        marked = self._body.written_positions

        def noting(*args: Any) -> Any:
            for at in marked:
                increment_version(args[at])  # autograd keeps versions of tensors
            return kernel(*args)

        keys = _bits(key, f"Autocast{key}", "ADInplaceOrView", f"Autograd{key}")
        self._kernels[keys] = noting if marked else kernel

    def close(self) -> None:
        """From now on all calls go through the dispatcher."""
        self._kernels.clear()
        self._open = False

    def caller(self, overload: Any) -> Callable[..., Any]:
        """The function that calls the operator, by the short way where it can. Every line of it counts."""
        types, tensors, kernels = self._types, len(self._types), self._kernels
        only_tensors = not any(types)
        tracing, graph, dense = torch.compiler.is_dynamo_compiling, torch.is_grad_enabled, torch.Tensor
        modes, function_modes, transforms, traced, profiled = _DISTURBANCES
        keys = _keys

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if tracing() or kwargs or len(args) != tensors or forward_ad._current_level >= 0:
                return overload(*args, **kwargs)
            if modes() or function_modes() or transforms() or traced() or profiled():
                return overload(*args)
            given = args if only_tensors else _tensors(args, types)
            found = None
            wanted = graph()
            for one in given:
                if not isinstance(one, dense) or (wanted and one.requires_grad):
                    return overload(*args)
                kernel = kernels.get(keys(one).raw_repr())
                if kernel is None or (found is not None and kernel is not found):
                    return overload(*args)
                found = kernel
            return overload(*args) if found is None else found(*args)

        return call


def _tensors(args: tuple[Any, ...], types: tuple[type | None, ...]) -> list[Any]:
    """The arguments where tensors belong; none at all if some other argument needs a conversion."""
    given = []
    for argument, type_ in zip(args, types, strict=True):
        if type_ is None:
            given.append(argument)
        elif argument.__class__ is not type_:
            return []
    return given


def _type_of(shown: str) -> type | None:
    """The Python type of an argument: None for a tensor, ``object`` for what the dispatcher must convert."""
    return None if shown == "Tensor" else _TYPES.get(shown, object)
