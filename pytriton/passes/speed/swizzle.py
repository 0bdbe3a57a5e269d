"""Program ids in groups, for the level-2 cache: a variant that tuning may add to a sweep.

Programs start in the order of axis 0. A wave of them then reads a few columns of tiles and all rows; in
groups of ``group`` along axis 0 it reads a patch of both, which is less. The new ids are a bijection of the
launch grid, and nothing orders the programs of a launch, so this is exact for every kernel.

A negative group has another purpose: if a loop runs longer in programs further along axis 0, as under a causal
mask, the last programs take longest, and at the end most of the GPU waits for a few. So in each ``-group`` columns
along axis 1 the programs start from the end of axis 0:

    pid_0 = tl.num_programs(0) - 1 - inside // high
    pid_1 = first + inside % high

Gain: half products of 8192 on an H200 with Triton 3.6, 631 TFLOP/s for 577 to 626; at 4096 it costs a little;
causal attention 431 for 397 (benchmarks/NOTES.md).
Switch: ``Settings.swizzle``, which tuning sets for its best few configs (tuning/sweep.py).
Try without it: tuning measures both every time.
"""

from __future__ import annotations

from typing import Final

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import INT
from pytriton.lang.tree.walk import map_expressions, statements, walk, with_children
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import nodes, sources, values_of
from pytriton.source import Span

GROUP: Final = 8  # programs along axis 0 that start together, where tuning tries it


def can_swizzle(kernel: typed.KernelDef) -> bool:
    """Whether the kernel uses its program ids on both axes 0 and 1."""
    calls = nodes(kernel.body, typed.Call)
    return {0, 1} <= {constant(call.arguments[0]) for call in calls if call.function == "program_id"}


def swizzle(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel with its program ids of the axes 0 and 1 in groups along axis 0, if requested."""
    if not context.settings.swizzle:
        return kernel
    start, row, column = _start(kernel.span, context.settings.swizzle)

    def changed(expr: typed.Expr) -> typed.Expr:
        if isinstance(expr, typed.Call) and expr.function == "program_id":
            axis = constant(expr.arguments[0])
            symbol = {0: row, 1: column}.get(axis)  # type: ignore[arg-type]
            return expr if symbol is None else typed.Name(expr.span, INT, symbol)
        return with_children(expr, changed)

    return replace(kernel, body=(*start, *map_expressions(kernel.body, changed)))


def grows(kernel: typed.KernelDef) -> bool:
    """Whether it has a loop whose end depends on the program id along axis 0."""
    values = values_of(kernel.body)
    ends = [loop.stop for loop in statements(kernel.body) if isinstance(loop, typed.RangeLoop)]
    deciding = (
        node for symbol in sources(ends, values) for value in values.get(symbol, ()) for node in walk(value)
    )
    calls = (node for node in deciding if isinstance(node, typed.Call) and node.function == "program_id")
    return any(constant(call.arguments[0]) == 0 for call in calls)


def _start(span: Span, group: int) -> tuple[typed.Body, typed.Symbol, typed.Symbol]:
    """The statements that compute the new ids, and their variables."""
    body: list[typed.Declare] = []
    grouped = 0 if group > 0 else 1  # the axis

    def ask(function: str, axis: int) -> typed.Expr:
        return typed.Call(span, INT, function, (typed.Literal(span, INT, axis),))

    def calculate(left: typed.Expr, operator: str, right: typed.Expr) -> typed.Expr:
        return typed.Binary(span, INT, operator, left, right)

    def let(name: str, value: typed.Expr) -> typed.Symbol:
        symbol = typed.Symbol(name, INT, span)
        body.append(typed.Declare(span, symbol, value))
        return symbol

    def use(symbol: typed.Symbol) -> typed.Expr:
        return typed.Name(span, INT, symbol)

    size = typed.Literal(span, INT, abs(group))
    line = calculate(ask("program_id", 1), "*", ask("num_programs", 0))
    place = let("pid", calculate(line, "+", ask("program_id", 0)))
    group_size = let("whole", calculate(size, "*", ask("num_programs", 1 - grouped)))
    first = let("first", calculate(calculate(use(place), "/", use(group_size)), "*", size))
    left = calculate(ask("num_programs", grouped), "-", use(first))
    high = let("high", typed.Call(span, INT, "min", (left, size)))
    inside = let("inside", calculate(use(place), "%", use(group_size)))
    within = calculate(use(first), "+", calculate(use(inside), "%", use(high)))
    along = calculate(use(inside), "/", use(high))
    if grouped == 0:
        row, column = let("pid_0", within), let("pid_1", along)
        comment = f"programs in groups of {group}, for the level-2 cache"
    else:
        last = calculate(ask("num_programs", 0), "-", typed.Literal(span, INT, 1))
        row, column = let("pid_0", calculate(last, "-", along)), let("pid_1", within)
        comment = "the longest programs first"
    body[0] = replace(body[0], comments=typed.Comments((comment,)))
    return tuple(body), row, column
