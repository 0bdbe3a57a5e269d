"""The arguments of a call: checked against the declarations, and turned into what a launcher takes.

Types come from the *source*: an ``int`` is 32 bits wide however Python spelled the number, and a pointer has
the declared element type even if only an address was passed. For each parameter one closure is prepared
once; it takes a value and gives ``(launch value, specialization, device)``:

* the launch value is a Python int (pointers: the address), float or bool;
* the *specialization* is all that compiled code may depend on beside the declaration: one of ``PLAIN``, ``BY_16``
  (the number or address is a multiple of 16), ``BY_8`` (of 8, but not of 16) and ``ONE`` (the integer is 1);
* the device is a CUDA index, -1 for the CPU, or None for what lies on no device.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, NoReturn

import numpy
import torch

from pytriton.compat.torch_names import is_functional, is_functorch_wrapped, unwrap_if_dead
from pytriton.errors import counted, short
from pytriton.lang.tree.convert import round_to
from pytriton.lang.tree.types import BFLOAT16, HALF, PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.runtime.errors import refusal

# What may be passed for a parameter, by its declared type: the one table that every check of a call is made from.
#
# The slow path (below) adds the messages, the fast path (``fast_path.py``) puts them into its table,
# and a tracer (``trace/dynamo.py``) guards on the ranges.


@dataclass(frozen=True, slots=True)
class Rule:
    """What one parameter takes.

    ``dtypes`` of a tensor, by name; ``low`` and ``high``: the least and the largest number or address; ``divisor``:
    what the declaration promises it to be a multiple of; ``rounding``: what a floating number goes through first.
    """

    kind: Literal["pointer", "int", "uint", "float", "bool"]
    dtypes: tuple[torch.dtype, ...] = ()
    low: int = 0
    high: int = 0
    divisor: int = 1
    rounding: Callable[[float], float] | None = None


def rule_of(parameter: Parameter) -> Rule:
    """The rule of a parameter's declaration."""
    type_ = parameter.type
    if isinstance(type_, PointerType):
        dtypes = tuple(sorted(_dtypes_of(type_.element), key=str))
        return Rule("pointer", dtypes, 0, (1 << 64) - 1, max(1, parameter.aligned))
    assert isinstance(type_, ScalarType)
    if type_.kind == "float":
        return Rule("float", rounding=_ROUNDINGS.get(type_.word))
    if type_.kind == "bool":
        return Rule("bool")
    # A negative number for an unsigned type is taken as C does.
    low = -(1 << type_.bits - 1)
    high = (1 << type_.bits) - 1 if type_.kind == "uint" else -low - 1
    return Rule(type_.kind, (), low, high, max(1, parameter.multiple_of))


_INTEGERS: Final[Mapping[int, tuple[torch.dtype, ...]]] = {
    8: (torch.int8, torch.uint8, torch.bool),
    16: (torch.int16, torch.uint16),
    32: (torch.int32, torch.uint32),
    64: (torch.int64, torch.uint64),
}


def _dtypes_of(element: ScalarType | PointerType) -> tuple[torch.dtype, ...]:
    """Width and kind must match; signedness need not, and a bool is an 8-bit integer."""
    if isinstance(element, PointerType):
        return _INTEGERS[64]
    return (getattr(torch, element.torch),) if element.is_float else _INTEGERS[max(8, element.bits)]


# Triton's launchers cut the low bits of bfloat16 off.
_ROUNDINGS: Final[Mapping[str, Callable[[float], float]]] = {
    type_.word: partial(round_to, type_=type_) for type_ in (HALF, BFLOAT16)
}


PLAIN: Final = 0
BY_16: Final = 1
ONE: Final = 2
BY_8: Final = 3

DIVISIBLE: Final = tuple(BY_16 if low == 0 else BY_8 if low == 8 else PLAIN for low in range(16))
"""The specialization of an address or integer, by its last four bits; 1 is a specialization of its own."""

CheckedValue = tuple[Any, int, int | None]
Checker = Callable[[Any], CheckedValue]
Bound = tuple[list[Any], tuple[int, ...], int | None]


class Binder:
    """Checks the arguments of one kernel; ``bind`` is the part of a call that runs each time."""

    def __init__(self, kernel: str, parameters: Sequence[Parameter]) -> None:
        self.kernel = kernel
        self.parameters = tuple(parameters)
        self._checkers = tuple(
            _checker(parameter, self.place(position)) for position, parameter in enumerate(self.parameters)
        )
        promised = (
            (at, max(parameter.multiple_of, parameter.aligned))
            for at, parameter in enumerate(self.parameters)
        )
        self._promised = tuple((at, number) for at, number in promised if number > 1)
        self.names = tuple(parameter.name for parameter in self.parameters)
        self.buffers = tuple(param for param in self.parameters if param.buffer)
        # The user gives no arguments for constant buffers, which stand last.
        self.own = Binder(kernel, self.parameters[: -len(self.buffers)]) if self.buffers else self

    def bind(self, arguments: Sequence[Any]) -> Bound:
        """Launch values, specializations, and the one device that the tensors are on (None if there is none).

        Raises LaunchError for whatever is wrong with the arguments.
        """
        if len(arguments) != len(self._checkers):
            self.refuse_count(len(arguments))
        values = []
        specializations = []
        device: int | None = None
        for check, argument in zip(self._checkers, arguments, strict=True):
            value, specialization, where = check(argument)
            values.append(value)
            specializations.append(specialization)
            if where is not None and where != device:
                if device is not None:
                    self._refuse_devices(arguments)
                device = where
        return values, tuple(specializations), device

    def broken(self, values: Sequence[Any]) -> dict[int, int]:
        """Which launch values break a promise, by position, and what they were to be multiples of."""
        return {at: number for at, number in self._promised if values[at] % number}

    def place(self, position: int) -> ArgumentPlace:
        """The parameter at a 0-based position, as messages name it."""
        return ArgumentPlace(self.kernel, position + 1, self.parameters[position])

    def position(self, name: str) -> int | None:
        """The 0-based position of a parameter, by the user's name for it."""
        return self.names.index(name) if name in self.names else None

    def check_bits(self, position: int, tensor: torch.Tensor) -> None:
        """Raise LaunchError if a tensor's memory holds other numbers than its elements."""
        if tensor.is_neg() or tensor.is_conj():
            _refuse_lazy(tensor, self.place(position))

    def refuse_count(self, given: int, grid: Any = None) -> NoReturn:
        """Raise LaunchError for a number of arguments. ``grid``: what may be an argument, taken for the grid."""
        wanted = len(self.parameters)
        declarations = ", ".join(parameter.declaration for parameter in self.parameters)
        message = f"{self.kernel}: it takes {counted(wanted, 'argument')}, not {given}"
        if given == wanted - 1 and isinstance(grid, (int, float, torch.Tensor)):
            shown = f"a {type(grid).__name__}" if isinstance(grid, torch.Tensor) else repr(grid)
            message += f"\nnote: without grid= the last argument is the grid: {shown} was taken for it"
        help_ = f"call it as {self.kernel}({declarations}), with grid= or the grid as last argument"
        raise refusal(message, "TC501", help_)

    def _refuse_devices(self, arguments: Sequence[Any]) -> NoReturn:
        seen: tuple[ArgumentPlace, torch.device] | None = None
        for position, (parameter, argument) in enumerate(zip(self.parameters, arguments, strict=True)):
            if not isinstance(parameter.type, PointerType) or not isinstance(argument, torch.Tensor):
                continue
            place = self.place(position)
            if seen is None and argument.numel():
                seen = place, argument.device
            elif seen is not None and argument.numel() and argument.device != seen[1]:
                other = f"argument {seen[0].position} '{seen[0].parameter.name}' is on {seen[1]}"
                raise refusal(
                    f"{place} is on {argument.device}, but {other}",
                    "TC503",
                    "move all tensors of a call to one device",
                )
        raise AssertionError("devices differed a moment ago")


class ArgumentPlace:
    """One parameter of one kernel, as messages name it; its ``position`` counts from 1."""

    def __init__(self, kernel: str, position: int, parameter: Parameter) -> None:
        self.kernel, self.position, self.parameter = kernel, position, parameter

    def __str__(self) -> str:
        name, declaration = self.parameter.name, self.parameter.declaration
        return f"{self.kernel}: argument {self.position} '{name}' ({declaration})"

    def refuse(self, what: str, code: str, help: str | None = None) -> NoReturn:
        raise refusal(f"{self} {what}", code, help)


def _checker(parameter: Parameter, place: ArgumentPlace) -> Checker:
    match parameter.type:
        case PointerType():
            return _pointer(parameter, place)
        case ScalarType(kind="float"):
            return _floating(parameter, place)
        case ScalarType(kind="bool"):
            return lambda value: (bool(_number(value, place)), PLAIN, None)
        case _:
            return _integer(parameter, place)


# Pointers: tensors, addresses, and what is absent.

_ABSENT: Final[CheckedValue] = (0, BY_16, None)


def _pointer(parameter: Parameter, place: ArgumentPlace) -> Checker:
    assert isinstance(parameter.type, PointerType)
    accepted = frozenset(rule_of(parameter).dtypes)

    def check(value: Any) -> CheckedValue:
        if isinstance(value, torch.Tensor):
            if not value.numel():
                return _ABSENT
            if value.is_neg() or value.is_conj():
                _refuse_lazy(value, place)
            if value.dtype not in accepted:
                _refuse_dtype(value, parameter, place)
            address = _address_of(value, place)
            where: int | None = value.get_device()
        elif value is None:
            return _ABSENT
        else:
            address, where = _plain_address(value, place), None
        return address, DIVISIBLE[address & 15], where

    return check


def _address_of(tensor: torch.Tensor, place: ArgumentPlace) -> int:
    try:
        address = tensor.data_ptr()
    except RuntimeError:
        address = 0
    if not address or not (tensor.is_cuda or tensor.is_cpu):
        alive = unwrap_if_dead(tensor)
        if alive is not tensor:
            return _address_of(alive, place)
        if tensor.layout != torch.strided:
            layout = str(tensor.layout).removeprefix("torch.")
            place.refuse(
                f"is a {layout} tensor", "TC510", "pass its .to_dense(), or its .values() and indices"
            )
        if is_functorch_wrapped(tensor) or is_functional(tensor):
            place.refuse(
                "is a tensor of a transform of torch.func, which a kernel cannot read",
                "TC510",
                "make the function around the launch an operator with pytriton.op",
            )
        place.refuse(
            f"is a tensor on {tensor.device} whose memory a kernel cannot reach",
            "TC510",
            "pass a dense CUDA or CPU tensor",
        )
    return address


def _plain_address(value: object, place: ArgumentPlace) -> int:
    if isinstance(value, (int, numpy.integer)) and not isinstance(value, bool):
        if 0 <= value < 1 << 64:
            return int(value)
        place.refuse(f"is {value}, which is not an address", "TC505", "pass x.data_ptr() or x")
    place.refuse(
        f"is {_shown(value)}, not a tensor, address or None",
        "TC505",
        "pass a tensor, its data_ptr(), or None for an absent one",
    )


def _refuse_lazy(tensor: torch.Tensor, place: ArgumentPlace) -> NoReturn:
    """Its memory holds other numbers than its elements."""
    bit, cure = ("negative", "neg") if tensor.is_neg() else ("conjugate", "conj")
    place.refuse(f"is a tensor with torch's lazy {bit} bit", "TC525", f"pass it as .resolve_{cure}()")


def _refuse_dtype(tensor: torch.Tensor, parameter: Parameter, place: ArgumentPlace) -> NoReturn:
    type_ = parameter.type
    assert isinstance(type_, PointerType)
    element = type_.element
    wanted = "int64" if isinstance(element, PointerType) else element.torch
    given = str(tensor.dtype).removeprefix("torch.")
    cure = f"pass it as .to(torch.{wanted})"
    if parameter.written:  # a copy would be filled and thrown away
        cure = f"the kernel writes it: allocate it with dtype=torch.{wanted}"
    place.refuse(
        f"is a tensor of {given}, but {type_} points to {wanted}",
        "TC502",
        f"{cure}, or change the type in the source",
    )


# Scalars: Python and NumPy numbers, and tensors without axes.


def _integer(parameter: Parameter, place: ArgumentPlace) -> Checker:
    type_ = parameter.type
    assert isinstance(type_, ScalarType)
    rule = rule_of(parameter)
    low, high = rule.low, rule.high
    modulus = 1 << type_.bits

    def check(value: Any) -> CheckedValue:
        if type(value) is not int:
            value = _whole(_number(value, place), place)
        if not low <= value <= high:
            place.refuse(
                f"is {value}, which does not fit: {type_} holds {low if type_.signed else 0} to {high}",
                "TC506",
                "declare the parameter long in the source" if type_.bits < 64 else None,
            )
        if value < 0 and type_.kind == "uint":
            value += modulus
        specialization = ONE if value == 1 else DIVISIBLE[value & 15]
        return value, specialization, None

    return check


def _floating(parameter: Parameter, place: ArgumentPlace) -> Checker:
    rounded = rule_of(parameter).rounding

    def check(value: Any) -> CheckedValue:
        if type(value) is not float:
            number = _number(value, place)
            try:
                value = float(number)
            except OverflowError:
                place.refuse(f"is {_shown(value)}, which does not fit in a {parameter.type}", "TC506")
        return (rounded(value) if rounded else value), PLAIN, None

    return check


def _number(value: object, place: ArgumentPlace) -> int | float:
    """A number of any make as a Python int, bool or float."""
    if isinstance(value, (int, float)):
        return value
    if (isinstance(value, (torch.Tensor, numpy.ndarray)) and value.ndim == 0) or isinstance(
        value, numpy.generic
    ):
        value = value.item()
    elif isinstance(value, (torch.SymBool, torch.SymInt)):
        value = int(value)
    if isinstance(value, (int, float)):
        return value
    if not isinstance(value, (torch.Tensor, numpy.ndarray)):
        if hasattr(value, "__index__"):
            return operator.index(value)
        if isinstance(value, (numbers.Real, torch.SymFloat)):
            real: Any = value
            rounded = float(real)  # beyond 2^53 also an integer
            return int(real) if rounded.is_integer() and real % 1 == 0 else rounded
    place.refuse(f"is {_shown(value)}, which is not a number", "TC504", "pass a Python number, or x.item()")


def _whole(value: int | float, place: ArgumentPlace) -> int:
    if isinstance(value, int):
        return int(value)
    if not math.isfinite(value):
        place.refuse(f"is {value}, which is not an integer", "TC506")
    if not value.is_integer():
        place.refuse(f"is {value}, which has a fraction", "TC507", "pass an integer, for example by a // b")
    return int(value)


def _shown(value: object) -> str:
    """A value as messages show it, short."""
    if isinstance(value, (torch.Tensor, numpy.ndarray)):
        kind = "tensor" if isinstance(value, torch.Tensor) else "NumPy array"
        return f"a {kind} of shape {tuple(value.shape)}"
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return short(text)


# Promises that a launch breaks.
#
# ``__multipleof(n)`` and ``__aligned(n)`` are promises of the author that old programs often break, and still
# computed the right result (docs/language.md). So a launch that breaks one runs the translation without it
# (``Plan.without``), and the kernel object warns of each parameter once; or, if it is strict, refuses the launch.


def broken_promise(parameter: Parameter, number: int, value: int | None) -> tuple[str, str, str]:
    """The message for an argument that is not a multiple of ``number``, its code, and the cure."""
    if isinstance(parameter.type, PointerType):
        where = "is at an address" if value is None else f"is at address {value:#x}"
        what, code, attribute = f"{where}, which is not a multiple of {number}", "TC509", "__aligned"
        cure = f"pass a tensor that starts at a multiple of {number} bytes"
    else:
        where = "is" if value is None else f"is {value}, which is"
        what, code, attribute = f"{where} not a multiple of {number}", "TC508", "__multipleof"
        cure = f"pass a multiple of {number}"
    return what, code, f"{cure}, or drop {attribute}({number}) from the source"


# Tensors whose elements are not contiguous in memory, passed by a call without their strides.
#
# A kernel gets addresses. Of the strides of a tensor it knows what the call passes as integers and defines. So a
# call with ``x[::2]``, an expanded tensor, or a transposed one beside one that is not, and none of its strides
# among the numbers, most likely treats its elements as contiguous.


def unexplained(arguments: Sequence[Any], numbers: Set[int]) -> int | None:
    """The position of the first tensor that ``numbers`` do not account for; None if there is none.

    It is not dense, or has other strides than another tensor of its shape; and none of them is a number. A stride
    of 0 counts only where there is no other, and one of 1 never, as both are numbers for many reasons.
    """
    tensors = [(at, tensor) for at, tensor in enumerate(arguments) if isinstance(tensor, torch.Tensor)]
    doubtful = ((at, tensor) for at, tensor in tensors if not tensor.is_contiguous())
    for at, tensor in doubtful:
        layout = _layout(tensor)
        others = (_layout(other) for _, other in tensors if other.shape == tensor.shape)
        steps = {stride for _, stride in layout if stride > 1} or {0}
        if steps.isdisjoint(numbers) and (not _is_dense(layout) or any(layout != other for other in others)):
            return at
    return None


def tell_of_strides(
    place: ArgumentPlace, tensor: torch.Tensor, tell: Callable[[str, str, str], None]
) -> None:
    """The warning for it (TC527). A copy of what is written would be filled and thrown away."""
    cure = "pass it as .contiguous(), or pass its strides"
    if place.parameter.written:
        cure = "pass its strides, or let the kernel write a contiguous tensor and copy_ it here afterwards"
    tell(
        f"{place} has shape {tuple(tensor.shape)} and strides {tensor.stride()}, of which the call passes none: "
        "elements are addressed as they lie in memory",
        "TC527",
        cure,
    )


def _layout(tensor: torch.Tensor) -> tuple[tuple[int, int], ...]:
    """Size and stride of each axis along which there is a step to take."""
    return tuple(axis for axis in zip(tensor.shape, tensor.stride(), strict=True) if axis[0] > 1)


def _is_dense(layout: tuple[tuple[int, int], ...]) -> bool:
    """Whether the elements fill a stretch of memory, in whatever order of the axes."""
    wanted = 1
    for size, stride in sorted(layout, key=lambda axis: axis[1]):
        if stride != wanted:
            return False
        wanted *= size
    return True
