"""Values of the interpreter as NumPy arrays of the user's shapes and types."""

from __future__ import annotations

from typing import Any

import numpy
import triton.language as tl

from pytriton.runtime.interpret.bfloat16 import floats_of

__all__ = ["array_of"]


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
