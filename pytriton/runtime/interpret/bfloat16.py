"""bfloat16 on Triton's interpreter: NumPy has no such type, and the interpreter falls back to uint16.

It then adds, compares and sums the *bit patterns*, and cuts digits off where a GPU rounds. ``EXACT_BFLOAT16``
mends the few methods through which all arithmetic goes: operands become float, the result is rounded to
nearest, ties to even, as on a GPU. Moving values (loads, stores, selects, reshapes) needs no help.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy
import triton.language as tl
from triton.runtime.interpreter import InterpreterBuilder, ReduceOps, TensorHandle

from pytriton.runtime.interpret.patches import Mends

__all__ = ["EXACT_BFLOAT16", "bits_of", "floats_of"]

Method = Callable[..., Any]


def bits_of(values: Any) -> Any:
    """Numbers as bfloat16 bit patterns, rounded once to nearest, ties to even; NaN stays NaN."""
    bits = _to_odd(numpy.ascontiguousarray(values)).view(numpy.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return numpy.where(is_nan, bits >> 16 | 0x40, rounded).astype(numpy.uint16)


def _to_odd(values: Any) -> Any:
    """Numbers as float32 with a last digit of 1 where digits are cut off, so that no tie comes of it.

    S. Boldo, G. Melquiond: Emulation of FMA and correctly rounded sums, proved algorithms using rounding to
    odd, 2008.
    """
    floats = values.astype(numpy.float32)
    if values.dtype.itemsize <= 2 or values.dtype == numpy.float32:
        return floats
    exact = values.astype(numpy.longdouble)  # 64 digits: every integer of 64 bits too
    too_far = numpy.abs(floats.astype(numpy.longdouble)) > numpy.abs(exact)
    cut = numpy.where(too_far, numpy.nextafter(floats, numpy.float32(0)), floats)
    inexact = (cut.astype(numpy.longdouble) != exact) & (exact == exact)
    return (cut.view(numpy.uint32) | inexact).view(numpy.float32)


def floats_of(bits: Any) -> Any:
    """bfloat16 bit patterns as float32, exactly."""
    wide = numpy.ascontiguousarray(bits).astype(numpy.uint32) << 16
    return wide.view(numpy.float32).reshape(bits.shape)


def _is_bfloat16(handle: Any) -> bool:
    return isinstance(handle, TensorHandle) and handle.dtype.scalar is tl.bfloat16


def _widened(handle: Any) -> Any:
    """A bfloat16 operand as float, exactly; anything else as it is."""
    if not _is_bfloat16(handle) or handle.data.dtype != numpy.uint16:
        return handle
    return TensorHandle(floats_of(handle.data), tl.float32)


def _narrowed(handle: Any) -> Any:
    """A float result as bfloat16; a comparison's result keeps its truth values."""
    if handle.data.dtype == numpy.bool_:
        return TensorHandle(handle.data, tl.int1)
    return TensorHandle(bits_of(handle.data).reshape(handle.data.shape), tl.bfloat16)


def _in_float(method: Method) -> Method:
    """Arithmetic in float; the result has the type of the first operand."""

    def wrapped(self: Any, first: Any, *others: Any) -> Any:
        if not _is_bfloat16(first):
            return method(self, first, *others)
        return _narrowed(method(self, _widened(first), *map(_widened, others)))

    return wrapped


_FLOATS: Final = {tl.float16: numpy.float16, tl.float32: numpy.float32, tl.float64: numpy.float64}


def _cast_through_float(method: Method) -> Method:
    def wrapped(self: Any, source: Any, target: Any, *others: Any) -> Any:
        wide = _widened(source)
        if target.scalar is not tl.bfloat16:
            if wide is not source and target.scalar in _FLOATS:
                return TensorHandle(wide.data.astype(_FLOATS[target.scalar]), target.scalar)
            return method(self, wide, target, *others)
        source = wide
        return TensorHandle(bits_of(source.data).reshape(source.data.shape), tl.bfloat16)

    return wrapped


def _dot_in_float(method: Method) -> Method:
    """A product of bfloat16 blocks; the accumulator has a type of its own."""

    def wrapped(self: Any, a: Any, b: Any, *others: Any) -> Any:
        return method(self, _widened(a), _widened(b), *others)

    return wrapped


def _reduce_in_float(method: Method) -> Method:
    """Reductions take tuples of ``tl.tensor``."""

    def wrapped(self: Any, operands: Any) -> Any:
        narrow = [operand.dtype.scalar is tl.bfloat16 for operand in operands]
        if not any(narrow):
            return method(self, operands)
        results = method(self, tuple(tl.core.cast(operand, tl.float32) for operand in operands))
        if not isinstance(results, (list, tuple)):
            results = (results,)
        return [tl.core.cast(result, tl.bfloat16) for result in results]

    return wrapped


def _constant(_: Method) -> Method:
    """A bfloat16 constant; Triton's own came with 3.9."""
    return lambda self, value: TensorHandle(bits_of([value]), tl.bfloat16)


EXACT_BFLOAT16: Final[Mends] = {
    (InterpreterBuilder, "binary_op"): _in_float,
    (InterpreterBuilder, "unary_op"): _in_float,
    (InterpreterBuilder, "create_fma"): _in_float,
    (InterpreterBuilder, "cast_impl"): _cast_through_float,
    (InterpreterBuilder, "create_fp_to_fp"): _cast_through_float,
    (InterpreterBuilder, "create_dot"): _dot_in_float,
    (InterpreterBuilder, "get_bf16"): _constant,
    (ReduceOps, "apply_impl"): _reduce_in_float,
}
