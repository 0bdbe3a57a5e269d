"""What the body of an operator does to its arguments beside launches.

Torch counts the versions of a tensor, so a real run compares those before and after: an in-place function of torch
shows. Fake tensors and those of inference mode keep none; there ``Writes`` looks at the schema of each function of
torch. A tensor without memory has no address, and a body that asked for one would take another path than with real
tensors: ``NoAddresses`` refuses that.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import torch
from torch.overrides import TorchFunctionMode

from pytriton.compat.torch_names import FakeTensor, FunctionalTensor, TorchDispatchMode, schema_of
from pytriton.runtime.errors import refusal

_Tensor: Final[Any] = torch.Tensor
_ADDRESSES: Final = frozenset(
    {_Tensor.data_ptr, _Tensor.__dlpack__, _Tensor.__cuda_array_interface__.__get__}
)
_STORAGES: Final = frozenset({_Tensor.untyped_storage, _Tensor.storage})


class Writes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Appends each tensor that a function of torch writes to ``written``."""

    def __init__(self, written: list[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.written = written

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        schema = schema_of(func)
        if schema.is_mutable:
            for at, argument in enumerate(schema.arguments):
                if argument.is_write:
                    value = args[at] if at < len(args) else given.get(argument.name)
                    self.written += value if isinstance(value, (list, tuple)) else [value]
        return func(*args, **given)


class NoAddresses(TorchFunctionMode):
    """Refuses to give the address of a tensor without memory, raising LaunchError (TC543)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _ADDRESSES and _has_no_memory(args[0]):
            self.refuse()
        result = func(*args, **(kwargs or {}))
        return _Storage(result, self) if func in _STORAGES and _has_no_memory(args[0]) else result

    def refuse(self) -> NoReturn:
        raise refusal(
            f"{self.name}: its body requests the address of a tensor that has no memory",
            "TC543",
            "pass the tensor to the kernel, or give the operator a fake kernel by register_fake",
        )


class _Storage:
    """The storage of a tensor without memory: everything but an address."""

    def __init__(self, storage: Any, mode: NoAddresses) -> None:
        self._storage, self._mode = storage, mode

    def __getattr__(self, name: str) -> Any:
        if name == "data_ptr":
            self._mode.refuse()
        return getattr(self._storage, name)


def _has_no_memory(tensor: Any) -> bool:
    return isinstance(tensor, (FakeTensor, FunctionalTensor)) or bool(tensor.is_meta)
