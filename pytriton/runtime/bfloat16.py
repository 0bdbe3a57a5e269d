"""bfloat16 in NumPy, which has no such type: its bit patterns are numbers of uint16."""

from __future__ import annotations

from typing import Any

import numpy


def bits_of(values: Any) -> Any:
    """Numbers as bfloat16 bit patterns, rounded once to nearest, ties to even; NaN stays NaN."""
    exact = numpy.asarray(values)
    exact = exact.astype(numpy.longdouble if exact.dtype.kind in "iu" else float)  # 64 digits: any integer
    last = numpy.maximum(numpy.frexp(exact)[1], -125) - 8  # of 8 digits, as a power of two
    rounded = numpy.ldexp(numpy.rint(numpy.ldexp(exact, -last)), last)
    return (rounded.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def floats_of(bits: Any) -> Any:
    """bfloat16 bit patterns as float32, exactly."""
    return numpy.left_shift(bits, 16, dtype=numpy.uint32, order="C").view(numpy.float32)
