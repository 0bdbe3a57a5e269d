"""Mends of Triton's interpreter, in force while a kernel runs on it.

A comparison's handle bears the type of its operands, so a scalar truth value that is spread over a block comes
out as int32 or worse and no longer serves as a mask. Up to Triton 3.7 a scalar becomes an index by way of an
array of one element, which NumPy 2.4 refuses. A load asks ``if other`` where it means ``is not None``, and a
scalar zero is false there, so that -0.0 became 0.0. Up to Triton 3.8 an atomic reads its operands as if their
elements lay side by side, which those of a broadcast block do not: it read what lies behind. ``~x`` of an
unsigned integer asks NumPy for -1, which NumPy 2 refuses. A sum of int32 is one of int64 to NumPy, and what did
not fit was refused, too. Sums, differences and products of integers are done twice, in int64 to see whether
they wrap around, which C's may. ``range`` would count in Python's integers, which never wrap around. And the
functions of ``libdevice`` exist only as machine code; NumPy has the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

import numpy
import triton.language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

__all__ = [
    "LIBDEVICE",
    "all_ones_fit",
    "atomics_lie_flat",
    "counted",
    "integers_wrap",
    "scalars_index",
    "sums_wrap",
    "truth_values_spread",
    "zeros_given",
]


@contextmanager
def truth_values_spread() -> Iterator[None]:
    """Let a block made of a truth value be one of truth values."""
    splat = InterpreterBuilder.create_splat

    def mended(self: Any, type_: Any, scalar: Any) -> Any:
        if scalar.data.dtype != numpy.bool_:
            return splat(self, type_, scalar)
        return TensorHandle(numpy.full(type_.shape, scalar.data.item()), tl.int1)

    InterpreterBuilder.create_splat = mended
    try:
        yield
    finally:
        InterpreterBuilder.create_splat = splat


@contextmanager
def scalars_index() -> Iterator[None]:
    """Let a scalar be a bound of ``range``."""
    patch = interpreter._patch_lang_tensor

    def mended(tensor: Any, *rest: Any) -> None:
        patch(tensor, *rest)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    interpreter._patch_lang_tensor = mended
    try:
        yield
    finally:
        interpreter._patch_lang_tensor = patch


@contextmanager
def zeros_given() -> Iterator[None]:
    """Let a scalar zero be given for what the mask of a load leaves out."""
    load = TritonSemantic.load

    def mended(self: Any, *arguments: Any) -> Any:
        truth = tl.tensor.__bool__
        tl.tensor.__bool__ = lambda _: True
        try:
            return load(self, *arguments)
        finally:
            tl.tensor.__bool__ = truth

    TritonSemantic.load = mended
    try:
        yield
    finally:
        TritonSemantic.load = load


@contextmanager
def atomics_lie_flat() -> Iterator[None]:
    """Let the operands of an atomic be broadcast blocks."""
    kept = InterpreterBuilder.create_atomic_rmw, InterpreterBuilder.create_atomic_cas

    def flat(operand: Any) -> Any:
        if not isinstance(operand, TensorHandle):
            return operand
        return TensorHandle(numpy.ascontiguousarray(operand.data), operand.dtype)

    def mended(create: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *operands: create(self, *map(flat, operands))

    InterpreterBuilder.create_atomic_rmw, InterpreterBuilder.create_atomic_cas = map(mended, kept)
    try:
        yield
    finally:
        InterpreterBuilder.create_atomic_rmw, InterpreterBuilder.create_atomic_cas = kept


@contextmanager
def sums_wrap() -> Iterator[None]:
    """Let a sum of integers wrap around in their own width."""
    kept = interpreter.ReduceOps.sum

    def mended(self: Any, operand: Any) -> Any:
        data = operand.handle.data
        if data.dtype.kind not in "iu":
            return kept(self, operand)
        total = numpy.sum(data, axis=self.axis, keepdims=self.keep_dims, dtype=data.dtype)
        return self.to_tensor(total, operand.dtype)

    interpreter.ReduceOps.sum = mended
    try:
        yield
    finally:
        interpreter.ReduceOps.sum = kept


@contextmanager
def all_ones_fit() -> Iterator[None]:
    """Let an unsigned integer be inverted."""
    kept = InterpreterBuilder.get_all_ones_value

    def mended(self: Any, type_: Any) -> Any:
        bits = type_.scalar.primitive_bitwidth
        if bits == 1 or not type_.scalar.is_int_unsigned():
            return kept(self, type_)
        dtype = numpy.dtype(f"u{bits // 8}")
        return TensorHandle(numpy.full(1, numpy.iinfo(dtype).max, dtype), type_.scalar)

    InterpreterBuilder.get_all_ones_value = mended
    try:
        yield
    finally:
        InterpreterBuilder.get_all_ones_value = kept


@contextmanager
def integers_wrap() -> Iterator[None]:
    """Let sums, differences and products of integers wrap around, unasked."""
    check = TritonSemantic.binary_op_sanitize_overflow_impl
    TritonSemantic.binary_op_sanitize_overflow_impl = lambda *_: None
    try:
        yield
    finally:
        TritonSemantic.binary_op_sanitize_overflow_impl = check


def counted(*bounds: Any) -> Iterator[Any]:
    """``range`` whose numbers are scalars of the kernel: int64 if a bound is, else int32, as in compiled code."""
    long = any(isinstance(bound, tl.tensor) and bound.dtype == tl.int64 for bound in bounds)
    type_ = tl.int64 if long else tl.int32
    dtype = numpy.dtype(numpy.int64 if long else numpy.int32)
    for number in range(*bounds):
        yield tl.tensor(TensorHandle(numpy.array([number], dtype), type_), type_)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function on the interpreter's tensors; the result has the type of the first operand."""

    def apply(*operands: Any) -> Any:
        result = function(*(operand.handle.data for operand in operands))
        data = numpy.asarray(result, operands[0].handle.data.dtype)
        type_ = operands[0].type
        if math.prod(data.shape) > operands[0].handle.data.size:
            type_ = operands[1].type
        return tl.tensor(TensorHandle(data, type_.scalar), type_)

    return apply


LIBDEVICE: Final = SimpleNamespace(tanh=_elementwise(numpy.tanh), pow=_elementwise(numpy.power))
