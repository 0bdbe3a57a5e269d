"""Whether the statements before a loop compute what a slice of its body does, and what to write instead of both.

The slice moves to the start of the iteration (slices.py). In the first iteration it must give what the statements
before the loop gave, so both are read side by side, from the values that the loop needs down to the loads. Where
neither reads memory they may differ, and then there are three ways:

- the slice's expression, as it is at the start of the next iteration, has the value of the other one when the loop
  begins: it is written (``i < k - T`` of an iteration is ``i < k`` of the next, and ``i < K`` in the first);
- it is a mask that holds whenever an iteration starts: it is dropped;
- else the value is carried: a new variable is set before the loop and at the end of each iteration.

Loads, and what is computed from them, must be written alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pytriton.frozen import dataclass
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Broadcast, Expr, Literal, Load, Name, Select, Symbol
from pytriton.lang.tree.types import BOOL, BlockType, PointerType, ScalarType, shape_of, with_element
from pytriton.lang.tree.walk import children, inside, names, rebuild, same, with_children
from pytriton.passes.analysis.linear import equal, is_true, settle
from pytriton.passes.analysis.queries import alike, larger_than
from pytriton.passes.loops.reaching import History
from pytriton.passes.loops.slices import Slice

__all__ = ["Carried", "Differs", "Match"]

_MAX_NODES = 300  # nodes of an expression that is compared


class Differs(Exception):
    """The statements before the loop do not compute what the slice does."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A new variable: what it is set to before the loop and in an iteration, and before which statements."""

    symbol: Symbol
    first: Expr
    place: int
    again: Expr
    position: int


class Match:
    """Pairs a slice with the statements before its loop; ``values`` are its expressions for the next iteration.

    ``used`` are the positions of the statements that it was paired with. Raises Differs.
    """

    def __init__(self, part: Slice, history: History) -> None:
        self.part = part
        self.history = history
        self.values: dict[int, Expr] = {}
        self.used: set[int] = set()
        self.carried: list[Carried] = []
        self._inlined: dict[int, Expr | None] = {}
        self._sources: dict[int, tuple[Expr, int]] = {}
        self._recurrent = part.recurrent()
        self._facts = part.iteration.facts
        self._temporaries()
        exposed = part.exposed() | self._recurrent
        last_writers = {history.writer(symbol, history.end) for symbol in self._recurrent}
        self._advances = {place for place in last_writers if place is not None}
        for symbol in sorted(exposed, key=lambda symbol: symbol.span.start):
            last = part.writer(symbol, len(part.lines))
            assert last is not None
            self._define(last, Name(symbol.span, symbol.type, symbol), history.end)
        if len(self.values) < len(part.chosen):  # something that nothing needs
            raise Differs

    @cached_property
    def _facts_first(self) -> list[Expr]:
        """The facts as they are in the first iteration."""
        return [self.history.expand(fact, self.history.end) for fact in self._facts]

    @property
    def gone(self) -> set[int]:
        """The statements before the loop that may not run, as the slice runs in the first iteration too."""
        recurrent = {place for place in self.used if inside(self.history.body[place]).sets & self._recurrent}
        return recurrent | self._advances

    # ------------------------------------------------------------ loads, and what is computed from them

    def _define(self, at: int, first: Expr, place: int) -> None:
        """Pair a statement of the slice with an expression before the loop."""
        if isinstance(first, Name):  # the place does not matter, but who set it
            writer = self.history.writer(first.symbol, place)
            place = 0 if writer is None else writer + 1
        known = self._sources.setdefault(at, (first, place))
        if known[0] is not first and not (known[1] == place and same(known[0], first)):
            raise Differs
        value = self.part.lines[at].value
        assert value is not None
        if at not in self.values:
            if isinstance(first, Name) and self.part.plain(value, at):
                first, place = self._resolved(first, place)
            self.values[at] = value  # no statement is computed from itself
            self.values[at] = self._pair(value, at, first, place)

    def _resolved(self, name: Name, place: int) -> tuple[Expr, int]:
        origin = self.history.value(name.symbol, place)
        if origin is None:
            raise Differs
        self.used.add(origin[1])
        return origin

    def _pair(self, expr: Expr, at: int, first: Expr, place: int) -> Expr:
        """What to write for an expression of the slice, paired with one before the loop."""
        if isinstance(expr, Name):
            source = self.part.source(expr.symbol, at)
            if source is not None:
                self._define(source, first, place)
                return expr
        if self.part.plain(expr, at):
            return self._leaf(expr, at, first, place)
        if isinstance(first, Name):
            return self._pair(expr, at, *self._resolved(first, place))
        if isinstance(expr, Load):
            return self._load(expr, at, first, place)
        if isinstance(expr, Select) and self._holds(expr.condition, at) and expr.yes.type == expr.type:
            return self._pair(expr.yes, at, first, place)
        if not alike(expr, first):
            raise Differs
        firsts: Iterator[Expr] = iter(list(children(first)))
        return with_children(expr, lambda operand: self._pair(operand, at, next(firsts), place))

    def _load(self, load: Load, at: int, first: Expr, place: int) -> Load:
        if not isinstance(first, Load) or load.type != first.type:
            raise Differs
        pointer = self._pair(load.pointer, at, first.pointer, place)
        mask = self._mask(load, at, first, place)
        other = None if mask is None else self._other(load, at, first, place)
        return Load(load.span, load.type, pointer, mask, other)

    def _other(self, load: Load, at: int, first: Load, place: int) -> Expr | None:
        """What a load gives where its mask does not hold; where one has no mask, it is the other one's."""
        if load.mask is not None and first.mask is not None:
            if load.other is None or first.other is None:
                raise Differs
            return self._pair(load.other, at, first.other, place)
        other = load.other or first.other
        if other is None or constant(other) is None:
            raise Differs
        return other

    def _mask(self, load: Load, at: int, first: Load, place: int) -> Expr | None:
        if load.mask is None and first.mask is None:
            return None
        always = Literal(load.span, BOOL, 1)
        mask, earlier = load.mask or always, first.mask or always
        if not self.part.plain(mask, at):
            return self._pair(mask, at, earlier, place)
        now = self._now(mask, at, earlier, place)
        if now is None:
            if mask.type != earlier.type:
                mask, earlier = (_of_shape(part, shape_of(load.type)) for part in (mask, earlier))
            now = self._carry(mask, at, earlier, place, "mask")
        return None if is_true(now) else now

    # ------------------------------------------------------------ what reads no memory

    def _leaf(self, expr: Expr, at: int, first: Expr, place: int) -> Expr:
        now = self._now(expr, at, first, place)
        if now is not None:
            return now
        if expr.type != first.type:
            raise Differs
        return self._carry(expr, at, first, place, "pointer" if _points(expr) else "value")

    def _now(self, expr: Expr, at: int, first: Expr, place: int) -> Expr | None:
        """The expression as the next iteration begins, if in the first one it is what stands before the loop."""
        for eager in (False, True):
            now = self.part.at_top(expr, at, eager=eager)
            if now is None:
                continue
            now = settle(now, self._facts)
            inlined = self._inline(now, at)
            if inlined is None:
                continue
            inlined = settle(inlined, self._facts)
            if self._stays(inlined, first, place):
                return now
            wanted = settle(self.history.expand(first, place), self._facts_first)
            entry = self.history.expand(inlined, self.history.end, self.gone)
            entry = settle(entry, self._facts_first)
            if equal(entry, wanted) or (is_true(entry) and is_true(wanted)):
                return inlined if is_true(inlined) else now
        return None

    def _stays(self, expr: Expr, first: Expr, place: int) -> bool:
        """Whether both are one variable, which nothing sets between the place and the loop."""
        if not (isinstance(expr, Name) and isinstance(first, Name) and expr.symbol is first.symbol):
            return False
        writer = self.history.writer
        return writer(first.symbol, place) == writer(first.symbol, self.history.end, self.gone)

    def _inline(self, expr: Expr, at: int) -> Expr | None:
        """The expression with the slice's temporaries as what they are; None if that is too large."""
        change: dict[Symbol, Expr] = {}
        for symbol in names(expr):
            source = self.part.writer(symbol, at)
            if source is not None and source not in self.part.loaded:
                value = self._inlined[source]
                if value is None:
                    return None
                change[symbol] = value
        inlined = rebuild(expr, change) if change else expr
        return None if larger_than(inlined, _MAX_NODES) else inlined

    def _holds(self, condition: Expr, at: int) -> bool:
        """Whether a condition of the slice holds unless the iteration is the last."""
        if not self.part.plain(condition, at):
            return False
        now = self.part.at_top(condition, at, eager=True)
        return now is not None and is_true(settle(now, self._facts))

    def _carry(self, expr: Expr, at: int, first: Expr, place: int, role: str) -> Name:
        for known in self.carried:
            if known.position == at and known.again is expr:
                if known.place != place or not same(known.first, first):
                    raise Differs
                return Name(expr.span, known.symbol.type, known.symbol)
        if names(expr) & self.part.targets or place >= self.history.end:
            raise Differs
        type_ = expr.type
        assert isinstance(type_, ScalarType | PointerType | BlockType)
        (target,) = self.part.lines[at].sets
        symbol = Symbol(f"{target.name}_{role}", type_, expr.span)
        self.carried.append(Carried(symbol, first, place, expr, at))
        return Name(expr.span, type_, symbol)

    def _temporaries(self) -> None:
        """Variables of the iteration that the slice takes along have no counterpart before the loop."""
        for at in self.part.chosen:
            value = self.part.lines[at].value
            if at in self.part.loaded or value is None:
                continue
            now = self.part.at_top(value, at, eager=False)
            if now is None:
                raise Differs
            self.values[at] = settle(now, self._facts)
            self._inlined[at] = self._inline(self.values[at], at)


def _points(expr: Expr) -> bool:
    element = expr.type.element if isinstance(expr.type, BlockType) else expr.type
    return isinstance(element, PointerType)


def _of_shape(mask: Expr, shape: tuple[int, ...]) -> Expr:
    return mask if shape_of(mask.type) == shape else Broadcast(mask.span, with_element(BOOL, shape), mask)
