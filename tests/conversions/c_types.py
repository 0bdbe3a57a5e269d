"""C's scalar types and the conversions between them: what the tests hold the translator to.

A value of an integer type (bool too) is a Python int in the type's range, a value of a floating type is a
Python float that the type holds exactly. ``None`` stands for "C, or language.md, leaves it open". The types and
their arithmetic are those of tests/fuzz/rules.py and tests/fuzz/c.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import torch

from tests.fuzz import c
from tests.fuzz.c import wrapped
from tests.fuzz.rules import Scalar as CType
from tests.fuzz.rules import by_name, common, promoted

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
    "TORCH",
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

BOOL, CHAR, SHORT, INT, LONG = map(by_name, "bool char short int long".split())
UCHAR, USHORT, UINT, ULONG = (by_name(f"unsigned {kind}") for kind in (CHAR, SHORT, INT, LONG))
HALF, BFLOAT16, FLOAT, DOUBLE = FLOATS = tuple(map(by_name, "half bfloat16 float double".split()))
INTEGERS = (BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG)
TYPES = INTEGERS + FLOATS
TORCH = {
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


def rounded(number: float | int | Fraction, to: CType) -> float:
    """A number rounded once to a floating type."""
    if isinstance(number, float) and (number == 0 or not math.isfinite(number)):
        return number
    return c.rounded(Fraction(number), to)


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
    if to.floating:
        return rounded(value, to)
    if isinstance(value, int):
        return wrapped(value, to)
    if not math.isfinite(value) or not to.lowest <= math.trunc(value) <= to.highest:
        return None
    return math.trunc(value)


def tensor_of(values: Iterable[Value], kind: CType, device: str) -> torch.Tensor:
    """A tensor of the type's dtype that holds exactly these values."""
    values = list(values)
    if kind is BFLOAT16:
        single = np.array(values, dtype=np.float32)
        return (
            torch.from_numpy((single.view(np.uint32) >> 16).astype(np.uint16)).view(torch.bfloat16).to(device)
        )
    name = str(TORCH[kind.word]).removeprefix("torch.")
    return torch.from_numpy(np.array(values, dtype=name)).to(device)


def values_of(tensor: torch.Tensor, kind: CType) -> list[int] | list[float]:
    """What a tensor of the type's dtype holds; a bool is read as the byte that it is."""
    tensor = tensor.cpu()
    if kind is BOOL:
        return tensor.view(torch.uint8).tolist()
    if kind is BFLOAT16:
        return tensor.to(torch.float32).tolist()
    return tensor.numpy().tolist()
