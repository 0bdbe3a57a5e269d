"""What a value of Triton-C is, and C's conversions between its types, in NumPy.

A ``Value`` is a NumPy array of the block's shape (() for a scalar) with shadows, each None where it is
nothing everywhere:

- ``bad``: the elements that the language leaves unspecified (masked off, divided by zero, never assigned ...).
  They spread through arithmetic, and are reported only where they reach memory, an address or a branch;
- ``error``: by how much another right implementation may differ (order of a sum, last digits of ``exp``);
- ``fused``: the rounding of a product that a following sum may skip, where the rules allow that;
- ``terms``: what a product of matrices summed up, as a following sum may be one more term of it.

Element types are held as: bool, the integers, half, float and double in NumPy's own; bfloat16 in float32 with
its low 16 bits zero; pointers as int64 addresses. Written from language.md, sections 2 and 4; nothing here is
shared with what it judges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pytriton.lang.tree.types import BFLOAT16, BOOL, DOUBLE, FLOAT, HALF, ElementType, PointerType, ScalarType

__all__ = [
    "SMALLEST",
    "Array",
    "Terms",
    "Value",
    "both",
    "broadcast",
    "converted",
    "dtype_of",
    "round_bfloat16",
    "rounded",
    "ulp",
]

Array = np.ndarray

_FLOATS = {HALF: np.float16, BFLOAT16: np.float32, FLOAT: np.float32, DOUBLE: np.float64}
_DIGITS = {HALF: 11, BFLOAT16: 8, FLOAT: 24, DOUBLE: 53}
SMALLEST = {HALF: -24, BFLOAT16: -133, FLOAT: -149, DOUBLE: -1074}


def dtype_of(element: ElementType) -> np.dtype:
    """The NumPy type that holds elements of this type."""
    if isinstance(element, PointerType):
        return np.dtype(np.int64)
    if element.is_float:
        return np.dtype(_FLOATS[element])
    if element == BOOL:
        return np.dtype(np.bool_)
    return np.dtype(f"{'i' if element.signed else 'u'}{element.bits // 8}")


@dataclass(frozen=True, slots=True)
class Terms:
    """``count`` terms, multiples of ``granule``, whose absolute values add up to ``size``."""

    size: Array
    count: int
    granule: float


@dataclass(slots=True)
class Value:
    """Elements and their shadows; see the head of this file."""

    data: Array
    bad: Array | None = None
    error: Array | None = None
    fused: Array | None = None
    terms: Terms | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def mapped(self, change) -> Value:  # type: ignore[no-untyped-def]
        """The same change of shape on the elements and every shadow."""
        shadows = (None if s is None else change(s) for s in (self.bad, self.error, self.fused))
        terms = self.terms and replace(self.terms, size=change(self.terms.size))
        return Value(change(self.data), *shadows, terms)

    def spread(self) -> Array:
        """``error``, zeros where there is none."""
        return np.zeros(self.shape) if self.error is None else self.error


def broadcast(value: Value, shape: tuple[int, ...]) -> Value:
    """The value repeated to a shape by NumPy's rules; shadows always have the shape of the data."""
    if value.shape == shape:
        return value
    return value.mapped(lambda array: np.broadcast_to(array, shape))


def both(*shadows: Array | None) -> Array | None:
    """Where any of the shadows ``bad`` holds."""
    found: Array | None = None
    for shadow in shadows:
        if shadow is not None and shadow.any():
            found = shadow if found is None else found | shadow
    return found


def ulp(data: Array, type_: ScalarType) -> Array:
    """The distance between neighbouring numbers of a floating type near these, as float64."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(data), data, 0).astype(np.float64))
    exponent = np.where(np.isfinite(data) & (data != 0), exponent - _DIGITS[type_], SMALLEST[type_])
    return np.ldexp(1.0, np.maximum(exponent, SMALLEST[type_]))


def round_bfloat16(data: Array) -> Array:
    """float32 or float64 rounded once to bfloat16, to nearest even, held in float32."""
    with np.errstate(all="ignore"):
        narrow = np.asarray(data).astype(np.float32)
        if data.dtype == np.float64:  # round to odd first, or the two roundings would add up
            away = np.abs(narrow.astype(np.float64)) > np.abs(data)
            narrow = np.where(away, np.nextafter(narrow, np.float32(0)), narrow)
            inexact = (narrow.astype(np.float64) != data) & np.isfinite(data)
            narrow = (narrow.view(np.uint32) | inexact).astype(np.uint32).view(np.float32)
    bits = np.ascontiguousarray(narrow).view(np.uint32).reshape(narrow.shape)
    up = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(narrow), narrow, up.astype(np.uint32).view(np.float32))


def rounded(data: Array, type_: ScalarType) -> Array:
    """float64 (or narrower) results rounded to a floating type."""
    if type_ == BFLOAT16:
        return round_bfloat16(data)
    with np.errstate(all="ignore"):
        return np.asarray(data).astype(_FLOATS[type_])


def converted(value: Value, have: ElementType, want: ElementType) -> Value:
    """C's conversion of elements (C11 6.3.1)."""
    if have == want:
        return value
    if isinstance(have, PointerType) or isinstance(want, PointerType):
        if want == BOOL:  # "a pointer converts to bool as not null"
            return Value(value.data != 0, value.bad)
        return Value(value.data.astype(np.int64) if isinstance(want, PointerType) else value.data, value.bad)
    if want == BOOL:
        return _to_bool(value)
    if not want.is_float:
        return _to_integer(value, have, want)
    return _to_float(value, have, want)


def _to_bool(value: Value) -> Value:
    bad = value.bad
    if value.error is not None:
        bad = both(bad, (np.abs(value.data.astype(np.float64)) <= value.error) & (value.error > 0))
    return Value(value.data != 0, bad)


def _to_integer(value: Value, have: ScalarType, want: ScalarType) -> Value:
    dtype = dtype_of(want)
    if not have.is_float:
        return Value(value.data.astype(dtype), value.bad)  # wraps, sign extends
    data = value.data.astype(np.float64)
    low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
    with np.errstate(all="ignore"):
        whole = np.trunc(data)
        # 2**63 - 1 is no float64; the next one up is out of range itself
        outside = ~((whole >= low) & ((whole <= high) if want.bits < 64 else (whole < high)))
        bad = both(value.bad, outside)
        if value.error is not None:
            bad = both(bad, np.trunc(data - value.error) != np.trunc(data + value.error))
        kept = np.where(outside, 0, whole)
        return Value(kept.astype(dtype), bad)


def _to_float(value: Value, have: ScalarType, want: ScalarType) -> Value:
    with np.errstate(all="ignore"):
        if have.is_float:
            data = rounded(value.data, want)
        elif want == DOUBLE:
            data = value.data.astype(np.float64)
        else:
            data = _from_integer(value.data, want)
        error = value.error
        narrows = _DIGITS[want] < (64 if not have.is_float else _DIGITS[have])
        if narrows and want != FLOAT and want != DOUBLE:
            # C11 6.3.1.4/5: "either the nearest higher or nearest lower"; by way of float is right too
            through = rounded(rounded(value.data.astype(np.float64), FLOAT), want)
            differs = (through != data) & ~np.isnan(data)
            error = _add(error, np.where(differs, ulp(data, want), 0.0)) if differs.any() else error
        if error is not None and narrows:
            error = error + np.where(error > 0, ulp(data, want), 0.0)
        return Value(data, value.bad, error)


def _from_integer(data: Array, want: ScalarType) -> Array:
    """An integer rounded once to float, half or bfloat16."""
    if want == FLOAT:
        return data.astype(np.float32)
    if data.dtype.itemsize < 8 or want == HALF:
        # exact in float64 below 2**53; beyond that half is infinite anyway
        return rounded(data.astype(np.float64), want)
    # beyond 2**53: the low bits only say on which side of a tie the number lies
    high = data >> np.asarray(16, data.dtype)
    sticky = (data & np.asarray(0xFFFF, data.dtype)) != 0
    large = (high.astype(np.float64) + np.where(sticky, 0.25, 0.0)) * 65536.0
    wide = data.astype(np.float64)
    return round_bfloat16(np.where(np.abs(wide) >= 2.0**53, large, wide))


def _add(left: Array | None, right: Array) -> Array:
    return right if left is None else left + right
