"""C's scalar types and the conversions between them, in plain Python: what the tests hold the translator to.

A value of an integer type (bool too) is a Python int in the type's range, a value of a floating type is a
Python float that the type holds exactly. ``None`` stands for "C, or language.md, leaves it open". Written from
language.md, sections 2, 4 and 9, alone, as tests/fuzz/c.py, which rounds and wraps: nothing here is shared with
pytriton or with tests/oracle.

Rounding is done once, from the exact value, to nearest, ties to even (IEEE 754; C11 annex F).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from tests.fuzz import c, rules

__all__ = [
    "BFLOAT16",
    "BOOL",
    "CHAR",
    "DOUBLE",
    "FLOAT",
    "FLOATS",
    "HALF",
    "INT",
    "INTEGERS",
    "LONG",
    "SHORT",
    "TYPES",
    "UCHAR",
    "UINT",
    "ULONG",
    "USHORT",
    "CType",
    "Value",
    "common",
    "convert",
    "promoted",
    "rounded",
    "tensor_of",
    "values_of",
    "wrapped",
]

Value = int | float | None


@dataclass(frozen=True)
class CType:
    """One scalar type: how it is spelled, its width, and for a floating type digits and smallest quantum."""

    spelled: str
    bits: int
    signed: bool = True
    digits: int = 0  # of the significand, the hidden one too; 0 for integers
    quantum: int = 0  # log2 of the smallest subnormal number

    @property
    def is_float(self) -> bool:
        return self.digits > 0

    @property
    def lowest(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    @property
    def scalar(self) -> rules.Scalar:
        """The type in the model of C's arithmetic (tests/fuzz/c.py)."""
        return rules.by_name(self.spelled)

    @property
    def id(self) -> str:
        return self.spelled.replace("unsigned ", "u")

    @property
    def dtype(self) -> torch.dtype:
        return _DTYPES[self.spelled]

    def __str__(self) -> str:
        return self.spelled


BOOL = CType("bool", 1, signed=False)
CHAR = CType("char", 8)
UCHAR = CType("unsigned char", 8, signed=False)
SHORT = CType("short", 16)
USHORT = CType("unsigned short", 16, signed=False)
INT = CType("int", 32)
UINT = CType("unsigned int", 32, signed=False)
LONG = CType("long", 64)
ULONG = CType("unsigned long", 64, signed=False)
HALF = CType("half", 16, digits=11, quantum=-24)
BFLOAT16 = CType("bfloat16", 16, digits=8, quantum=-133)
FLOAT = CType("float", 32, digits=24, quantum=-149)
DOUBLE = CType("double", 64, digits=53, quantum=-1074)

INTEGERS = (BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG)
FLOATS = (HALF, BFLOAT16, FLOAT, DOUBLE)
TYPES = INTEGERS + FLOATS

_NAMED = {kind.spelled: kind for kind in TYPES}
_DTYPES = {
    "bool": torch.bool,
    "char": torch.int8,
    "unsigned char": torch.uint8,
    "short": torch.int16,
    "unsigned short": torch.uint16,
    "int": torch.int32,
    "unsigned int": torch.uint32,
    "long": torch.int64,
    "unsigned long": torch.uint64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "float": torch.float32,
    "double": torch.float64,
}


def wrapped(number: int, to: CType) -> int:
    """The number modulo 2^bits, in the range of an integer type other than bool."""
    return c.wrapped(number, to.scalar)


def rounded(number: float | int | Fraction, to: CType) -> float:
    """A number rounded once to a floating type."""
    if isinstance(number, float) and (number == 0 or not math.isfinite(number)):
        return number
    return c.rounded(Fraction(number), to.scalar)


def convert(value: Value, to: CType) -> Value:
    """C11 6.3.1: a value of any type as a value of another; ``None`` where the result is unspecified."""
    if value is None:
        return None
    if to is BOOL:
        return int(value != 0)
    if to is BFLOAT16 and rounded(rounded(value, FLOAT), to) != (once := rounded(value, to)) and once == once:
        return (
            None  # C11 6.3.1.4 leaves the choice of the neighbour open; by way of float it is the other one
        )
    if to.is_float:
        return rounded(value, to)
    if isinstance(value, int):
        return wrapped(value, to)
    if not math.isfinite(value) or not to.lowest <= math.trunc(value) <= to.highest:
        return None
    return math.trunc(value)


def promoted(kind: CType) -> CType:
    """Integer promotion (C11 6.3.1.1)."""
    return _NAMED[rules.promoted(kind.scalar).word]


def common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions."""
    return _NAMED[rules.common(left.scalar, right.scalar).word]


def tensor_of(values: Iterable[Value], kind: CType, device: str) -> torch.Tensor:
    """A tensor of the type's dtype that holds exactly these values."""
    values = list(values)
    if kind is BFLOAT16:
        single = np.array(values, dtype=np.float32)
        return (
            torch.from_numpy((single.view(np.uint32) >> 16).astype(np.uint16)).view(torch.bfloat16).to(device)
        )
    name = str(kind.dtype).removeprefix("torch.")
    return torch.from_numpy(np.array(values, dtype=name)).to(device)


def values_of(tensor: torch.Tensor, kind: CType) -> list[int] | list[float]:
    """What a tensor of the type's dtype holds; a bool is read as the byte that it is."""
    tensor = tensor.cpu()
    if kind is BOOL:
        return tensor.view(torch.uint8).tolist()
    if kind is BFLOAT16:
        return tensor.to(torch.float32).tolist()
    return tensor.numpy().tolist()
