"""Which elements a launch touches: is each read, or stored, once?

At a launch all integers are known, so addresses are computed. An offset is *affine*: a constant
and multiples of the places in a block, the program ids and the iterations of loops, each of which runs from 0
to a known end. Offsets differ for different places, programs and iterations where, taken by growing step,
each step is larger than the range of all before it, as digits are. Masks make ranges smaller: under ``rn <
n``, ``pn * TN + rn`` ends before n. What is not affine (an index from memory, a wrap-around by ``%``) is not
known to be touched once.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.graph import (
    Branch,
    Define,
    Item,
    Loop,
    Values,
    Write,
    every,
    read_in,
    set_in,
    values_in,
)
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Constexpr,
    Expand,
    Expr,
    Literal,
    Load,
    Name,
    Permute,
    Range,
    Reshape,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import PointerType, ScalarType, element_of, shape_of
from pytriton.lang.tree.walk import same, walk
from pytriton.passes.analysis.affine import (
    Affine,
    combine,
    dense,
    distinct,
    keeps_number,
    mirrored,
    reach,
    shorten,
    within,
)
from pytriton.passes.analysis.intervals import Grid, LaunchEvaluator

_SHIFTED: Final = ("shifted",)
_INVERSE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

# ("axis", 0), ("program", 1), ("iteration", loop), ("quotient" or "rest", axis, divisor)
Key = tuple[Any, ...]


@record
class Touched:
    """One access: where, under which conditions (each affine is at most 0), in which loops. ``exact``: whether
    these conditions are all that there are.
    """

    offset: Affine | None
    shape: tuple[int, ...]
    bounds: tuple[Affine, ...]
    loops: tuple[Loop, ...]
    exact: bool


Axes = Mapping[int, int | None]  # where axes go; None: one of a single element, which is repeated or dropped


def repeated_axes(shape: tuple[int, ...], to: tuple[int, ...]) -> Axes:
    """Where axes go that are repeated to another shape: the last ones stay the last."""
    lead = len(to) - len(shape)
    return {axis: lead + axis if size > 1 else None for axis, size in enumerate(shape)}


def moved_axes(expr: Expr) -> Axes | None:
    """Where the axes of the operand go; None where the operation does more than move its elements."""
    match expr:
        case Expand(axes=axes):
            return dict(enumerate(at for at, new in enumerate(axes) if not new))
        case Permute(order=order):
            return {axis: at for at, axis in enumerate(order)}
        case Broadcast(operand=operand):
            return repeated_axes(shape_of(operand.type), shape_of(expr.type))
        case Reshape(operand=operand):
            shape, inner = shape_of(expr.type), shape_of(operand.type)
            large = [axis for axis, size in enumerate(shape) if size > 1]
            old = [axis for axis, size in enumerate(inner) if size > 1]
            if [shape[axis] for axis in large] == [inner[axis] for axis in old]:
                return dict.fromkeys(range(len(inner))) | dict(zip(old, large, strict=True))
    return None


def moved(affine: Affine, places: Axes) -> Affine:
    """Axes numbered anew; what goes to None has size 1."""
    terms = {key: step for key, step in affine.terms.items() if key[0] != "axis"}
    for key, step in affine.terms.items():
        to = places[key[1]] if key[0] == "axis" else None
        if to is not None:
            terms["axis", to] = step
    return replace(affine, terms=terms)


@record
class _Condition:
    """Affines that are at most 0 where a condition holds; ``exact``: and only there."""

    bounds: tuple[Affine, ...] = ()
    exact: bool = False

    def moved(self, places: Axes | None) -> _Condition:
        """The same, with the axes elsewhere; None: unknown."""
        if places is None:
            return _UNKNOWN
        return replace(self, bounds=tuple(moved(bound, places) for bound in self.bounds))


_UNKNOWN: Final = _Condition()


def launch_numbers(symbols: Iterable[Symbol], values: Mapping[str, int]) -> dict[Symbol, int]:
    """The integers of a launch by parameter; of pointers their distance from the parameter, 0."""
    pointers = {symbol: 0 for symbol in symbols if isinstance(symbol.type, PointerType)}
    return pointers | {symbol: values[symbol.name] for symbol in symbols if symbol.name in values}


class _Offsets(LaunchEvaluator[Affine]):
    """Integers, and pointers as distances from their parameters. ``known``: variables that are defined before, or
    that loops or branches set; None of those that are not affine.
    """

    def __init__(
        self,
        symbols: Mapping[Symbol, Affine | None],
        values: Values,
        numbers: Mapping[Symbol, int],
        grid: Grid,
    ) -> None:
        super().__init__(values, numbers, grid, _number, _affine)
        self._symbols = symbols

    def of(self, expr: Expr) -> Affine | None:
        if isinstance(expr, Name) and expr.symbol in self._symbols:
            return self._symbols[expr.symbol]
        return super().of(expr)


class Accesses:
    """Of one launch: ``values`` are its integers by name of the parameter, ``grid`` its programs."""

    def __init__(self, items: Iterable[Item], values: Mapping[str, int], grid: Grid) -> None:
        items, self._grid = list(items), grid
        self._values, defined = values_in(every(items)), {*set_in(items)}
        numbers = launch_numbers({s for s in read_in(items) - defined if s.parameter}, values)
        self._launch = self._values, numbers, grid
        self._symbols: dict[Symbol, Affine | None] = dict.fromkeys(defined - self._values.keys())
        self._offsets = _Offsets(self._symbols, *self._launch)
        self._masks: dict[Symbol, _Condition] = {}
        self._counts: dict[Loop, int | None] = {}
        self._tests: dict[Loop, _Condition] = {}
        self._loops: tuple[Loop, ...] = ()
        self._conditions: tuple[Affine, ...] = ()  # of the branches around
        self._path: frozenset[tuple[Branch, bool]] = frozenset()  # these branches, with the arm
        self._paths: dict[Write, frozenset[tuple[Branch, bool]]] = {}
        self.loads: dict[Load, Touched] = {}
        self.writes: dict[Write, Touched] = {}
        self._follow(items)

    # ------------------------------------------------------------ once?

    def once(self, touched: Touched, without: Collection[int] = (), shift: int = 0) -> bool:
        """Whether no element is touched by two programs, iterations or places; ``without``: of the programs along
        these axes, one; ``shift``: nor by the same access so many elements further on.
        """
        ranges = self._ranges(touched, without)
        if touched.offset is None or ranges is None:
            return False
        terms = touched.offset.terms
        if shift:
            terms, ranges = {**terms, _SHIFTED: shift}, {**ranges, _SHIFTED: 2}
        for bound in touched.bounds:
            shorten(ranges, bound)
        if any(count <= 0 for count in ranges.values()):
            return True
        keys = [key for key, count in ranges.items() if count > 1]
        steps = {key: terms.get(key, 0) for key in keys}
        if not all(steps.values()):
            return False
        return distinct(steps, ranges, touched.bounds)

    def absent(self, touched: Touched) -> frozenset[int]:
        """The axes of programs on which it does not depend where is touched."""
        if touched.offset is None:
            return frozenset()
        used = {key[1] for key in touched.offset.terms if key[0] in ("program", "quotient", "rest")}
        return frozenset(range(len(self._grid))) - used

    def dense(self, touched: Touched, without: Collection[int] = ()) -> int | None:
        """n, if just the elements 0 to n - 1 are touched; None if unknown. ``without``: by one of the
        programs along these axes.
        """
        ranges = self._ranges(touched, without)
        if ranges is None or touched.offset is None or touched.offset.low or not touched.exact:
            return None
        if any(count <= 0 for count in ranges.values()):
            return None
        if any(key not in ranges for bound in touched.bounds for key in bound.terms):
            return None
        ranges = {key: count for key, count in ranges.items() if count > 1}
        bounds = [within(bound, ranges) for bound in touched.bounds]
        return dense(touched.offset.terms, ranges, [bound for bound in bounds if bound is not None])

    def reach(self, touched: Touched) -> int | None:
        """n, if only elements of 0 to n - 1 are touched; None if unknown."""
        ranges = self._ranges(touched)
        if ranges is None or touched.offset is None or touched.offset.low < 0:
            return None
        for bound in touched.bounds:
            shorten(ranges, bound)
        if any(count <= 0 for count in ranges.values()):
            return 0
        steps = {key: step for key, step in touched.offset.terms.items() if ranges.get(key, 1) > 1}
        largest = reach(steps, ranges, touched.bounds)
        return None if largest is None else touched.offset.low + largest + 1

    def at_most(self, loop: Loop) -> int | None:
        """How often a loop runs at most; None if unknown."""
        return self._counts[loop]

    def count(self, loop: Loop) -> int | None:
        """How often a loop runs, in every program; None if unknown."""
        test = self._tests[loop]
        fixed = len(test.bounds) == 1 and set(test.bounds[0].terms) == {("iteration", loop)}
        return self._counts[loop] if fixed and test.exact else None

    def _ranges(self, touched: Touched, without: Collection[int] = ()) -> dict[Key, int] | None:
        """How far each part of an offset runs; None if unknown."""
        if touched.offset is None:
            return None
        ranges: dict[Key, int] = {}
        for axis, size in enumerate(touched.shape):
            ranges["axis", axis] = size
        for axis, count in enumerate(self._grid):
            split = {
                key[2] for key in touched.offset.terms if key[:2] in (("quotient", axis), ("rest", axis))
            }
            if len(split) == 1 and ("program", axis) not in touched.offset.terms:
                (divisor,) = split
                ranges["quotient", axis, divisor] = -(-count // divisor)
                ranges["rest", axis, divisor] = min(count, divisor)
            elif split:
                return None
            elif axis not in without:
                ranges["program", axis] = count
        for loop in touched.loops:
            iterations = self._counts[loop]
            if iterations is None:
                return None
            ranges["iteration", loop] = iterations
        return ranges

    def meet_in_place(self, touched: Sequence[Touched]) -> bool:
        """Whether several accesses, each of them once, meet in one program only, at one place of a block."""
        return all(self._shift(*pair) == 0 for pair in itertools.combinations(touched, 2))

    def disjoint(self, writes: Sequence[Write]) -> bool:
        """Whether no element is stored by two of several writes, each of them once."""
        return all(self._disjoint(*pair) for pair in itertools.combinations(writes, 2))

    def _disjoint(self, write: Write, other: Write) -> bool:
        first, second = self.writes[write], self.writes[other]
        shift = self._shift(first, second)
        beside = self._before(first, second) or self._before(second, first)
        return bool(shift) or beside or (shift == 0 and self._in_arms(write, other))

    def _before(self, first: Touched, second: Touched) -> bool:
        """Whether the first access ends where the second one begins, or before."""
        end, last = self.reach(first), self.reach(second)
        return end is not None and last is not None and second.offset is not None and end <= second.offset.low

    def collide(self, write: Write, other: Write) -> bool:
        """Whether two stores surely store to the same elements."""
        first, second = self.writes[write].offset, self.writes[other].offset
        everywhere = write.mask is None or other.mask is None or same(write.mask, other.mask)
        return first is not None and first == second and everywhere and not self._in_arms(write, other)

    def _in_arms(self, write: Write, other: Write) -> bool:
        """Whether they are in different arms of a branch."""
        return any((at, not arm) in self._paths[write] for at, arm in self._paths[other])

    def _shift(self, first: Touched, second: Touched) -> int | None:
        """The distance from the first access to the second. At 0 they meet in the same program, at the same place
        only; at another one they never meet. None if unproven.

        It is proven under the bounds that both have, with iterations of different loops that run equally often in
        place of each other.
        """
        if first.offset is None or second.offset is None or first.shape != second.shape:
            return None
        if [self._counts[loop] for loop in first.loops] != [self._counts[loop] for loop in second.loops]:
            return None
        loops = dict(zip(second.loops, first.loops, strict=True))

        def alike(affine: Affine) -> Affine:
            terms = {
                ("iteration", loops.get(k[1], k[1])) if k[0] == "iteration" else k: v
                for k, v in affine.terms.items()
            }
            return replace(affine, terms=terms)

        moved_ = alike(second.offset)
        bounds = [alike(bound) for bound in second.bounds]
        both = replace(first, bounds=tuple(bound for bound in first.bounds if bound in bounds))
        shift = moved_.low - first.offset.low
        same = moved_.terms == first.offset.terms and self.once(both, shift=shift)
        return shift if same else None

    # ------------------------------------------------------------ following the statements

    def _follow(self, items: Iterable[Item]) -> None:
        for item in items:
            match item:
                case Define(symbol=symbol, value=value):
                    self._note(value)
                    if value is not None:
                        self._symbols[symbol] = self._offsets.of(value)
                        self._masks[symbol] = self._condition(value)
                case Write(pointer=pointer, value=value, mask=mask):
                    self._note(pointer, value, mask)
                    self.writes[item], self._paths[item] = self._touched(pointer, mask), self._path
                case Loop():
                    self._follow_loop(item)
                case Branch():
                    self._follow_branch(item)

    def _follow_branch(self, branch: Branch) -> None:
        self._note(branch.condition)
        outer = self._conditions, self._path
        for arm, taken in ((branch.then, True), (branch.otherwise, False)):
            self._conditions = (*outer[0], *self._condition(branch.condition, taken).bounds)
            self._path = outer[1] | {(branch, taken)}
            self._follow(arm)
        self._conditions, self._path = outer

    def _follow_loop(self, loop: Loop) -> None:
        marks = {carry.inside: Affine.symbol(("carried", carry.inside)) for carry in loop.carried}
        ends = _Offsets({**self._symbols, **marks}, *self._launch)
        for value in values_in(loop.body).values():  # in order, as chains of definitions may be long
            ends.of(value)
        for carry in loop.carried:
            self._note(carry.before)
            start, last = self._offsets.of(carry.before), ends.of(f.named(carry.last))
            step = None if last is None else last.plus(marks[carry.inside], -1)
            if start is not None and step is not None and not step.terms:
                turn = Affine.symbol(("iteration", loop)).times(step.low)
                self._symbols[carry.inside] = start.plus(turn)
        self._loops, outer = (*self._loops, loop), self._loops
        self._counts[loop], self._tests[loop] = None, _UNKNOWN
        self._test(loop)
        self._follow(loop.body)
        self._loops = outer

    def _test(self, loop: Loop) -> None:
        """How often the loop runs at most, by its condition."""
        if loop.condition is None:
            return
        self._note(loop.condition)
        self._tests[loop] = self._condition(loop.condition)
        for bound in self._tests[loop].bounds:  # start + step * iteration <= 0
            step = bound.terms.get(("iteration", loop), 0)
            rest = {key: value for key, value in bound.terms.items() if key != ("iteration", loop)}
            if step > 0 and all(key[0] == "program" for key in rest):
                least = bound.low + sum(
                    min(0, value * (self._grid[key[1]] - 1)) for key, value in rest.items()
                )
                count = max(0, -least // step + 1)
                previous = self._counts[loop]
                self._counts[loop] = count if previous is None else min(previous, count)

    def _note(self, *exprs: Expr | None) -> None:
        for expr in exprs:
            for load in () if expr is None else walk(expr):
                if isinstance(load, Load):
                    self.loads[load] = self._touched(load.pointer, load.mask)

    def _touched(self, pointer: Expr, mask: Expr | None) -> Touched:
        shape = shape_of(pointer.type)
        conditions = [] if mask is None else [self._aligned(mask, shape)]
        conditions += [self._tests[loop] for loop in self._loops]
        bounds = (bound for condition in conditions for bound in condition.bounds)
        exact = not self._path and all(condition.exact for condition in conditions)
        return Touched(self._offsets.of(pointer), shape, (*bounds, *self._conditions), self._loops, exact)

    # ------------------------------------------------------------ masks

    def _condition(self, expr: Expr, holds: bool = True) -> _Condition:
        """What holds where a condition holds, or does not, in its axes."""
        match expr:
            case Unary(operator="!", operand=operand):
                return self._condition(operand, not holds)
            case Binary(operator="<" | "<=" | ">" | ">=" as operator) if not holds:
                return self._condition(replace(expr, operator=_INVERSE[operator]))
            case Binary(operator=">" | ">="):
                return self._condition(mirrored(expr))
            case Name(symbol=symbol) if holds:
                return self._masks.get(symbol, _UNKNOWN)
            case Cast(operand=operand) if holds:
                return self._condition(operand)
            case Expand() | Permute() | Broadcast() if holds:
                return self._condition(expr.operand).moved(moved_axes(expr))
            case Binary(operator="&&" | "&", left=left, right=right) if holds:
                first, second = (self._aligned(part, shape_of(expr.type)) for part in (left, right))
                return _Condition((*first.bounds, *second.bounds), first.exact and second.exact)
            case Binary(operator="<" | "<=" as operator, left=left, right=right) if _whole(left) and _whole(
                right
            ):
                ends = [right]
                match self._values.get(right.symbol) if isinstance(right, Name) else None:
                    case Call(function="min", arguments=arguments):
                        ends += arguments
                own, *others = (self._compared(operator, left, end, shape_of(expr.type)) for end in ends)
                return _Condition((*own, *itertools.chain(*others)), bool(own))
        return _UNKNOWN

    def _compared(self, operator: str, left: Expr, right: Expr, shape: tuple[int, ...]) -> tuple[Affine, ...]:
        first, second = self._offsets.of(left), self._offsets.of(right)
        if first is None or second is None:
            return ()
        first, second = _lined_up(first, left, shape), _lined_up(second, right, shape)
        difference = first.plus(second, -1)
        return (difference.plus(Affine.constant(1)) if operator == "<" else difference,)

    def _aligned(self, expr: Expr, shape: tuple[int, ...]) -> _Condition:
        """A mask in the axes of a larger shape."""
        own = shape_of(expr.type)
        return _UNKNOWN if len(own) > len(shape) else self._condition(expr).moved(repeated_axes(own, shape))


def _whole(expr: Expr) -> bool:
    """Whether an integer does not wrap below 0; of unsigned ones, constants."""
    element = element_of(expr.type)
    signed = isinstance(element, ScalarType) and element.kind == "int"
    return signed or isinstance(expr, Literal | Constexpr)


def _lined_up(affine: Affine, of: Expr, shape: tuple[int, ...]) -> Affine:
    """Axes as they stand after broadcasting."""
    return moved(affine, repeated_axes(shape_of(of.type), shape))


# ---------------------------------------------------------------- expressions


def _number(number: int) -> Affine:
    """A constant; what is done with a number of a define is not recorded here."""
    return Affine.constant(int(number))


def _affine(expr: Expr, operands: Sequence[Affine], grid: Grid) -> Affine | None:
    """An operation on affine operands; None where it is not affine."""
    match expr, operands:
        case Range(), [first, _]:
            return first.plus(Affine.symbol(("axis", 0)))
        case Call(function="program_id"), [axis]:
            return Affine.symbol(("program", axis.low))
        case Unary(operator="-"), [operand]:
            return operand.times(-1)
        case Cast(), [operand]:
            return operand if keeps_number(expr, 64) else None
        case Binary(left=left, right=right), [first, second]:
            shape = shape_of(expr.type)
            result = _binary(expr, _lined_up(first, left, shape), _lined_up(second, right, shape))
            return None if result is None or _wraps(result, expr, grid) else result
        case Expand() | Permute() | Broadcast() | Reshape(), [operand]:
            places = moved_axes(expr)
            return None if places is None else moved(operand, places)
    return None


def _wraps(affine: Affine, expr: Binary, grid: Grid) -> bool:
    """Whether C may wrap it: it has fewer than 64 bits, and places and programs reach further.

    How far iterations of loops reach is not known here: each counts once.
    """
    element, sizes = element_of(expr.type), {"axis": shape_of(expr.type), "program": grid}
    ends = (abs(step) * (sizes[k[0]][k[1]] - 1 if k[0] in sizes else 1) for k, step in affine.terms.items())
    small = isinstance(element, ScalarType) and element.bits < 64
    return small and abs(affine.low) + sum(ends) >= 1 << 31


def _binary(expr: Binary, left: Affine, right: Affine) -> Affine | None:
    match expr.operator:
        case "-" if f.is_pointer(expr.right):
            return None
        case "+" | "-" | "*":
            return combine(expr.operator, [left, right])
        case "<<" if not right.terms and 0 <= right.low < 63:
            return left.times(1 << right.low)
        case "/" | "%" if not right.terms and right.low > 0:
            return _divided(expr.operator, left, right.low)
    return None


def _divided(operator: str, left: Affine, divisor: int) -> Affine | None:
    if not left.terms and left.low >= 0:
        return Affine.constant(left.low // divisor if operator == "/" else left.low % divisor)
    if left.low == 0 and len(left.terms) == 1:
        ((key, step),) = left.terms.items()
        if key[0] == "program" and step == 1:
            return Affine.symbol(("quotient" if operator == "/" else "rest", key[1], divisor))
    return None
