"""How large Triton's blocks are: the limits that the checker enforces, and passes and emitter rely on."""

from __future__ import annotations

from typing import Final

from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.typed import Dot
from pytriton.lang.tree.types import CHAR, ScalarType, shape_of

__all__ = ["MAX_BLOCK_ELEMENTS", "has_product", "min_depth", "padded"]

MAX_BLOCK_ELEMENTS: Final = 1 << 20  # Triton's own limit


def padded(size: int) -> int:
    """The next power of two: the size that Triton gives to an axis of so many elements."""
    return 1 << (size - 1).bit_length()


def min_depth(element: ScalarType) -> int:
    """The least inner size that ``tl.dot`` takes."""
    return 32 if element == CHAR else 16


def has_product(product: Dot) -> bool:
    """Whether ``tl.dot`` computes a product; two axes are widened to a depth that it accepts."""
    shape, element = shape_of(product.left.type), scalar_of(product.left.type)
    if element is None or not (element.is_float or element == CHAR):
        return False
    return len(shape) == 2 or padded(shape[1]) >= min_depth(element)
