"""One table of options and their types: constructor, call, ``trace``, ``check_races``, ``op``, ``gradient``.

``option(name, value)`` returns a value in the form in which it is used, or raises LaunchError. An option of one
name means the same everywhere; where None is accepted, it stands for leaving the option out.
"""

from __future__ import annotations

import math
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, get_args

import numpy
import torch

from pytriton.runtime.errors import refusal
from pytriton.runtime.options.annotations import Tune
from pytriton.runtime.options.defines import fast_math_of, precision_of, stages_of, warps_of
from pytriton.runtime.options.definition import check_of, device_of


def option(name: str, value: object) -> Any:
    """The value of an option; raises LaunchError (TC515, TC517, TC540) for one of the wrong type."""
    return OPTION_TYPES[name](name, value)


def _wrong(name: str, value: object, cure: str, code: str = "TC515") -> NoReturn:
    raise refusal(f"{name} is {reprlib.repr(value)}", code, cure)


def _defines(name: str, value: object) -> Mapping[str, Any] | None:
    if value is None or isinstance(value, Mapping):
        return value
    raise refusal(f"{name} must be a dict, not {reprlib.repr(value)}", "TC515", "give defines={'TM': 64}")


def _functions(name: str, value: object) -> Mapping[str, Any]:
    if value is None or isinstance(value, Mapping):
        return value or {}
    _wrong(
        name, value, "give a dict of functions, as in {'EVEN_K': lambda args: args['K'] % args['TK'] == 0}"
    )


def _tensors(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping | None):
        _wrong(name, value, "give a dict of tensors, as in d_outputs={'y': dy}", "TC755")
    for key, tensor in (value or {}).items():
        if not isinstance(tensor, torch.Tensor | None):
            _wrong(f"{name}[{key!r}]", tensor, "give a tensor, such as torch.ones_like(y)", "TC755")
    return dict(value or {})


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    _wrong(name, value, "give a str")


def _listed(name: str, value: object, cure: str, code: str = "TC515") -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, str | bytes | torch.Tensor) or not isinstance(value, Iterable):
        _wrong(name, value, cure, code)
    return tuple(value)


def _configs(name: str, value: object) -> tuple[Any, ...]:
    return _listed(name, value, "give a list of pytriton.config(defines={...}, num_warps=4)")


def _names(name: str, value: object) -> tuple[str, ...] | None:
    """One name, or several; None if left out."""
    if value is None:
        return None
    cure = "give the names of parameters, as in ['x', 'y']"
    names = (value,) if isinstance(value, str) else _listed(name, value, cure)
    return names if all(isinstance(item, str) for item in names) else _wrong(name, value, cure)


def _chosen(name: str, value: object) -> tuple[str, ...] | None:
    names = _names(name, value)
    return names if names != () else _wrong(name, value, "name at least one parameter, or leave it out")


def _written(name: str, value: object) -> tuple[str, ...]:
    names = None if value is None else _listed(name, value, _MUTATES, "TC540")
    if names is None or not all(isinstance(item, str) for item in names):
        _wrong(name, value, _MUTATES, "TC540")
    return names


_MUTATES: Final = "expected the names of the written arguments: mutates_args=('y',), or leave it out"


def _folders(name: str, value: object) -> tuple[str, ...]:
    """One folder, or several."""
    cure = "give a list of folders, as in ['kernels/include']"
    folders = (value,) if isinstance(value, str | os.PathLike) else _listed(name, value, cure)
    if not all(isinstance(folder, str | os.PathLike) for folder in folders):
        _wrong(name, value, cure)
    return tuple(str(os.fspath(folder)) for folder in folders)


def _truth(name: str, value: object) -> bool:
    return bool(value) if isinstance(value, bool | numpy.bool_) else _wrong(name, value, "give True or False")


def _perhaps(name: str, value: object) -> bool | None:
    return None if value is None else _truth(name, value)


def _seconds(name: str, value: object) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float | numpy.number) and not isinstance(value, bool)
    if number and float(value) >= 0 and not math.isnan(float(value)):  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    _wrong(name, value, "give a number of seconds")


def _whole(name: str, value: object, cure: str) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        _wrong(name, value, cure)


def _bytes(name: str, value: object) -> int | None:
    if value is None:
        return None
    cure = "give a number of bytes, such as 1 << 28"
    number = -1 if isinstance(value, bool) else _whole(name, value, cure)
    return number if number >= 0 else _wrong(name, value, cure)


def _repetitions(name: str, value: object) -> int:
    return 0 if value is None else _whole(name, value, "give a number of launches, such as bench=10")


def _program(name: str, value: object) -> tuple[int, ...]:
    """The ids along the axes."""
    cure = "give one to three integers, such as program=2 or program=(2, 0, 0)"
    ids = value if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(ids) <= 3 or any(isinstance(id_, bool) for id_ in ids):
        _wrong(name, value, cure)
    return tuple(_whole(name, id_, cure) for id_ in ids)


def _tune(name: str, value: object) -> object:
    return (
        value
        if value in (None, *get_args(Tune))
        else _wrong(name, value, "give 'full', or leave it out", "TC517")
    )


_SINGLE: Final = (str, Mapping, torch.Tensor, numpy.ndarray)


def _axis(read: Callable[[object], object]) -> Callable[[str, object], Any]:
    """A value, or several for a sweep; None is the default."""

    def axis(name: str, value: object) -> Any:
        if not isinstance(value, Iterable) or isinstance(value, _SINGLE):
            return None if value is None else read(value)
        values = tuple(read(item) for item in value)
        return values if values else _wrong(name, value, "give it a value", "TC517")

    return axis


OPTION_TYPES: Final[dict[str, Callable[[str, object], Any]]] = {
    "defines": _defines,
    "num_warps": _axis(warps_of),
    "num_stages": _axis(stages_of),
    "precision": _axis(precision_of),
    "fast_math": _axis(fast_math_of),
    "bench": _repetitions,
    "program": _program,
    "name": _text,
    "kernel": _text,
    "device": lambda name, value: device_of(value),
    "include_dirs": _folders,
    "heuristics": _functions,
    "autotune_configs": _configs,
    "autotune_vals": _configs,
    "autotune_key": _names,
    "tune": _tune,
    "tune_budget": _seconds,
    "strict_literals": _truth,
    "strict_promises": _truth,
    "check": lambda name, value: check_of(value),
    "outputs": _chosen,
    "inputs": _chosen,
    "checkpoints": _perhaps,
    "scratch_bytes": _bytes,
    "d_outputs": _tensors,
    "mutates_args": _written,
    "gradient": _truth,
}
