"""Statements, loops and branches in reverse.

A block becomes: its statements again, as far as their values are needed, then the adjoint of each in reverse
order. So do the body of a loop and the arms of a branch: their values are recomputed inside. A loop whose
carried values are indices, pointers and sums runs forward again: the cotangent of a sum is the same in every
iteration, so their order does not matter. After the body was reversed, the cotangent of a sum must be unchanged;
else the loop is refused.

The cotangents of a variable are collected (``_Adjoint``) and added up where its definition is reversed. From
inside an inner block they are added to a variable that was declared before the block.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytriton.frozen import replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import is_floating
from pytriton.gradient.derive.again import Level, Recomputed
from pytriton.gradient.derive.backward_passes import Unwalkable, Way
from pytriton.gradient.derive.graph import (
    Branch,
    Carried,
    Define,
    Item,
    Loop,
    Write,
    assigned_in,
    defined_in,
    every,
    refuse,
)
from pytriton.gradient.derive.loops import OnlyAdds, only_adds
from pytriton.gradient.derive.rules import Cotangent, adjoint_type, back, settled, where_not_0
from pytriton.gradient.derive.states import Checkpoints, Kept, States, repeat
from pytriton.lang.tree.typed import (
    Binary,
    Cast,
    Constexpr,
    Expand,
    Expr,
    Literal,
    Load,
    Name,
    Permute,
    Reduce,
    Remark,
    Statement,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import (
    BOOL,
    FLOAT,
    INT,
    ScalarType,
    broadcast_shapes,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import children, names, walk
from pytriton.source import Span

MAX_REPEATED_NODES: Final = 4  # of a value that is repeated instead of named
MAX_MASKS: Final = 2  # that are written with || between them
MAX_TOTAL: Final = 30  # maximum nodes of a sum in one line
_SMALL: Final = (Name, Literal, Constexpr, Binary, Unary, Cast, Expand, Permute)
_HINTS: Final = {"+": "total", "max": "largest", "min": "least"}


@dataclass(eq=False)
class _Adjoint:
    """The cotangents of a variable. ``masks``: outside which they are 0; None: unknown. ``inner``: some came
    from inside a block.
    """

    pending: list[Cotangent] = field(default_factory=list)
    masks: list[Expr | None] = field(default_factory=list)
    variable: Symbol | None = None
    inner: bool = False

    @property
    def only(self) -> Cotangent | None:
        """The only one of them, if none was added to a variable."""
        return self.pending[0] if self.variable is None and len(self.pending) == 1 else None


class Reversed(Recomputed):
    """The backward of one graph: ``run`` returns its lines. ``ways``: the numbers of loads, and how their
    gradients are accumulated; other loads have none.
    """

    def __init__(self, ways: Mapping[Load, tuple[int, Way]], *context: Any) -> None:
        super().__init__(*context)
        self._ways = ways
        self.alone = True  # no loop runs over the programs
        self.segmented: Collection[Loop] = ()  # loops that save checkpoints
        self.kept: list[Kept] = []
        self._adjoints: dict[Symbol, _Adjoint] = {}
        self._owner: dict[Symbol, Level] = {}
        self._halves: dict[Symbol, Expr] = {}
        self.raw: set[Symbol] = set()  # as they were loaded
        self._stored: set[Symbol] = set()  # inputs of which a part of the gradient is in memory
        self.left_cotangents: dict[Symbol, Expr] = {}  # as ``left``, by the sum

    def run(self, items: list[Item]) -> list[Statement]:
        """The lines of the backward, dead ones among them."""
        self._block(items)
        return self.top.lines

    # ------------------------------------------------------------ in reverse

    def _block(self, items: list[Item]) -> None:
        self.recompute(items)
        self._own(items)
        for item in reversed(items):
            self.level.about = None if isinstance(item.statement, Remark) else item.statement.span
            match item:
                case Define(symbol=symbol, value=value):
                    self._reverse_define(symbol, value)
                case Write():
                    self._reverse_write(item)
                case Loop():
                    self._reverse_loop(item)
                case Branch():
                    self._reverse_branch(item)

    def _reverse_define(self, symbol: Symbol, value: Expr | None) -> None:
        adjoint = self._adjoints.pop(symbol, None)
        if adjoint is not None and value is not None and self.flow.active(value):
            back(value, self._only(symbol, adjoint) or self._collected(symbol, adjoint), self)

    def _only(self, symbol: Symbol, adjoint: _Adjoint) -> Cotangent | None:
        """The only cotangent of a variable, with its mask, if it has a name: one select for all that follows."""
        only = adjoint.only
        if only is None or only.mask is None or f.variable(only.value) is None:
            return None
        return only if f.scalar(only.value) == adjoint_type(symbol.type) else None

    def _reverse_write(self, write: Write) -> None:
        root = self._root(write.pointer)
        if root is None or root not in self.outputs or not self.flow.active(write.value):
            return
        pointer = self._spell(self._gradient_pointer(write.pointer))
        load = f.load(pointer)
        shape = shape_of(write.pointer.type)
        mask = None if write.mask is None else self._spell(write.mask)
        if write.mask is not None and mask is not None:
            _check_mask(write.mask, write.pointer, write.statement.span)
            load = f.select(mask, load, f.ZERO)
        word = self.words.type_word(root)
        narrow = self.wide_word(word, root.target) != word
        raw = self.new(f"d{root.name.lower()}", with_element(root.target, shape), word)
        self.emit(f.declare(raw, load))
        value = f.named(raw)
        if narrow:
            self.raw.add(raw)
            wide = self.new(raw.name, with_element(FLOAT, shape))
            self.emit(f.declare(wide, value))
            self._halves[wide] = value
            value = f.named(wide)
        back(write.value, Cotangent(value, shape, mask), self)

    def _popped(self, symbol: Symbol) -> Cotangent | None:
        """The sum of the cotangents of a variable, if it has some."""
        adjoint = self._adjoints.pop(symbol, None)
        return None if adjoint is None else self._collected(symbol, adjoint)

    def _collected(self, symbol: Symbol, adjoint: _Adjoint) -> Cotangent:
        """The sum of the cotangents of a variable."""
        shape, element = shape_of(symbol.type), adjoint_type(symbol.type)
        total = self._total(adjoint.pending)
        if adjoint.variable is None:
            assert total is not None
            if f.variable(total) is not None and element_of(total.type) == element:
                value = total
            else:
                variable = self._adjoint_variable(symbol)
                first, *more = [total] if len(walk(total)) <= MAX_TOTAL else map(settled, adjoint.pending)
                self.emit(f.declare(variable, first))
                for part in more:
                    self.emit(f.increase(variable, part))
                value = f.named(variable)
        else:
            if total is not None:
                self.emit(f.increase(adjoint.variable, total))
            value = f.named(adjoint.variable)
        if None in adjoint.masks:  # some of it may be anywhere
            return Cotangent(value, shape)
        masks = f.unique(mask for mask in adjoint.masks if mask is not None)
        if adjoint.inner or len(masks) > MAX_MASKS:
            return where_not_0(value, shape)
        return Cotangent(value, shape, functools.reduce(f.either, masks))

    def _total(self, cotangents: list[Cotangent]) -> Expr | None:
        """The sum of cotangents; under one mask where they have the same one."""
        if not cotangents:
            return None
        mask = cotangents[0].mask
        alike = all(f.alike(cotangent.mask, mask) for cotangent in cotangents)
        if len(cotangents) > 1 and alike and mask is not None and not all(s.clean for s in cotangents):
            return f.select(
                mask, functools.reduce(f.add, (cotangent.value for cotangent in cotangents)), f.ZERO
            )
        return functools.reduce(f.add, map(settled, cotangents))

    def _adjoint_variable(self, symbol: Symbol) -> Symbol:
        element = element_of(symbol.type)
        word = self.wide_word(self.words.type_word(symbol), element)
        type_ = with_element(adjoint_type(symbol.type), shape_of(symbol.type))
        return self.new(f"d_{symbol.name}", type_, word)

    def _reverse_branch(self, branch: Branch) -> None:
        cotangents = [
            ((merge.yes, merge.no), cotangent)
            for merge in branch.merges
            if (cotangent := self._popped(merge.after))
        ]

        def write(arm: list[Item], at: int) -> None:
            self._own(arm)
            for ends, cotangent in cotangents:
                self.contribute(ends[at], cotangent)
            self._block(arm)

        self._decide(branch, write)

    def _own(self, items: Iterable[Item], carried: Iterable[Carried] = ()) -> None:
        """Let this block declare the variables of its statements."""
        symbols = [*defined_in(items), *(carry.inside for carry in carried)]
        self._owner |= dict.fromkeys(symbols, self.level)

    def _reverse_loop(self, loop: Loop) -> None:
        reached = self._reached(loop)
        walked = [
            carry
            for carry in loop.carried
            if self.flow.active(carry.name) and not reached.isdisjoint((carry.inside, carry.after))
        ]
        proof = only_adds(loop, walked)
        if proof is None:
            self._reverse_states(loop, walked)
        else:
            self._reverse_sums(proof)

    def _reverse_sums(self, proof: OnlyAdds) -> None:
        """A loop that runs forward: the cotangents of its sums are the same in all iterations."""
        loop = proof.loop
        cotangents: dict[Symbol, Cotangent] = {}
        for carry in loop.carried:
            if value := self._popped(carry.after):
                cotangents[carry.inside] = value
                if carry.after in self.left_cotangents:
                    self.emit(f.store(self._spell(self.left_cotangents[carry.after]), value.value, None))

        def write(body: list[Item]) -> None:
            self._own(body, loop.carried)
            for carry in loop.carried:
                if carry.inside in cotangents:
                    self.contribute(carry.last, cotangents[carry.inside])
            self._block(body)

        over_programs = isinstance(loop.statement, Remark)  # a loop of the backward
        self._repeat(loop, write, loop.statement.comments.above if over_programs else ())
        for carry in loop.carried:
            cotangent = cotangents.get(carry.inside)
            self._check_sum(carry, cotangent, self._adjoints.pop(carry.inside, None), loop)
            if cotangent is not None:
                back(carry.before, cotangent, self)

    def _reached(self, loop: Loop) -> set[Symbol]:
        """The variables of a loop that have a cotangent in one of its iterations. That of others would be 0, and
        0 times an infinite derivative is NaN.
        """
        reached = {carry.after for carry in loop.carried if carry.after in self._adjoints}
        for item in every([loop]):
            if isinstance(item, Write) and self._root(item.pointer) in self.outputs:
                reached |= _floats(item.value)
        while True:
            count = len(reached)
            for item in every([loop]):
                for symbol, value in assigned_in(item):
                    if symbol in reached:
                        reached |= _floats(value)
            if len(reached) == count:
                return reached

    def _reverse_states(self, loop: Loop, walked: Collection[Carried]) -> None:
        """A loop that carries other values than sums, from its last iteration to its first; those in ``walked``
        have cotangents.
        """
        if not self.alone:
            raise Unwalkable(self._ways.values())
        forward, first = self._repeated[loop]
        floats = [carry for carry in loop.carried if is_floating(carry.inside.type)]
        kind = Checkpoints if loop in self.segmented else States
        states = kind(self, loop, forward, first, floats)
        self.kept += states.kept
        cotangents: dict[Carried, Symbol] = {}
        for carry in floats:
            if carry in walked:
                given = self._popped(carry.after)
                cotangents[carry] = self._adjoint_variable(carry.inside)
                self.emit(f.declare(cotangents[carry], given.value if given else f.ZERO))
        about = self.level.about
        start, end = states.open()
        self.enter()
        self._own(loop.body, loop.carried)
        iteration = self.new("i", INT)
        states.begin(iteration)
        for carry, variable in cotangents.items():
            self.contribute(carry.last, where_not_0(f.named(variable), shape_of(variable.type)))
        self._block(loop.body)
        for carry in loop.carried:
            if carry not in cotangents and self.flow.active(carry.name):  # nothing may be lost
                self._check_sum(carry, None, self._adjoints.pop(carry.inside, None), loop)
        self.level.about, ends = about, list[tuple[Symbol, Expr]]()
        own = set(cotangents.values())
        for carry, variable in cotangents.items():
            out = self._popped(carry.inside)
            value = out.value if out else f.ZERO
            if not names(value).isdisjoint(own):
                if f.variable(value) is variable:
                    continue  # a sum: its cotangent is the same in all iterations
                value = self.named(value)
            ends.append((variable, value))
        for variable, value in ends:
            self.emit(f.assign(variable, value))
        states.check(self.level.lines)
        repeat(self, f.declare(iteration, f.binary("-", end, f.ONE)), ">=", start, f.negated(f.ONE))
        states.close()
        for carry, variable in cotangents.items():
            back(carry.before, where_not_0(f.named(variable), shape_of(variable.type)), self)

    def _check_sum(
        self, carry: Carried, cotangent: Cotangent | None, out: _Adjoint | None, loop: Loop
    ) -> None:
        """Refuse a carried value that is not a sum."""
        if cotangent is None and out is None:
            return
        single = out and out.only
        if single and cotangent and f.alike(settled(single), cotangent.value):
            return
        ends = (item.statement.span for item in every(loop.body) if carry.last in defined_in([item]))
        refuse(
            "TC708",
            f"the loop carries '{carry.inside.name}', which is not a sum: an iteration does more "
            "with it than add to it",
            next(ends, loop.statement.span),
            f"its state is {_state(carry)} for each iteration of each program",
            help="write the loop so that it only adds to what it carries, for instance with the statistics of a "
            "row in one loop and its output in the next; or write this backward by hand",
        )

    # ------------------------------------------------------------ services for the rules

    def value(self, expr: Expr) -> Expr:
        """The value of an expression of the forward, short enough to be repeated."""
        cached = self.level.values.get(expr)
        if cached is not None:
            return cached
        formula = self._spell(expr, exact=True)
        nodes = walk(expr)
        if len(nodes) <= MAX_REPEATED_NODES and all(isinstance(node, _SMALL) for node in nodes):
            return formula
        name = self.named(formula, hint=_HINTS.get(expr.operator, "t") if isinstance(expr, Reduce) else "t")
        self.level.values[expr] = name
        return name

    def named(
        self,
        formula: Expr,
        shape: tuple[int, ...] | None = None,
        hint: str = "t",
        to: ScalarType | None = None,
    ) -> Expr:
        """A formula as a variable; ``to``: converted to this type."""
        element = to or f.scalar(formula)
        target = f.shape(formula) if shape is None else shape
        hint = "chosen" if element == BOOL else hint
        variable = self.new(hint, with_element(element, target), self.words.word(element))
        self.emit(f.declare(variable, formula))
        return f.named(variable)

    def half(self, formula: Expr) -> Expr:
        """The value of a name before it was converted to float."""
        variable = f.variable(formula)
        return formula if variable is None else self._halves.get(variable, formula)

    def contribute(self, symbol: Symbol, cotangent: Cotangent) -> None:
        """Add to the cotangent of a variable."""
        if symbol in self.parameters:
            return
        adjoint = self._adjoints.setdefault(symbol, _Adjoint())
        owner = self._owner[symbol]
        formula = settled(cotangent)
        adjoint.masks.append(cotangent.mask)
        if owner is self.level:
            adjoint.pending.append(cotangent)
            return
        adjoint.inner = True
        if adjoint.variable is None:
            adjoint.variable = self._adjoint_variable(symbol)
            total = self._total(adjoint.pending)
            line = f.declare(adjoint.variable, total if total is not None else f.ZERO)
            adjoint.pending.clear()
            owner.lines.append(line if owner.about is None else replace(line, span=owner.about))
        self.emit(f.increase(adjoint.variable, formula))

    def put(self, load: Load, cotangent: Cotangent) -> None:
        """Add to the gradient of the memory that was loaded."""
        if load not in self._ways:
            return
        number, way = self._ways[load]
        if way == "sum" and self.level is not self.top:
            raise Unwalkable(self._ways.values())
        root = self._root(load.pointer)
        assert root is not None
        pointer = self._spell(self._gradient_pointer(load.pointer))
        mask = None if load.mask is None else self._spell(load.mask)
        if load.mask is not None:
            _check_mask(load.mask, load.pointer, load.span)
        shape = shape_of(load.pointer.type)
        covered = mask is not None and cotangent.mask is not None and f.alike(mask, cotangent.mask)
        value = cotangent.value if covered else settled(cotangent)
        assert cotangent.shape == shape, (cotangent.shape, shape)
        if way == "atomic":
            self.emit(f.add_to(pointer, f.filled(value, shape), mask))
        elif way == "add" or (way == "store" and root in self._stored):
            self.emit(f.store(pointer, f.add(f.load(pointer, mask), value), mask))
        else:
            self.emit(f.store(pointer, value, mask, site=number))
        self._stored.add(root)


def _floats(expr: Expr) -> set[Symbol]:
    """The variables that get a cotangent from an expression."""
    if not is_floating(expr.type):
        return set()
    if isinstance(expr, Name):
        return {expr.symbol}
    return set().union(*map(_floats, children(expr)))


def _check_mask(mask: Expr, pointer: Expr, where: Span) -> None:
    """Refuse a mask that broadcasts a pointer."""
    shape, larger = shape_of(pointer.type), shape_of(mask.type)
    if len(larger) > len(shape) or broadcast_shapes(shape, larger) != shape:
        refuse("TC703", "a pointer that its mask broadcasts has no derivative here", where)


def _state(carry: Carried) -> str:
    return f"{math.prod(shape_of(carry.inside.type)) * carry.inside.target.bits // 8} bytes"
