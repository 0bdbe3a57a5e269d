"""A graph in which a loop runs over the forward's programs along one axis.

In ``c += a @ b``, all programs along one axis read the same tiles of a. So the gradient of a is a sum over these
programs, which one program can add up: a loop around all that depends on the program. What all programs share is
before the loop, and its gradient is stored after it, as that of any variable from before a loop.

Where a has other tiles in each iteration of the forward's loop, the iterations become programs along the axis
that is free now. That turns the backward of a product into two products. It takes a proof that the iterations only
add to what the loop carries (``loops.only_adds``). The forward's loop is gone from the graph then; its sums, and
what it leaves, have no value there, and ``assemble.py`` refuses a kernel that would read them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytriton.frozen import replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.graph import (
    Carried,
    Define,
    Item,
    Loop,
    Values,
    Write,
    defined_in,
    dependent,
    every,
    nodes_of,
    read_in,
    replaced,
    rewritten,
    values_in,
)
from pytriton.gradient.derive.loops import Growth, OnlyAdds, in_iteration, increments_of
from pytriton.gradient.derive.walk.growing import Growing, growing, is_counting_up, shared_mask
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Comments,
    Constexpr,
    Expr,
    Literal,
    Load,
    Name,
    Remark,
    Select,
    Symbol,
)
from pytriton.lang.tree.types import (
    INT,
    element_of,
)
from pytriton.lang.tree.walk import same, walk, with_children
from pytriton.source import Span


@dataclass(eq=False)
class Turned:
    """A graph in which a loop runs over the forward's programs. ``program``: the current one; ``part``: the first
    one, where several programs share the loop; ``count``: how many the forward has; ``unknown``:
    variables without a value; ``loads``: each load by what it was before; ``growing``: of a loop that runs longer
    in later programs.
    """

    items: list[Item]
    program: Symbol
    part: Symbol
    count: Symbol
    unknown: list[Symbol] = field(default_factory=list)
    loads: dict[Load, Load] = field(default_factory=dict)
    growing: Growing | None = None

    def changed(self, expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
        """The expression with its operands changed; a load is still known by what it was."""
        result = with_children(expr, change)
        if isinstance(result, Load) and isinstance(expr, Load):
            self.loads[result] = self.loads.get(expr, expr)
        return result


def turned(
    items: list[Item], axis: int, sums: OnlyAdds | None, summed: Collection[Load], where: Span, grows: bool
) -> Turned | None:
    """The graph with a loop over the programs along an axis; ``sums``: the loop whose iterations become programs;
    ``summed``: loads that all these programs share. ``grows``: not all programs run all iterations; None where it
    is not proven which do (walk/growing.py).
    """
    place = replace(where, end=where.start)
    named = next((item for item in items if isinstance(item, Define) and _asks(item.value, axis)), None)
    program = named.symbol if named is not None else Symbol(f"program_{axis}", INT, place)
    count = Symbol(f"grid_{axis}", INT, place, True)
    result = Turned([], program, Symbol("part", INT, place), count)

    def once(expr: Expr) -> Expr:
        for function, symbol in (("program_id", program), ("num_programs", count)):
            if _asks(expr, axis, function):
                return Name(expr.span, expr.type, symbol)
        return result.changed(expr, once)

    straight: list[Item] = []
    for item in items:
        if sums is not None and item is sums.loop:
            body = _without_loop(sums, axis, straight, result, once, summed if grows else None)
            if body is None:
                return None
            straight += body
        elif item is not named:
            straight.append(rewritten(item, once))
    shared = [new for new, old in result.loads.items() if old in summed]
    _, depending = _divided(straight, program)
    straight = [part for item in straight for part in (_split(item, shared) if item in depending else [item])]
    outside, inside = _divided(straight, program)
    walk = _products(result, outside, inside, place) if sums is not None else None
    result.items = [*outside, walk or _walk(result, inside, axis, sums is None, place)]
    return result


def _walk(result: Turned, body: list[Item], axis: int, shared: bool, place: Span) -> Loop:
    """The loop over the programs: all of them, or every n-th."""
    program, after = result.program, replace(result.program)
    many = f.number(1)
    start = f.number(0) if result.growing is None else result.growing.first
    if shared:
        start, many = f.named(result.part), f.of_grid("num_programs", axis)
    step = Define(after, f.add(f.named(program), many), Remark(place))
    carried = Carried(start, program, after, replace(program), True)
    end = f.named(result.count)
    for condition in result.growing.conditions if result.growing else ():
        end = f.select(condition, end, f.number(0))
    return _loop([carried], end, [*body, step], axis, place)


def _loop(carried: list[Carried], end: Expr, body: list[Item], axis: int, place: Span) -> Loop:
    comments = Comments((f"the forward's programs along axis {axis}, one after another",))
    test = f.binary("<", f.named(carried[0].inside), end)
    return Loop(carried, test, body, Remark(place, comments))


def _split(item: Item, shared: Sequence[Load]) -> list[Item]:
    """Loads that all programs share get variables of their own, so that they can move before the loop."""
    loads = [load for load in nodes_of([item], Load) if load in shared]
    if (
        not loads
        or not isinstance(item, Define | Write)
        or (isinstance(item, Define) and item.value in loads)
    ):
        return [item]
    before: list[Item] = []
    named: dict[Expr, Expr] = {}
    for load in loads:
        symbol = Symbol(f"shared_{_pointed(load)}", load.type, load.span)  # type: ignore[arg-type]
        before.append(Define(symbol, load, Remark(load.span)))
        named[load] = f.named(symbol)

    return [*before, rewritten(item, lambda expr: replaced(expr, named))]


def _pointed(load: Load) -> str:
    """The name of the pointer that a load begins with."""
    inner = (node.symbol for node in walk(load.pointer) if isinstance(node, Name))
    return next(symbol.name for symbol in inner if f.is_pointer(symbol))


def _divided(items: list[Item], program: Symbol) -> tuple[list[Item], list[Item]]:
    """The statements that do not depend on a program, and those that do; all writes do."""
    inside = dependent(items, [program], lambda item: any(isinstance(part, Write) for part in every([item])))
    return [item for item in items if item not in inside], inside


def _asks(expr: Expr | None, axis: int, function: str = "program_id") -> bool:
    if not isinstance(expr, Call) or expr.function != function:
        return False
    (which,) = expr.arguments
    return isinstance(which, Literal) and int(which.value) == axis


def _without_loop(
    sums: OnlyAdds,
    axis: int,
    before: Sequence[Item],
    result: Turned,
    change: Callable[[Expr], Expr],
    grown: Collection[Load] | None,
) -> list[Item] | None:
    """The body of a loop in iteration ``step``, which is the id of the backward's program along the axis.

    ``grown``: the loads that are shared by all programs which run it, where that is not all of them; the result is
    None where it is not proven which programs do.
    """
    loop = sums.loop
    where = replace(loop.statement.span, end=loop.statement.span.start)
    step = Symbol("step", INT, where)
    number = f.of_grid("program_id", axis)
    values = values_in(before)
    moved: dict[tuple[Symbol, Expr], Define] = {}
    starts: list[Item] = []
    for carry in loop.carried:
        value = in_iteration(carry, loop, Name(where, INT, step), values, moved)
        if value is None:
            result.unknown.append(carry.inside)
        if carry.last is not carry.inside:  # unknown in an iteration
            result.unknown.append(carry.after)
        starts.append(rewritten(Define(carry.inside, value, Remark(where)), change))
    body = [rewritten(item, change) for item in loop.body]
    if grown is not None:
        definitions = {**values, **values_in(body)}
        condition = None if loop.condition is None else change(loop.condition)
        result.growing = proof = growing(condition, definitions, result.program, result.count)
        counter = next((carry for carry in loop.carried if proof and carry.inside is proof.counter), None)
        if counter is None or not is_counting_up(counter.before, increments_of(counter, loop)):
            return None
        masked = _with_shared_masks(body, grown, definitions, result)
        if masked is None:
            return None
        body = masked
    ends = [Define(carry.after, f.named(carry.last), Remark(where)) for carry in loop.carried]
    return [Define(step, number, Remark(where)), *moved.values(), *starts, *body, *ends]


def _with_shared_masks(
    body: Sequence[Item], shared: Collection[Load], values: Values, result: Turned
) -> list[Item] | None:
    """The statements with the mask of the last program for loads that all programs share, of which each takes what
    its own mask has. None where that is not known.
    """
    proof, is_known = result.growing, True
    assert proof is not None

    def masked(expr: Expr) -> Expr:
        nonlocal is_known
        changed = result.changed(expr, masked)
        if not isinstance(changed, Load) or result.loads[changed] not in shared:
            return changed
        mask = None if changed.mask is None else shared_mask(changed.mask, proof, values)
        if mask is None or changed.mask is None:
            is_known = False
            return changed
        whole = replace(changed, mask=mask, other=None)
        result.loads[whole] = result.loads[changed]
        other = changed.other or Literal(expr.span, element_of(expr.type), 0)
        return Select(expr.span, expr.type, changed.mask, whole, other)

    masked_body = [rewritten(item, masked) for item in body]
    return masked_body if is_known else None


def _products(result: Turned, outside: list[Item], inside: list[Item], place: Span) -> Loop | None:
    """The loop of a product: over the elements that tiles begin with, and with pointers that it moves."""
    program = result.program
    tiles = [factor for node in nodes_of(every(inside), Binary) for factor in _factors(node, program)]
    if not tiles or not all(
        isinstance(factor, Constexpr | Literal) and same(factor, tiles[0]) for factor in tiles
    ):
        return None
    tile = tiles[0]
    first = Symbol("first", INT, place)
    body = [_in_elements(item, program, first, result) for item in inside]
    if program in read_in(body):
        return None
    definitions = values_in(body)
    steps = Growth(first, definitions, defined_in(item for item in body if not isinstance(item, Define)))
    starts = {symbol: replace(symbol) for symbol in definitions}
    ends: list[Item] = []
    after = replace(first)
    end = f.binary("*", f.named(result.count), tile)
    carried = [Carried(f.number(0), first, after, replace(first), True)]
    kept: list[Item] = []
    for item in body:
        step = steps.of(item.value) if isinstance(item, Define) and item.value is not None else None
        if isinstance(item, Define) and item.value is not None and step is not None:
            outside.append(Define(starts[item.symbol], _at_start(item.value, first, starts), item.statement))
            if f.is_pointer(item.symbol):
                by = tile if isinstance(step, int) else f.binary("*", tile, step)
                moved = replace(item.symbol)
                start = f.named(starts[item.symbol])
                carried.append(Carried(start, item.symbol, moved, replace(item.symbol), False))
                ends.append(Define(moved, f.binary("+", f.named(item.symbol), by), Remark(place)))
                continue
        kept.append(item)
    ends.append(Define(after, f.add(f.named(first), tile), Remark(place)))
    axis = int(result.count.name.removeprefix("grid_"))
    return _loop(carried, end, [*kept, *ends], axis, place)


def _factors(expr: Expr, program: Symbol) -> Iterable[Expr]:
    """The factors of a program's number."""
    if isinstance(expr, Binary) and expr.operator == "*":
        for factor, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if isinstance(factor, Name) and factor.symbol is program:
                yield other


def _in_elements(item: Item, program: Symbol, first: Symbol, result: Turned) -> Item:
    """The same by the number of the first element of a tile, for ``program * tile``."""

    def change(expr: Expr) -> Expr:
        if any(True for _ in _factors(expr, program)):
            return Name(expr.span, expr.type, first)
        return result.changed(expr, change)

    return rewritten(item, change) if isinstance(item, Define | Write) else item


def _at_start(expr: Expr, first: Symbol, starts: Mapping[Symbol, Symbol]) -> Expr:
    """The expression where the first tile is; nothing is added to 0."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Name) and node.symbol in starts:
            return Name(node.span, node.type, starts[node.symbol])
        if isinstance(node, Binary) and node.operator == "+":
            for part, other in ((node.left, node.right), (node.right, node.left)):
                inner = part.operand if isinstance(part, Broadcast) else part
                if isinstance(inner, Name) and inner.symbol is first and other.type == node.type:
                    return change(other)
        if isinstance(node, Name) and node.symbol is first:
            return f.number(0)
        return with_children(node, change)

    return change(expr)
