"""The fast path of a call: straight-line Python that is generated for a kernel's parameters.

Input: the parameters, and the *form* of a call (which pointers are tensors, addresses, or absent). Output: a
function of the call's arguments and grid, made from ``templates/launcher.py.j2``, that does once and inline what
the slow path (``Plan``) does in closures and loops: it tests types, ranges, promises and devices, reads addresses,
and makes a *key* of all that compiled code may depend on:

    (device, a specialization for each tensor, address and integer, the values that call for new tuning)

``records`` maps a key to what the launch needs: the options that a grid sees, and Triton's own C function with the
handles that it takes. Invariants:

* A record exists only for a key that the slow path has served, with the same specializations, on the same device,
  by a choice that is final. So whatever the tests and the key do not prove takes the slow path, and with it every
  error message.
* Nothing of a call is kept, no tensor and no address: memory that was freed and used again is simply read again.
* The grid is asked once. If its answer is unusual, the slow path gets the answer, not the callable.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from types import CodeType, NoneType
from typing import Any, Final, Literal, assert_never

import torch
from triton import knobs
from triton.runtime.driver import driver

from pytriton.emit.names import identifier
from pytriton.emit.templates import render
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.runtime.gate import check_launcher
from pytriton.runtime.launch.arguments import DIVISIBLE
from pytriton.runtime.launch.device import (
    LARGEST_GRID,
    MOST_PROGRAMS,
    Direct,
    Style,
    allocate,
    release,
    signed_bytes,
)
from pytriton.runtime.launch.fast_path_c import Row, native_launcher, packed_dtypes
from pytriton.runtime.launch.gradients import increment_version
from pytriton.runtime.launch.rules import rule_of

__all__ = ["Call", "Form", "Launcher", "Shape", "form_of", "launcher_text"]

Kind = Literal["tensor", "address", "absent"]
Form = tuple[Kind, ...]  # one for each pointer parameter
Call = Callable[[Sequence[Any], Any], None]

_KINDS: Final[Mapping[type, Kind]] = {
    torch.Tensor: "tensor",
    torch.nn.Parameter: "tensor",
    int: "address",
    NoneType: "absent",
}


def form_of(parameters: Sequence[Parameter], arguments: Sequence[Any]) -> Form | None:
    """The form of a call; None for one that has no fast path, or a wrong number of arguments."""
    if len(parameters) != len(arguments):
        return None
    pairs = zip(parameters, arguments, strict=True)
    kinds = [
        _KINDS.get(type(argument)) for parameter, argument in pairs if isinstance(parameter.type, PointerType)
    ]
    form = tuple(kind for kind in kinds if kind is not None)
    return form if len(form) == len(kinds) else None


@dataclass(frozen=True, slots=True)
class Shape:
    """All that a launcher's text depends on.

    ``tuned`` are the positions whose values call for new tuning; ``device`` is where a call without tensors runs,
    None for the current one; ``sole`` is the only GPU there is, None where there are more; ``style`` and ``extra``
    are those of ``Direct``. ``gradients``: whether it is asked if some tensor wants one; ``written`` are the
    positions whose tensors count as changed, and may not want one.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    form: Form
    tuned: tuple[int, ...]
    device: int | None
    style: Style
    extra: int
    sole: int | None = None
    gradients: bool = True
    written: tuple[int, ...] = ()


class Launcher:
    """The generated function for one form of calls: ``call(arguments, grid)``, whose text is ``text``.

    ``missed`` is the slow path. It takes the arguments, the grid, and the key if that alone was not known.
    """

    def __init__(self, shape: Shape, missed: Callable[..., None]) -> None:
        self.text = launcher_text(shape)
        self._shape = shape
        self._records: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._keyed = [argument.position for argument in _arguments(shape) if argument.key]
        namespace = {**_surroundings(shape), "records": self._records, "missed": missed}
        native = _native(shape, namespace)
        self._is_native = native is not None
        self.call: Call = native or _python(shape, self.text, namespace)

    def keep(
        self, key: tuple[Any, ...], specializations: Sequence[int], options: Any, direct: Direct
    ) -> None:
        """A record for a key that the slow path has served with these specializations.

        Nothing is kept if the key differs from the specializations, or if the C function is of another style.
        """
        keyed = key[1 : 1 + len(self._keyed)]
        if direct.style == self._shape.style and keyed == tuple(specializations[at] for at in self._keyed):
            extra = self._shape.extra
            if self._is_native:
                self._records[key] = (options, direct.bare(extra), *direct.handles, direct.needs)
            else:
                self._records[key] = (options, direct.taking(extra), *direct.handles)


def _native(shape: Shape, surroundings: Mapping[str, Any]) -> Call | None:
    arguments = _arguments(shape)
    rows = [argument.row for argument in arguments]
    details = [argument.detail for argument in arguments]
    devices = shape.device, shape.sole
    return native_launcher(
        *(rows, details, shape.tuned, _changed(shape, arguments), shape.gradients),
        *(shape.style == "packed", shape.extra, devices, surroundings),
    )


def _changed(shape: Shape, arguments: Sequence[_Argument]) -> list[int]:
    """The positions of the tensors that it writes."""
    return [at for at in shape.written if arguments[at].dtypes]


def _python(shape: Shape, text: str, surroundings: dict[str, Any]) -> Call:
    exec(_compiled(text, shape.kernel), surroundings)
    launcher: Call = surroundings[f"launch_{shape.kernel}"]
    return launcher


def _surroundings(shape: Shape) -> dict[str, Any]:
    """The names that a generated launcher finds, beside what it imports."""
    current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
    return {
        "allocate": allocate,
        "current_device": current_device,
        "current_stream": driver.active.get_current_stream,
        "divisible": DIVISIBLE,
        "grad_enabled": torch.is_grad_enabled,
        "increment_version": increment_version,
        "release": release,
        "hooks": knobs.runtime,
        "tensors": frozenset({torch.Tensor, torch.nn.Parameter}),
        "numbers": frozenset({int, float}),
        "sequences": frozenset({tuple, list}),
        **{
            _rounding(parameter.type): rule_of(parameter).rounding
            for parameter in shape.parameters
            if rule_of(parameter).rounding
        },
    }


def _rounding(type_: ScalarType | PointerType) -> str:
    """The name of what rounds to ``half`` or ``bfloat16``."""
    return f"to_{type_}"


_numbers: Final = count(1)


@cache
def _compiled(text: str, kernel: str) -> CodeType:
    """The code of a text, once the gate has let it pass. Tracebacks and debuggers see its lines."""
    path = f"<pytriton launcher {next(_numbers)}: {kernel}>"
    check_launcher(text, path)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return compile(text, path, "exec")


# The text.

_OURS: Final = frozenset(
    "annotations arguments axes callable current_device current_stream device divisible float function "
    "grad_enabled gradient grid grid_x grid_y grid_z hooks increment_version int key launch len metadata missed "
    "numbers options record records sequences signature sizes strided tensors type".split()
)
_HANDLES: Final[Mapping[Style, tuple[str, ...]]] = {
    "flat": ("function", "metadata"),
    "packed": ("function", "metadata", "annotations", "signature"),
}


@dataclass(frozen=True, slots=True)
class _Argument:
    """What the text says about one parameter; lines and conditions that it does not need are empty.

    ``row`` and ``detail`` say the same to the C code.
    """

    position: int
    name: str
    kind: str  # what its Python type must be
    value: str  # what is launched
    reads: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    key: str = ""  # its entry of the key; empty if all that pass the checks are alike
    dtypes: tuple[str, ...] = ()
    row: Row = ("n", False, False, 0, 0, 1, 0)
    detail: Any = None


def launcher_text(shape: Shape) -> str:
    """The module of one launcher."""
    arguments = _arguments(shape)
    launched = [argument.value for argument in arguments]
    checks = [check for argument in arguments for check in argument.checks]
    tuned = [arguments[at].value for at in shape.tuned]
    tensors = [argument.name for argument in arguments if argument.dtypes]
    device = "current_device()" if shape.sole is None else str(shape.sole)
    return render(
        "launcher.py.j2",
        kernel=shape.kernel,
        name=f"launch_{shape.kernel}",
        form=_shown(shape),
        imported=sorted({dtype for argument in arguments for dtype in argument.dtypes}),
        parameters=[argument.name for argument in arguments],
        kinds=[argument.kind for argument in arguments] or ["True"],
        reads=[f"device = {device}", *(line for argument in arguments for line in argument.reads)],
        checks=[*checks, *_on_device(shape, arguments)] or ["True"],
        tensors=tensors,
        gradients=shape.gradients and tensors,
        changed=[arguments[at].name for at in _changed(shape, arguments)],
        key=[
            "device",
            *(argument.key for argument in arguments if argument.key),
            *tuned,
        ],
        record=["options", "launch", *_HANDLES[shape.style]],
        largest=LARGEST_GRID,
        most_programs=MOST_PROGRAMS,
        launched=_launched(shape, launched),
    )


def _shown(shape: Shape) -> str:
    pointers = [parameter.name for parameter in shape.parameters if isinstance(parameter.type, PointerType)]
    shown = [f"{name} is {_WORDS[kind]}" for name, kind in zip(pointers, shape.form, strict=True)]
    return ", ".join(shown) or "numbers only"


_WORDS: Final[Mapping[Kind, str]] = {"tensor": "a tensor", "address": "an address", "absent": "None"}


def _on_device(shape: Shape, arguments: Sequence[_Argument]) -> list[str]:
    """A call whose tensors are all empty runs where the constructor said; no other launcher knows that place."""
    if shape.device is None:
        return []
    tensors = [argument.value for argument in arguments if argument.dtypes]
    conditions = [f"device == {shape.device}", *tensors]
    return [f"({' or '.join(conditions)})" if tensors else conditions[0]]


def _launched(shape: Shape, values: Sequence[str]) -> list[str]:
    """The arguments of Triton's C function, in the order that ``device.py`` describes."""
    place = ["grid_x", "grid_y", "grid_z", "current_stream(device)", "function", "False", "False"]
    match shape.style:
        case "flat":
            return [*place, *["None"] * 2, "metadata", *["None"] * 3, *values, *["None"] * shape.extra]
        case "packed":
            packed = f"({', '.join(values)}{',' if len(values) == 1 else ''})"
            return [*place, "metadata", *["None"] * 5, "annotations", "signature", packed]
    assert_never(shape.style)


def _arguments(shape: Shape) -> list[_Argument]:
    taken: set[str] = set(_OURS)
    unsigned = signed_bytes(shape.parameters)
    form = iter(shape.form)
    described: list[_Argument] = []
    for position, parameter in enumerate(shape.parameters):
        name = identifier(parameter.identifier, frozenset(taken))
        taken.add(name)
        if isinstance(parameter.type, PointerType):
            address = identifier(f"{name}_at", frozenset(taken))
            taken.add(address)
            described.append(_pointer(position, parameter, name, address, next(form)))
        else:
            described.append(_scalar(position, parameter, name, position in unsigned))
    return described


def _pointer(position: int, parameter: Parameter, name: str, address: str, kind: Kind) -> _Argument:
    assert isinstance(parameter.type, PointerType)
    if kind == "absent":
        return _Argument(position, name, f"{name} is None", "0")
    rule, where = rule_of(parameter), address if kind == "tensor" else name
    promise = [f"not {where} % {rule.divisor}"] if rule.divisor > 1 else []
    key = "" if rule.divisor % 16 == 0 else f"divisible[{where} & 15]"
    row: Row = (kind[0], bool(key), False, 0, rule.high, rule.divisor, packed_dtypes(rule.dtypes))
    if kind == "address":
        checks = (f"0 <= {name} <= {rule.high}", *promise)
        return _Argument(position, name, f"type({name}) is int", name, (), checks, key, (), row)
    dtypes = [str(accepted).removeprefix("torch.") for accepted in rule.dtypes]
    dtype = f"{name}.dtype is {dtypes[0]}" if len(dtypes) == 1 else f"{name}.dtype in ({', '.join(dtypes)})"
    there = f"{dtype} and {name}.get_device() == device and not {name}.is_neg()"
    return _Argument(
        position,
        name,
        f"type({name}) in tensors",
        address,
        (f"{address} = {name}.data_ptr()",),
        (f"({there} if {address} else not {name}.numel())", *promise),
        key,
        tuple(dtypes),
        row,
    )


def _scalar(position: int, parameter: Parameter, name: str, unsigned: bool) -> _Argument:
    rule = rule_of(parameter)
    if rule.kind == "bool":
        row: Row = ("b", False, False, 0, 0, 1, 0)
        return _Argument(position, name, f"type({name}) is bool", name, row=row)
    if rule.kind == "float":
        rounding, row = rule.rounding, ("f", False, False, 0, 0, 1, 0)
        line = (
            f"{name} = {_rounding(parameter.type)}(float({name}))" if rounding else f"{name} = float({name})"
        )
        kind = f"type({name}) in numbers"
        return _Argument(position, name, kind, name, (line,), row=row, detail=rounding)
    low = rule.low if rule.kind == "int" else 0
    checks, key = [f"{low} <= {name} <= {rule.high}"], f"divisible[{name} & 15]"
    if rule.divisor > 1:
        checks.append(f"not {name} % {rule.divisor}")
        key = "" if rule.divisor % 16 == 0 else key
    else:
        key = f"2 if {name} == 1 else {key}"
    row = (rule.kind[0], bool(key), unsigned, low, rule.high, rule.divisor, 0)
    value = f"{name} & 255" if unsigned else name
    return _Argument(position, name, f"type({name}) is int", value, (), tuple(checks), key, (), row)
