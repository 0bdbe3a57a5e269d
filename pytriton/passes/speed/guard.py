"""A loop that sums products -> the same loop under an ``if`` that tests whether it runs at all.

A Hopper GPU computes the product of one iteration while the program is in the next. ptxas allows this if nothing
else writes the registers of the sum between the first product and the wait after the loop. A loop that may not run
has a second path to that wait, on which the sum is zero. If LLVM initialises the registers on that path alone,
ptxas makes the program wait for each product, 4 times per iteration (Triton 3.6; message C7515). With

    if K > 0:
        for k in range(0, K, TK):
            ...

that wait is inside, and both paths join after it: the same iterations, and 175 registers for 175.

LLVM does so if the code after the loop shares a value with it that is not needed before: the number of the warp,
which determines its part of the left operand, and its row of the result if a row is as wide as a warp. (For
operands with rows that wide, it is needed before.) This affected the largest tiles of ``a @ ^b`` and ``^a @ ^b``.
Elsewhere, and under masks, the test gains nothing or costs registers, so it is not added.

Gain: ``^a @ ^b`` on an H200 with Triton 3.6 reaches 0.986, 0.923 and 0.996 of ``torch.mm`` at 2048, 4096 and 8192
for 0.907, 0.941 and 0.977; ``a @ ^b`` gains nothing (benchmarks/NOTES.md).
Switch: its row in ``PASSES``; off in ``portable`` code, as ``port`` writes it.
Try without it: with Triton 3.7, which sets the zeros before the branch, as 3.8 and 3.9 do.
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.recording import prefer
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.types import BOOL, Type, shape_of
from pytriton.lang.tree.walk import bodies, map_body, statements
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import counting, never_set, nodes

_WARP = 32 * 16  # bytes that a warp reads or writes at a time
_COMMENT = "under a test, so that ptxas overlaps the products of consecutive iterations"


def guard(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """``for k in range(0, K, TK)`` under ``if K > 0`` where that helps."""
    if context.settings.portable:
        return kernel
    stores = (store.value.type for store in statements(kernel.body) if isinstance(store, typed.Store))
    stored = {shape_of(type_) for type_ in stores if _fills_warp(type_)}
    if not stored or any(_fills_warp(load.type) for load in nodes(kernel.body, typed.Load)):
        return kernel
    fixed = never_set(kernel)

    def guarded(statement: typed.Statement) -> typed.Statement:
        if not isinstance(statement, typed.RangeLoop):
            return statement
        counts = counting(statement)
        bound = None if counts is None else counts[1]
        if not isinstance(bound, typed.Name) or bound.symbol not in fixed or not _sums(statement, stored):
            return statement
        zero = statement.start if statement.stop is bound else statement.stop
        condition = typed.Binary(statement.span, BOOL, ">", bound, zero)
        comments = typed.Comments((*statement.comments.above, _COMMENT))
        loop = replace(statement, comments=typed.Comments((), statement.comments.beside))
        return typed.If(statement.span, condition, (loop,), (), comments)

    return replace(kernel, body=map_body(kernel.body, guarded))


def _sums(loop: typed.RangeLoop, stored: set[tuple[int, ...]]) -> bool:
    """Whether a loop sums a product of one of those shapes, and loads without masks."""
    if any(map(bodies, loop.body)) or any(load.mask is not None for load in nodes(loop.body, typed.Load)):
        return False
    dots = nodes(loop.body, typed.Dot)
    return any(dot.accumulator is not None and shape_of(dot.type) in stored for dot in dots)


def _fills_warp(type_: Type) -> bool:
    """Whether a warp reads or writes one row of a matrix at a time."""
    shape, scalar = shape_of(type_), scalar_of(type_)
    if len(shape) != 2 or scalar is None:
        return False
    return prefer(shape[-1] * max(8, scalar.bits), "==", 8 * _WARP)
