"""Mends of Triton's interpreter, in force while a kernel runs on it (``mended``).

Each function here takes a method of the interpreter and gives the one that stands in for it; ``MENDS`` says where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

import numpy
import triton.language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

__all__ = ["LIBDEVICE", "MENDS", "Mends", "counted", "mended"]

# Owner and name -> what makes the mended of the original.
Mends = Mapping[tuple[Any, str], Callable[[Any], Any]]


@contextmanager
def mended(mends: Mends) -> Iterator[None]:
    """While the body runs, the methods are the mended ones."""
    absent = object()
    before = {(owner, name): vars(owner).get(name, absent) for owner, name in mends}
    try:
        for (owner, name), mend in mends.items():
            setattr(owner, name, mend(getattr(owner, name, None)))
        yield
    finally:
        for (owner, name), original in before.items():
            if original is absent:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _truth_values_spread(splat: Any) -> Any:
    """A comparison's handle bears the type of its operands, so a scalar truth value that is spread over a block
    comes out as int32 or worse, and no longer serves as a mask. Here the block is one of truth values."""

    def create_splat(self: Any, type_: Any, scalar: Any) -> Any:
        if scalar.data.dtype != numpy.bool_:
            return splat(self, type_, scalar)
        return TensorHandle(numpy.full(type_.shape, scalar.data.item()), tl.int1)

    return create_splat


def _scalars_index(patch: Any) -> Any:
    """Up to Triton 3.7 a scalar becomes an index, as for ``range``, by way of an array of one element, which
    NumPy 2.4 refuses."""

    def patch_lang_tensor(tensor: Any, *others: Any) -> None:
        patch(tensor, *others)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    return patch_lang_tensor


def _zeros_given(load: Any) -> Any:
    """A load asks ``if other`` where it means ``is not None``, and a scalar zero is false there, so that -0.0
    became 0.0."""

    def mended_load(self: Any, *arguments: Any) -> Any:
        truth = tl.tensor.__bool__
        tl.tensor.__bool__ = lambda _: True
        try:
            return load(self, *arguments)
        finally:
            tl.tensor.__bool__ = truth

    return mended_load


def _atomics_lie_flat(create: Any) -> Any:
    """Up to Triton 3.8 an atomic reads its operands as if their elements lay side by side, which those of a
    broadcast block do not: it read what lies after them."""

    def flat(operand: Any) -> Any:
        if not isinstance(operand, TensorHandle):
            return operand
        return TensorHandle(numpy.ascontiguousarray(operand.data), operand.dtype)

    return lambda self, *operands: create(self, *map(flat, operands))


def _numbers_win(choose: Any) -> Callable[[Any], Any]:
    """Up to Triton 3.7 the larger of a number and a NaN is the NaN; on a GPU it is the number."""
    return lambda _: lambda self, left, right: self.binary_op(left, right, choose)


def _sums_wrap(reduce: Any) -> Any:
    """A sum of int32 is one of int64 to NumPy, and what did not fit was refused; it wraps around in its width."""

    def mended_sum(self: Any, operand: Any) -> Any:
        data = operand.handle.data
        if data.dtype.kind not in "iu":
            return reduce(self, operand)
        total = numpy.sum(data, axis=self.axis, keepdims=self.keep_dims, dtype=data.dtype)
        return self.to_tensor(total, operand.dtype)

    return mended_sum


def _all_ones_fit(all_ones: Any) -> Any:
    """``~x`` of an unsigned integer asks NumPy for -1, which NumPy 2 refuses."""

    def get_all_ones_value(self: Any, type_: Any) -> Any:
        bits = type_.scalar.primitive_bitwidth
        if bits == 1 or not type_.scalar.is_int_unsigned():
            return all_ones(self, type_)
        dtype = numpy.dtype(f"u{bits // 8}")
        return TensorHandle(numpy.full(1, numpy.iinfo(dtype).max, dtype), type_.scalar)

    return get_all_ones_value


def _integers_wrap(_: Any) -> Any:
    """Sums, differences and products of integers are done twice, in int64 to see whether they wrap around, which
    C's may: nobody need look."""
    return lambda *_: None


MENDS: Final[Mends] = {
    (InterpreterBuilder, "create_splat"): _truth_values_spread,
    (InterpreterBuilder, "create_atomic_rmw"): _atomics_lie_flat,
    (InterpreterBuilder, "create_atomic_cas"): _atomics_lie_flat,
    (InterpreterBuilder, "get_all_ones_value"): _all_ones_fit,
    (InterpreterBuilder, "create_maxnumf"): _numbers_win(numpy.fmax),
    (InterpreterBuilder, "create_minnumf"): _numbers_win(numpy.fmin),
    (TritonSemantic, "load"): _zeros_given,
    (TritonSemantic, "binary_op_sanitize_overflow_impl"): _integers_wrap,
    (interpreter, "_patch_lang_tensor"): _scalars_index,
    (interpreter.ReduceOps, "sum"): _sums_wrap,
}


def counted(*bounds: Any) -> Iterator[Any]:
    """``range`` whose numbers are scalars of the kernel: int64 if a bound is, else int32, as in compiled code.

    Python's own integers would never wrap around.
    """
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


# Functions that exist only as machine code; NumPy has the same.
LIBDEVICE: Final = SimpleNamespace(
    tanh=_elementwise(numpy.tanh),
    pow=_elementwise(numpy.power),
    fast_dividef=_elementwise(numpy.divide),
)
