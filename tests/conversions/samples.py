"""The numbers that the tests feed: small ones, negative ones, and those at which a wrong conversion shows."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.conversions.c_types import (
    BFLOAT16,
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    TYPES,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    CType,
    rounded,
)

__all__ = ["EVERY", "FEW", "pairs", "representable"]

NAN, INF = math.nan, math.inf

# For conversions: every edge of every other type, just inside and just outside.
_EDGES = [
    *(
        0,
        1,
        2,
        3,
        7,
        127,
        128,
        129,
        200,
        255,
        256,
        300,
        2049,
        32767,
        32768,
        65504,
        65519,
        65520,
        65535,
        65536,
    ),
    *(8388609, 16777217, 16842753, 2147483520, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 256, 2**32 - 1, 2**32),
    *(
        2**32 + 1,
        2**40 + 2**16 + 1,
        2**53 + 1,
        2**54 + 2**30 + 1,
        2**63 - 513,
        2**63 - 1,
        2**63,
        2**63 + 1025,
        2**64 - 1,
    ),
]
_INTEGERS = sorted({sign * edge for edge in _EDGES for sign in (1, -1)})
_FRACTIONS = [
    *(
        0.0,
        -0.0,
        0.1,
        -0.1,
        0.5,
        -0.5,
        0.75,
        -0.9990234375,
        1.5,
        -1.5,
        2.5,
        1 / 3,
        -127.5,
        127.9,
        -128.9,
        255.9,
    ),
    *(
        -0.99,
        32767.9,
        -32768.9,
        65503.9,
        65519.99,
        65535.9,
        -3.7,
        1e-3,
        1e10,
        -1e10,
        1e30,
        -1e30,
        1e300,
        -1e300,
    ),
    *(
        2.0**-14,
        2.0**-15 + 2.0**-24,
        -(2.0**-24),
        2.0**-25,
        2.0**-26,
        1e-30,
        -1e-38,
        2.0**-126,
        1e-40,
        -1e-45,
    ),
    *(2.0**-149, 2.0**-150, 1e-300, 5e-324, 1 + 2.0**-11, 1 + 2.0**-8, 1 + 2.0**-10 + 2.0**-11, 1 + 2.0**-24),
    *(
        1 + 3 * 2.0**-8,
        1 + 2.0**-11 + 2.0**-40,
        1 + 2.0**-8 + 2.0**-40,
        3.4028234e38,
        3.39e38,
        NAN,
        INF,
        -INF,
    ),
]


def representable(kind: CType, numbers: list[int] | list[float]) -> list[int] | list[float]:
    """Those of the numbers that the type holds: integers in range, floating ones rounded, each once."""
    kept: dict[object, int | float] = {}
    for number in numbers:
        if kind.floating:
            value: int | float = rounded(number, kind)
            key: object = (value, math.copysign(1, value)) if value == value else "nan"
        elif kind.lowest <= number <= kind.highest:
            value = key = int(number)
        else:
            continue
        kept.setdefault(key, value)
    return list(kept.values())


EVERY = {kind: representable(kind, _INTEGERS + _FRACTIONS if kind.floating else _INTEGERS) for kind in TYPES}

# For operators, where all of one type meet all of another: about ten each.
FEW: dict[CType, list[int] | list[float]] = {
    BOOL: [0, 1],
    CHAR: [-128, -100, -7, -1, 0, 1, 2, 3, 31, 127],
    UCHAR: [0, 1, 2, 7, 31, 127, 128, 200, 255],
    SHORT: [-32768, -300, -129, -3, -1, 0, 1, 7, 255, 32767],
    USHORT: [0, 1, 3, 15, 255, 256, 32768, 40000, 65535],
    INT: [-(2**31), -65537, -46341, -7, -1, 0, 1, 2, 16, 4099, 16777217, 2**31 - 1],
    UINT: [0, 1, 3, 31, 2049, 65537, 2**31 - 1, 2**31, 0x9E3779B9, 2**32 - 2, 2**32 - 1],
    LONG: [-(2**63), -(2**32) - 1, -(2**31), -7, -1, 0, 1, 5, 63, 2**31, 2**53 + 1, 2**63 - 1],
    ULONG: [0, 1, 2, 33, 63, 2**31 + 1, 2**32, 2**53 + 1, 2**63, 2**64 - 2, 2**64 - 1],
    HALF: [-0.0, 0.0, -1.0, 3.0, 0.0999755859375, -2.5, 2.0**-24, 1.0009765625, 2050.0, -65504.0, INF, NAN],
    BFLOAT16: [-0.0, 0.0, -1.0, 3.0, 0.10009765625, -2.5, 2.0**-126, 1.0078125, 258.0, 3.0e38, -INF, NAN],
    FLOAT: [-0.0, 0.0, -1.0, 3.0, 0.1, -2.5, 1e-40, 1 + 2.0**-23, 65519.0, 3.4e38, 1e-30, -INF, INF, NAN],
    DOUBLE: [-0.0, 0.0, -1.0, 3.0, 0.1, -2.5, 5e-324, 1 + 2.0**-52, 1e39, -1e300, 2.0**31, INF, NAN],
}
for _kind in TYPES:
    FEW[_kind] = representable(_kind, FEW[_kind])


def pairs(start: int) -> list[Any]:
    """Every pair of types as the arguments of a test: a third of them without ``--slow``, by start which."""
    return [
        pytest.param(a, b, id=f"{a}-{b}", marks=[] if (i + k) % 3 == start else pytest.mark.slow)
        for i, a in enumerate(TYPES)
        for k, b in enumerate(TYPES)
    ]
