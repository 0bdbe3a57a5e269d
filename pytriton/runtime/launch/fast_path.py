"""The fast path of a call: a launcher in C for a kernel's parameters.

Input: the parameters, and the *form* of a call (which pointers are tensors, addresses, or absent). Output: a
function of the call's arguments and grid that does in C what the slow path (``Plan``) does in Python: it tests
types, ranges, promises and devices, reads addresses, and makes a *key* of all that compiled code may depend on:

    (device, a specialization for each tensor, address and integer, the values that call for new tuning)

``records`` maps a key to what the launch needs: the options that a grid sees, and Triton's own C function with the
handles that it takes. One small module launches all kernels (``templates/launcher.c.j2``), each from a table of its
parameters. Triton's own builder makes it on first use and keeps it in Triton's cache. Without a C compiler, or with
torch below 2.10, there is no launcher, and all calls take the slow path. Invariants:

* A record exists only for a key that the slow path has launched, with the same specializations, on the same device,
  by a choice that is final. So whatever the tests and the key do not prove takes the slow path, and with it every
  error message.
* Nothing of a call is kept, no tensor and no address: memory that was freed and used again is simply read again.
* The grid is asked once. If its answer is unusual, the slow path gets the answer, not the callable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import Any, Final, Generic, Literal, TypeVar

import torch

from pytriton.compat.torch_names import allocate, device_getter, increment_versions, release
from pytriton.compat.triton_names import build, driver, knobs
from pytriton.emit.templates import render
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Parameter
from pytriton.runtime.launch.arguments import rule_of
from pytriton.runtime.launch.device import Direct, Style, signed_bytes

ArgumentKind = Literal["tensor", "address", "absent"]
Form = tuple[ArgumentKind, ...]  # one for each pointer parameter
LauncherCall = Callable[[Sequence[Any], Any], None]

# kind, keyed, byte, low, high, divisor, dtypes: as the C structure ``Parameter`` describes them
Row = tuple[str, bool, bool, int, int, int, int]

_KINDS: Final[Mapping[type, ArgumentKind]] = {
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
    """All that a launcher depends on.

    ``tuned`` are the positions whose values call for new tuning; ``device`` is where a call without tensors runs,
    None for the current one; ``sole`` is the only GPU there is, None where there are more; ``style`` and ``extra``
    are those of ``Direct``. ``gradients``: whether it is asked if some tensor wants one; ``written`` are the
    positions whose tensors count as changed, and may not want one.
    """

    parameters: tuple[Parameter, ...]
    form: Form
    tuned: tuple[int, ...]
    device: int | None
    style: Style
    extra: int
    sole: int | None = None
    gradients: bool = True
    written: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Launcher:
    """``call(arguments, grid)`` launches calls of one form; ``keyed`` are the positions in its keys."""

    shape: Shape
    call: LauncherCall
    keyed: tuple[int, ...]
    records: dict[tuple[Any, ...], tuple[Any, ...]] = field(repr=False)

    def keep(
        self, key: tuple[Any, ...], specializations: Sequence[int], options: Any, direct: Direct
    ) -> None:
        """A record for a key that the slow path has launched with these specializations.

        Nothing is kept if the key differs from the specializations, or if the C function is of another style.
        """
        specialized = tuple(specializations[at] for at in self.keyed)
        if direct.style == self.shape.style and key[1 : 1 + len(self.keyed)] == specialized:
            launch = direct.bare(self.shape.extra)
            self.records[key] = (options, launch, *direct.handles, direct.needs)


def launcher_for(shape: Shape, missed: Callable[..., None]) -> Launcher | None:
    """A launcher in C; None where there can be none.

    ``missed`` is the slow path. It takes the arguments, the grid, and the key if that alone was not known.
    """
    module = _module()
    if module is None:
        return None
    rows = _rows(shape)
    records: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    changed = tuple(at for at in shape.written if rows[at][0] == "t")
    called = (
        device_getter(),
        driver.active.get_current_stream,
        *(torch.is_grad_enabled, increment_versions, allocate, release),
    )
    details = tuple(rule_of(parameter).rounding for parameter in shape.parameters)
    objects = (details, records, missed, knobs.runtime, shape.sole, *called)
    try:
        call = module.make(
            *(rows, shape.tuned, changed, shape.gradients, shape.style == "packed", shape.extra),
            *(shape.device, (*objects, torch.Tensor, torch.nn.Parameter, [None])),
        )
    except ValueError:  # more parameters than it has room for, or a torch that lacks what it calls
        return None
    return Launcher(shape, call, tuple(at for at, row in enumerate(rows) if row[1]), records)


def _rows(shape: Shape) -> tuple[Row, ...]:
    form, unsigned = iter(shape.form), signed_bytes(shape.parameters)
    return tuple(
        _row(parameter, next(form) if isinstance(parameter.type, PointerType) else None, at in unsigned)
        for at, parameter in enumerate(shape.parameters)
    )


def _row(parameter: Parameter, kind: ArgumentKind | None, unsigned: bool) -> Row:
    """What may be passed for a parameter; ``kind`` is that of a pointer."""
    rule = rule_of(parameter)
    keyed = rule.divisor % 16 != 0
    if kind == "absent":
        return "n", False, False, 0, 0, 1, 0
    if kind is not None:
        return kind[0], keyed, False, 0, rule.high, rule.divisor, _packed(rule.dtypes)
    if rule.kind in ("bool", "float"):
        return rule.kind[0], False, False, 0, 0, 1, 0
    return rule.kind[0], keyed, unsigned, rule.low if rule.kind == "int" else 0, rule.high, rule.divisor, 0


_DLPACK_CODES: Final[Mapping[torch.dtype, int]] = {
    **dict.fromkeys((torch.int8, torch.int16, torch.int32, torch.int64), 0),
    **dict.fromkeys((torch.uint8, torch.uint16, torch.uint32, torch.uint64), 1),
    **dict.fromkeys((torch.float16, torch.float32, torch.float64), 2),
    torch.bfloat16: 4,
    torch.bool: 6,
}


def _packed(dtypes: Iterable[torch.dtype]) -> int:
    """Up to four dtypes as the C code compares them: 8 bits each, DLPack's code and the logarithm of the width."""
    packed = 0
    for dtype in dtypes:
        packed = packed << 8 | _DLPACK_CODES[dtype] << 4 | (8 * dtype.itemsize).bit_length() - 1
    return packed


def native_recall(seen: list[Any]) -> Callable[..., Any] | None:
    """What looks a call's defines up in ``Recent``'s list; None unless a launcher was made before.

    (A program that runs on CPU tensors only is to build nothing.)
    """
    module = _module() if _module.cache_info().currsize else None
    recall: Callable[..., Any] | None = None if module is None else module.make_recall(seen)
    return recall


@cache
def _module() -> Any:
    """The compiled module; None where it cannot be built, for whatever reason: nothing depends on it."""
    try:
        return build.compile_module_from_src(render("launcher.c.j2"), "pytriton_launcher")
    except Exception:
        return None


# Which plan the defines of a call mean, found in C without making a key of them.
#
# Programs of 2019 give all defines with each call, twenty of them as a rule, and a key of twenty takes as long to
# make (1.5 to 5 us) as a launch. So what the last few calls gave is compared in C (0.2 us), where the fast path
# runs in C, too. Equal defines give equal code only if their types are equal: 1, True, 1.0 and '1' are four
# different defines, 0.0 and -0.0 are two.


Value = TypeVar("Value")

MAX_CALLS: Final = 8


class Recent(Generic[Value]):
    """What belongs to the defines of the last few calls, for the fast path in C; without that it knows nothing.

    ``get(defines, *more)`` gives what was put for just these defines and ``more``, such as ``num_warps``; None if
    that is not known.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[list[str], list[Any], Value]] = []
        self.get: Callable[..., Value | None] = _know_nothing

    def put(self, value: Value, defines: Mapping[str, Any] | None, *more: Any) -> None:
        """Remember; the longest known is forgotten. (Threads may lose what another has just put: no harm.)"""
        if self.get is _know_nothing:  # the module in C is built with the first launcher
            self.get = native_recall(self._seen) or _know_nothing
        if self.get is not _know_nothing:
            given = [*(defines or {}).values(), *more]
            # Lists are copied, so that a user may change them.
            copied = [type(option)(option) if type(option) in (list, tuple) else option for option in given]
            self._seen[:] = ((list(defines or {}), copied, value), *self._seen[: MAX_CALLS - 1])


def _know_nothing(*_: Any) -> None:
    return None


# Hashable, and the same define where types and values are equal. (0.0 and -0.0 are equal, and NaN is not.)
_SIMPLE: Final = frozenset({int, str, bool, type(None), torch.dtype})


def key_of(defines: Mapping[str, Any] | None, *more: Any) -> tuple[Any, ...]:
    """A hashable key of the same, in Python; it holds no reference to what a user can change."""
    values: Iterable[Any] = [*defines.values(), *more] if defines else more
    types = tuple(map(type, values))
    if not _SIMPLE.issuperset(types):
        values = [value if type(value) in _SIMPLE else _frozen(value) for value in values]
    return tuple(defines or ()), types, *values


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple((type(item), _frozen(item)) for item in value)
    return value if isinstance(value, (str, int)) else repr(value)
