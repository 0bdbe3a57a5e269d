"""What may be passed for a parameter, by its declared type: the one table that every check of a call is made from.

The slow path (``arguments.py``) adds the messages, the fast path (``fast_path.py``) puts them into its table, and a
tracer (``trace/dynamo.py``) guards on the ranges.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import torch

from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter

__all__ = ["Rule", "rule_of"]


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


def _to_half(value: float) -> float:
    """Rounded to half as C does; what is too large becomes infinite."""
    try:
        return float(struct.unpack("<e", struct.pack("<e", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _to_bfloat16(value: float) -> float:
    """Rounded to nearest, ties to even. (Triton's launchers cut the low bits off.)"""
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    if value == value:
        bits = bits + 0x7FFF + (bits >> 16 & 1)
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])


_ROUNDINGS: Final[Mapping[str, Callable[[float], float]]] = {"half": _to_half, "bfloat16": _to_bfloat16}
