"""Patches for Triton's interpreter, in force while a kernel runs on it (``patched``).

Each function here takes a method of the interpreter and returns its replacement; ``PATCHES`` lists where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final

import numpy

from pytriton.compat.interpreter_names import (
    InterpreterBuilder,
    ReduceOps,
    TensorHandle,
    TritonSemantic,
    interpreter,
    native_interpreter,
    tl,
)
from pytriton.runtime.bfloat16 import bits_of, floats_of

# Owner and name -> a function from the original to its replacement.
Patches = Mapping[tuple[Any, str], Callable[[Any], Any]]


@contextmanager
def patched(replacements: Patches) -> Iterator[None]:
    """While the body runs, the methods are the patched ones.

    Its end also puts back what Triton's interpreter replaced in ``triton.language``: that one forgets it if Ctrl-C
    comes while it replaces functions or puts them back.
    """
    changes: list[tuple[Any, str, Any]] = []  # with what was there before, or ``...``

    def set_attr(owner: Any, name: str, value: Any) -> None:
        changes.append((owner, name, getattr(owner, name, ...)))
        setattr(owner, name, value)

    def put_back() -> None:
        try:
            for owner, name, original in reversed(changes):
                if original is not ...:
                    setattr(owner, name, original)
                elif name in vars(owner):
                    delattr(owner, name)
        except BaseException:  # Ctrl-C; what stayed replaced would break all that is compiled later
            put_back()
            raise

    try:
        set_attr(
            interpreter,
            "_LangPatchScope",
            lambda: SimpleNamespace(set_attr=set_attr, restore=lambda: None),
        )
        for (owner, name), replacement in replacements.items():
            set_attr(owner, name, replacement(getattr(owner, name, None)))
        yield
    finally:
        put_back()
        changes.clear()  # it is in a cycle


def _truth_values_spread(splat: Any) -> Any:
    """A comparison's handle bears the type of its operands, so a scalar truth value that is spread over a block
    comes out as int32 or worse, and is no longer a mask. Here the block is one of truth values."""

    def create_splat(self: Any, type_: Any, scalar: Any) -> Any:
        if scalar.data.dtype != numpy.bool_:
            return splat(self, type_, scalar)
        return TensorHandle(numpy.full(type_.shape, scalar.data.item()), tl.int1)

    return create_splat


def _scalars_index(patch: Any) -> Any:
    # Triton 3.7: a scalar becomes an index, as for ``range``, through an array of one element, which NumPy 2.4
    # refuses.

    def patch_lang_tensor(tensor: Any, *others: Any) -> None:
        patch(tensor, *others)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    return patch_lang_tensor


def _zeros_given(load: Any) -> Any:
    """A load asks ``if other`` where it means ``is not None``, and a scalar zero is false there, so that -0.0
    became 0.0."""

    def patched_load(self: Any, *arguments: Any) -> Any:
        truth = tl.tensor.__bool__
        tl.tensor.__bool__ = lambda _: True
        try:
            return load(self, *arguments)
        finally:
            tl.tensor.__bool__ = truth

    return patched_load


def _atomics_lie_flat(create: Any) -> Any:
    # Triton 3.8: an atomic reads its operands as if they were contiguous, which a broadcast block is not.

    def flat(operand: Any) -> Any:
        if not isinstance(operand, TensorHandle):
            return operand
        return TensorHandle(numpy.ascontiguousarray(operand.data), operand.dtype)

    return lambda self, *operands: create(self, *map(flat, operands))


def _numbers_win(choose: Any) -> Callable[[Any], Any]:
    # Triton 3.7: the larger of a number and a NaN is the NaN; on a GPU it is the number.
    return lambda _: lambda self, left, right: self.binary_op(left, right, choose)


def _sums_wrap(reduce: Any) -> Any:
    """A sum of int32 is one of int64 to NumPy, and what did not fit was refused; it wraps around in its width."""

    def patched_sum(self: Any, operand: Any) -> Any:
        data = operand.handle.data
        if data.dtype.kind not in "iu":
            return reduce(self, operand)
        total = numpy.sum(data, axis=self.axis, keepdims=self.keep_dims, dtype=data.dtype)
        return self.to_tensor(total, operand.dtype)

    return patched_sum


def _all_ones_fit(all_ones: Any) -> Any:
    """``~x`` of an unsigned integer requests -1 from NumPy, which NumPy 2 refuses."""

    def get_all_ones_value(self: Any, type_: Any) -> Any:
        bits = type_.scalar.primitive_bitwidth
        if bits == 1 or not type_.scalar.is_int_unsigned():
            return all_ones(self, type_)
        dtype = numpy.dtype(f"u{bits // 8}")
        return TensorHandle(numpy.full(1, numpy.iinfo(dtype).max, dtype), type_.scalar)

    return get_all_ones_value


def _integers_wrap(_: Any) -> Any:
    """Sums, differences and products of integers are done twice, in int64 to see whether they wrap around, which
    C's may."""
    return lambda *_: None


PATCHES: Final[Patches] = {
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
    for number in range(*bounds):
        yield tensor(numpy.array([number], str(type_)), type_)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function on the interpreter's tensors; the result has the type of the first operand."""

    def apply(*operands: Any) -> Any:
        arrays = [operand.handle.data for operand in operands]
        largest = max(operands, key=lambda operand: operand.handle.data.size)
        return tensor(numpy.asarray(function(*arrays), arrays[0].dtype), largest.type)

    return apply


# Functions that exist only as machine code; NumPy has the same.
LIBDEVICE: Final = SimpleNamespace(
    tanh=_elementwise(numpy.tanh),
    pow=_elementwise(numpy.power),
    fast_dividef=_elementwise(numpy.divide),
)


# bfloat16 on Triton's interpreter: NumPy has no such type, and the interpreter falls back to uint16.
#
# It then adds, compares and sums the *bit patterns*, and cuts digits off where a GPU rounds. ``EXACT_BFLOAT16``
# patches the few methods through which all arithmetic goes: operands become float, the result is rounded to
# nearest, ties to even, as on a GPU. Moving values (loads, stores, selects, reshapes) needs no help.


Method = Callable[..., Any]


def _widened(handle: Any) -> Any:
    """A bfloat16 operand as float, exactly; anything else as it is."""
    is_narrow = isinstance(handle, TensorHandle) and handle.dtype.scalar is tl.bfloat16
    if not is_narrow or handle.data.dtype != numpy.uint16:
        return handle
    return TensorHandle(floats_of(handle.data), tl.float32)


def _in_float(method: Method) -> Method:
    """Arithmetic in float; the result has the type of the first operand, or that of truth values."""

    def wrapped(self: Any, first: Any, *others: Any) -> Any:
        wide = _widened(first)
        result = method(self, wide, *map(_widened, others))
        if wide is first:
            return result
        if result.data.dtype == bool:
            return TensorHandle(result.data, tl.int1)
        return TensorHandle(bits_of(result.data), tl.bfloat16)

    return wrapped


def _cast_through_float(method: Method) -> Method:
    def wrapped(self: Any, source: Any, target: Any, *others: Any) -> Any:
        wide = _widened(source)
        if target.scalar is tl.bfloat16:
            return TensorHandle(bits_of(wide.data), tl.bfloat16)
        return method(self, source, target, *others) if wide is source else self.cast_impl(wide, target)

    return wrapped


def _dot_in_float(method: Method) -> Method:
    """A product of bfloat16 blocks; the accumulator has a type of its own."""
    return lambda self, *operands: method(self, *map(_widened, operands))


def _reduce_in_float(method: Method) -> Method:
    """Reductions take tuples of ``tl.tensor``."""

    def wrapped(self: Any, operands: Any) -> Any:
        if all(operand.dtype is not tl.bfloat16 for operand in operands):
            return method(self, operands)
        results = self.apply(tuple(tl.core.cast(operand, tl.float32) for operand in operands))
        return [tl.core.cast(result, tl.bfloat16) for result in results]

    return wrapped


def _constant(_: Method) -> Method:
    # Triton 3.8: there is no bfloat16 constant.
    return lambda self, value: TensorHandle(bits_of([value]), tl.bfloat16)


def _fma(method: Method) -> Method:
    """Triton before 3.9 rounds a product before something is added to it."""

    def fused(x: float, y: float, z: float) -> float:
        if not all(map(math.isfinite, (x, y, z))):
            return x * y + z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        return float(exact) if exact else x * y + z  # of a zero the sign

    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        if z.data.dtype != numpy.float64:
            return method(self, x, y, z)
        data = numpy.vectorize(fused, otypes=[float])(x.data, y.data, z.data)
        return TensorHandle(data, z.dtype.scalar)

    return _in_float(method if hasattr(native_interpreter, "fma_fp64") else create_fma)


EXACT_BFLOAT16: Final[Patches] = {
    (InterpreterBuilder, "binary_op"): _in_float,
    (InterpreterBuilder, "unary_op"): _in_float,
    (InterpreterBuilder, "create_fma"): _fma,
    (InterpreterBuilder, "cast_impl"): _cast_through_float,
    (InterpreterBuilder, "create_fp_to_fp"): _cast_through_float,
    (InterpreterBuilder, "create_dot"): _dot_in_float,
    (InterpreterBuilder, "get_bf16"): _constant,
    (ReduceOps, "apply_impl"): _reduce_in_float,
}


# Values of the interpreter, and as NumPy arrays of the user's shapes and types.


def tensor(data: Any, type_: Any) -> Any:
    return tl.tensor(TensorHandle(data, type_.scalar), type_)


def array_of(value: Any, shape: tuple[int, ...]) -> Any:
    """The elements of a value, or of a number; bfloat16 as float. ``shape`` is without what pads it; axes that the
    value lacks, or has only one element of, are left so."""
    if not isinstance(value, tl.tensor):
        return numpy.asarray(getattr(value, "value", value))
    data = value.handle.data
    if value.dtype == tl.bfloat16:
        data = floats_of(data)
    if not value.type.is_block():
        return data.reshape(())
    axes = shape[len(shape) - data.ndim :]
    return data[tuple(slice(size) for size in axes)]


def spread(value: Any, shape: tuple[int, ...]) -> Any:
    """The same, with all elements of the shape."""
    return numpy.broadcast_to(array_of(value, shape), shape)
