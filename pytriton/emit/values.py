"""What Triton makes of an expression: its element type, as Triton's own rules give it.

A ``Value`` is a printed expression with what Triton will think of it. ``strong`` and ``weak`` say what it may
be when the kernel runs: a tensor of that type, or a bare Python number that takes the type of what it meets.
A literal is weak; an ``int`` parameter may be either, as Triton turns the value 1 into a constant, and so may
the variable of a ``range`` loop, which the interpreter keeps as a Python int. ``number`` is the one that it is
then, which Python computes with more digits than C; ``natural`` says that it is at least 0 then.

``promoted`` repeats the promotions of Triton 3.6 to 3.9 (``computation_type_impl``), so that the emitter casts
where they differ from C and nowhere else.
"""

from __future__ import annotations

from functools import cache

from pytriton.emit.python import Node
from pytriton.frozen import record
from pytriton.lang.tree.types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    ElementType,
    PointerType,
    ScalarType,
)

__all__ = ["Value", "promoted", "shifts"]


@record
class Value:
    """A Python expression, Triton's element type for it, and whether it may be a tensor, a number, or both."""

    node: Node
    element: ElementType
    strong: bool = True
    weak: bool = False
    number: int | float | None = None  # None: not known, as of the variable of a loop
    natural: bool = False


def _kind(type_: ScalarType) -> int:
    return 0 if type_.bits == 1 else 2 if type_.is_float else 1


def promoted(left: Value, right: Value, *, division: bool = False) -> ScalarType | None:
    """The type in which Triton computes on two numbers; None if it refuses or if that depends on the run."""
    if isinstance(left.element, PointerType) or isinstance(right.element, PointerType):
        return None
    return _only(left.element, left.strong, left.weak, right.element, right.strong, right.weak, division)


@cache  # of a dozen types
def _only(
    left: ScalarType,
    left_strong: bool,
    left_weak: bool,
    right: ScalarType,
    right_strong: bool,
    right_weak: bool,
    division: bool,
) -> ScalarType | None:
    """The type of all cases that can be, if it is the same."""
    types = {
        _computation(left, left_bare, right, right_bare, division)
        for left_bare, left_possible in ((False, left_strong), (True, left_weak))
        for right_bare, right_possible in ((False, right_strong), (True, right_weak))
        if left_possible and right_possible
    }
    return types.pop() if len(types) == 1 else None


def _computation(
    left: ScalarType, left_weak: bool, right: ScalarType, right_weak: bool, division: bool
) -> ScalarType | None:
    if left_weak and right_weak:
        # Python's own arithmetic: exact on integers, double on floats; it gets its type where it is used.
        if left.is_float or right.is_float:
            return left if left.is_float else right
        return LONG if LONG in (left, right) else INT
    if left_weak != right_weak:
        number, tensor = (left, right) if left_weak else (right, left)
        if number.is_float:  # Triton takes a Python float for a float32, whatever it stands for
            number = FLOAT
        elif _kind(number) > _kind(tensor):  # and an integer for an int32 if it fits
            if number.bits > 32 or number.kind == "uint":
                return None
            number = INT
        left, right = number, tensor
        if _kind(number) <= _kind(tensor):
            left = right = tensor
    if DOUBLE in (left, right):
        return DOUBLE
    if division and (left.is_float or right.is_float):
        return FLOAT
    if FLOAT in (left, right):
        return FLOAT
    if HALF in (left, right):
        return HALF
    if BFLOAT16 in (left, right):
        return BFLOAT16 if left == right else FLOAT
    if division and left.kind != right.kind:
        return None
    if left.kind == right.kind or left.signed == right.signed:
        return left if left.bits >= right.bits else right
    unsigned, signed = (left, right) if not left.signed else (right, left)
    return unsigned if unsigned.bits >= signed.bits else signed


def shifts(first: Value, second: Value, common: ScalarType) -> bool:
    """Whether a shift is one of the common type: of a bare number Triton asks the other operand for its sign."""
    return first.element == common and (not first.weak or second.element == common)
