"""The *inspector*: a small kernel that checks before a launch whether all its accesses are in bounds.

Input: a kernel whose accesses are numbered (sites.py). Output: only the scalars, loops and conditions that
determine its pointers, and for each access a comparison of its lowest and its highest address with the memory that
it may reach. Blocks are kept as sums of parts (``Parts``), so it is fast: no products, no tiles. If all is
in bounds, the launch runs the unchecked code, pipelined as usual; else the code that checks each element and
reports its place.

It computes what the kernel computes, so it may read memory: tables of addresses and of steps. The launch must not
write that memory; the runtime ensures that arguments do not overlap. Values that depend on memory that is written,
on atomics or on loops that are not ranges are unknown: of such conditions both branches are inspected, such loops
once, and the variables that they set are unknown after them. Accesses with unknown addresses are not ``inspected``,
and stay checked in the code that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import convert
from pytriton.lang.tree.types import (
    BOOL,
    INT,
    LONG,
    ULONG,
    BlockType,
    ElementType,
    PointerType,
    ScalarType,
    Type,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import (
    assigned,
    bodies,
    children,
    expressions,
    has_memory,
    map_body,
    reads,
    statements,
    walk,
    with_children,
    with_expressions,
)
from pytriton.passes.check.sites import Site

# ---------------------------------------------------------------- separable
# Blocks of several axes as sums of what each axis contributes: ``p + rm[:, newaxis] * s + rk[newaxis, :]`` is a
# scalar, a block along rows and a block along columns.
#
# Input: an expression of a kernel after all passes. Output: its ``Parts``, whose sum (of truth values, whose
# conjunction) it is. The parts are small, and computed as the kernel computes them; the lowest and the highest
# element of the whole block are the sums of the lowest and of the highest of its parts. Other expressions, and
# those of unknown variables, are ``Uninspectable``.
#
# A pointer to T moves by parts that count elements of T. Sums of ints are exact only within 32 bits; where it
# matters, a statement in ``required`` reports if they exceed these.


class Uninspectable(Exception):
    """An expression that is not a sum of its axes, or depends on unknown values."""


class Unseen(Uninspectable):
    """An expression that depends on a variable of which no value has been seen so far."""


@record
class Parts:
    """The sum of a scalar and of one block for each axis; None for parts of no contribution."""

    base: typed.Expr | None
    axes: tuple[typed.Expr | None, ...]

    @property
    def used(self) -> list[int]:
        return [axis for axis, part in enumerate(self.axes) if part is not None]

    def mapped(self, change: Callable[[typed.Expr], typed.Expr]) -> Parts:
        """The same with every part changed."""
        base, *axes = [None if part is None else change(part) for part in (self.base, *self.axes)]
        return Parts(base, tuple(axes))


@record
class Shadow:
    """The variables that hold the parts of a variable."""

    base: typed.Symbol | None
    axes: tuple[typed.Symbol | None, ...]


def is_spread(type_: Type) -> bool:
    """Whether values of a type are kept in parts: blocks of several axes, and blocks of pointers."""
    rank = len(shape_of(type_))
    return rank > 1 or (rank == 1 and isinstance(element_of(type_), PointerType))


class Separation:
    """The parts of expressions of known variables. ``look_up`` gives the value of a load."""

    def __init__(self, look_up: Callable[[typed.Load], typed.Expr]) -> None:
        self.unknown: set[typed.Symbol] = set()
        self.shadows: dict[typed.Symbol, Shadow] = {}
        self.required: list[typed.Statement] = []
        self.unseen_is_unknown = False
        self._look_up = look_up

    def plain(self, expr: typed.Expr) -> typed.Expr:
        """An expression that is computed unchanged: a scalar, or a block of one axis."""
        if isinstance(expr, typed.Name) and expr.symbol in self.unknown:
            raise Uninspectable
        if is_spread(expr.type):
            if len(shape_of(expr.type)) > 1:
                raise Uninspectable
            return _whole(self.parts(expr), expr)
        if isinstance(expr, typed.Load):
            return self._look_up(expr)
        if isinstance(expr, typed.Atomic | typed.Dot):
            raise Uninspectable
        return with_children(expr, self.plain)

    def parts(self, expr: typed.Expr) -> Parts:
        """The parts of any expression."""
        shape = shape_of(expr.type)
        if not is_spread(expr.type):
            return Parts(None, (self.plain(expr),)) if shape else Parts(self.plain(expr), ())
        match expr:
            case typed.Name(symbol=symbol):
                return self._variable(symbol, expr)
            case typed.Expand(operand=operand, axes=axes):
                inner = self.parts(operand)
                rest = iter(inner.axes)
                return Parts(inner.base, tuple([None if new else next(rest) for new in axes]))
            case typed.Broadcast(operand=operand):
                return self.aligned(operand, shape)
            case typed.Permute(operand=operand, order=order):
                inner = self.parts(operand)
                return Parts(inner.base, tuple([inner.axes[axis] for axis in order]))
            case typed.Cast(operand=operand) if element_of(expr.type) == LONG:
                return self._widened(operand, shape)
            case typed.Binary(operator="+" | "-") if isinstance(element_of(expr.type), PointerType):
                return self._moved(expr, shape)
            case typed.Binary(operator="+" | "-" | "&&") if _counts(expr.type):
                left, right = self.aligned(expr.left, shape), self.aligned(expr.right, shape)
                right = right.mapped(_negative) if expr.operator == "-" else right
                return joined(left, right, "&&" if expr.operator == "&&" else "+")
            case typed.Binary(operator="*", left=left_side, right=right_side) if _counts(expr.type):
                left, right = self.aligned(left_side, shape), self.aligned(right_side, shape)
                if not left.used or not right.used:
                    return _product(left, right)
        return self._elementwise(expr, shape)

    def aligned(self, expr: typed.Expr, shape: tuple[int, ...]) -> Parts:
        """The parts of an operand, spread to a shape."""
        parts, have = self.parts(expr), shape_of(expr.type)
        missing = len(shape) - len(have)
        for axis, (part, size) in enumerate(zip(parts.axes, have, strict=True)):
            if part is not None and size != shape[missing + axis]:
                raise Uninspectable
        return Parts(parts.base, (*[None] * missing, *parts.axes))

    def _variable(self, symbol: typed.Symbol, expr: typed.Name) -> Parts:
        if symbol in self.unknown:
            raise Uninspectable
        shadow = self.shadows.get(symbol)
        if shadow is None:
            raise Uninspectable if self.unseen_is_unknown else Unseen
        base, *axes = [
            None if part is None else typed.Name(expr.span, part.type, part)
            for part in (shadow.base, *shadow.axes)
        ]
        return Parts(base, tuple(axes))

    def _moved(self, expr: typed.Binary, shape: tuple[int, ...]) -> Parts:
        """A pointer plus an offset."""
        pointer, by = self.aligned(expr.left, shape), self._widened(expr.right, shape, exact=False)
        if pointer.base is None:
            raise Uninspectable
        base = pointer.base
        if by.base is not None:
            base = replace(expr, type=base.type, left=base, right=by.base)
        if expr.operator == "-":
            by = by.mapped(lambda part: _negative(_long(part)))
        axes = [
            first or second if first is None or second is None else _added(_long(first), _long(second))
            for first, second in zip(pointer.axes, by.axes, strict=True)
        ]
        return Parts(base, tuple(axes))

    def _widened(self, expr: typed.Expr, shape: tuple[int, ...], *, exact: bool = True) -> Parts:
        """Integers in 64 bits, each part on its own; unless ``exact``, ints stay ints."""
        parts, element = self.aligned(expr, shape), element_of(expr.type)
        given = [part for part in (parts.base, *parts.axes) if part is not None]
        if element == LONG:
            return parts
        if not isinstance(element, ScalarType) or element.is_float or element == ULONG:
            raise Uninspectable
        if len(given) > 1:
            if element != INT:
                raise Uninspectable
            arguments = (
                parts.base or typed.Literal(expr.span, INT, 0),
                *[part for part in parts.axes if part],
            )
            self.required.append(typed.Evaluate(expr.span, typed.Call(expr.span, BOOL, "narrow", arguments)))
        if element == INT and not exact:
            return parts
        return parts.mapped(_long)

    def _elementwise(self, expr: typed.Expr, shape: tuple[int, ...]) -> Parts:
        """An elementwise operation on operands that have at most one axis in all."""
        if not isinstance(
            expr, typed.Unary | typed.Binary | typed.Select | typed.Cast | typed.Call | typed.Load
        ) or not _counts(expr.type):
            raise Uninspectable
        sides = [self.aligned(child, shape) for child in children(expr)]
        used = {axis for side in sides for axis in side.used}
        if len(used) > 1:
            raise Uninspectable
        values = iter([_whole(side, child) for side, child in zip(sides, children(expr), strict=True)])
        type_ = with_element(element_of(expr.type), tuple([shape[axis] for axis in used]))
        result: typed.Expr = replace(with_children(expr, lambda _: next(values)), type=type_)
        result = self._look_up(result) if isinstance(result, typed.Load) else result
        return Parts(
            None if used else result, tuple([result if axis in used else None for axis in range(len(shape))])
        )


def joined(left: Parts, right: Parts, operator: str) -> Parts:
    """The sum of two values in parts, or the conjunction."""
    pairs = zip((left.base, *left.axes), (right.base, *right.axes), strict=True)
    base, *axes = [
        first or second
        if first is None or second is None
        else typed.Binary(first.span, first.type, operator, first, second)
        for first, second in pairs
    ]
    return Parts(base, tuple(axes))


def _product(left: Parts, right: Parts) -> Parts:
    """A product, of which one side is a scalar."""
    scalar, other = (left.base, right) if not left.used else (right.base, left)
    if scalar is None:
        raise Uninspectable
    return other.mapped(lambda part: typed.Binary(part.span, part.type, "*", part, scalar))


def _negative(expr: typed.Expr) -> typed.Expr:
    return typed.Unary(expr.span, expr.type, "-", expr)


def _added(left: typed.Expr, right: typed.Expr) -> typed.Expr:
    return typed.Binary(left.span, left.type, "+", left, right)


def _long(expr: typed.Expr) -> typed.Expr:
    type_ = with_element(LONG, shape_of(expr.type))
    return expr if expr.type == type_ else typed.Cast(expr.span, type_, expr)


def _whole(parts: Parts, expr: typed.Expr) -> typed.Expr:
    """A value whose parts have at most one axis, as one expression."""
    given = [part for part in parts.axes if part is not None]
    if len(given) > 1:
        raise Uninspectable
    if parts.base is None and not given:
        raise Uninspectable
    if not given:
        assert parts.base is not None
        return parts.base
    (part,) = given
    if parts.base is None:
        return part
    element: ElementType = element_of(expr.type)
    operator = "&&" if element == BOOL else "+"
    return typed.Binary(part.span, BlockType(element, shape_of(part.type)), operator, parts.base, part)


def _counts(type_: Type) -> bool:
    return any(element_of(type_) == integer for integer in (INT, LONG, BOOL))


@record
class Inspection:
    """The interface of an inspector. ``inspected`` are the numbers of the accesses that it checks.

    Its table is a word that it sets if any access is out of bounds, then for each of the ``bounds``, a parameter
    and the width of an element, the lowest address where an element may start, and the bytes from there to the
    highest. ``consulted`` are the parameters whose memory it reads, ``written`` those through which the kernel
    writes.
    """

    inspected: frozenset[int]
    bounds: tuple[tuple[str, int], ...]
    consulted: tuple[str, ...]
    written: tuple[str, ...]


def inspector(
    kernel: typed.KernelDef, sites: Sequence[Site], written: Sequence[str]
) -> tuple[typed.KernelDef, Inspection]:
    """The inspector of a kernel that writes through some parameters, and its interface."""
    return _Inspector(kernel, sites, written).build()


def executor(kernel: typed.KernelDef, inspected: frozenset[int]) -> typed.KernelDef:
    """The kernel with the accesses that were inspected unchecked."""

    def change(expr: typed.Expr) -> typed.Expr:
        if not has_memory(expr):
            return expr
        expr = with_children(expr, change)
        return (
            replace(expr, site=None)
            if isinstance(expr, typed.Load | typed.Atomic) and expr.site in inspected
            else expr
        )

    def without(statement: typed.Statement) -> typed.Statement:
        statement = with_expressions(statement, change)
        if isinstance(statement, typed.Store) and statement.site in inspected:
            return replace(statement, site=None)
        return statement

    return replace(kernel, body=map_body(kernel.body, without))


class _Inspector:
    """Makes the inspector of one kernel."""

    def __init__(self, kernel: typed.KernelDef, sites: Sequence[Site], written: Sequence[str]) -> None:
        self._kernel = kernel
        self._sites = sites
        self._written = frozenset(written)
        self._separation = Separation(self._look_up)
        self._bounds: dict[tuple[str, int], tuple[typed.Symbol, typed.Symbol]] = {}
        self._consulted: set[str] = set()
        self._inspected: set[int] = set()

    def build(self) -> tuple[typed.KernelDef, Inspection]:
        self._settled()
        self._separation.unseen_is_unknown = True
        self._settled()
        self._separation.required.clear()
        body = _sliced(self._body(self._kernel.body))
        span = self._kernel.span
        used = reads(body)
        rows = [(key, row) for key, row in self._bounds.items() if used & set(row)]
        declared = [
            typed.Declare(
                span,
                symbol,
                typed.Call(span, LONG, "bound", (typed.Literal(span, INT, 1 + 2 * row + place),)),
            )
            for row, (_, pair) in enumerate(rows)
            for place, symbol in enumerate(pair)
        ]
        return replace(self._kernel, body=(*declared, *body)), Inspection(
            frozenset(self._inspected),
            tuple([key for key, _ in rows]),
            tuple(sorted(self._consulted)),
            tuple(sorted(self._written)),
        )

    # Which variables are known, and their parts.

    def _settled(self) -> None:
        """To a fixed point: more variables become unknown, and variables get more parts."""
        before = None
        while before != (before := (len(self._separation.unknown), dict(self._separation.shadows))):
            self._settle(self._kernel.body)

    def _settle(self, body: typed.Body) -> None:
        """Record the parts of each assigned variable."""
        for statement in body:
            if isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None:
                self._note(statement.symbol, statement.value)
            elif bodies(statement):
                if not self._is_certain(statement):
                    self._lose(statement)
                for inner in bodies(statement):
                    self._settle(inner)

    def _note(self, symbol: typed.Symbol, value: typed.Expr) -> None:
        try:
            if not is_spread(symbol.type):
                self._separation.plain(value)
                return
            parts = self._separation.parts(value)
        except Unseen:
            return
        except Uninspectable:
            self._separation.unknown.add(symbol)
            return
        before = self._separation.shadows.get(symbol) or Shadow(None, (None,) * len(parts.axes))
        base, *axes = [
            _shadow(symbol, name, old, part)
            for name, old, part in zip(
                ("base", *map(str, range(len(parts.axes)))),
                (before.base, *before.axes),
                (parts.base, *parts.axes),
                strict=True,
            )
        ]
        if (base, *axes) != (before.base, *before.axes) or symbol not in self._separation.shadows:
            self._separation.shadows[symbol] = Shadow(base, tuple(axes))

    def _is_certain(self, statement: typed.Statement) -> bool:
        """Whether it is known which of the inner statements run, and how often."""
        if not isinstance(statement, typed.If | typed.RangeLoop):
            return False
        try:
            for expr in expressions((statement,), deep=False):
                self._separation.plain(expr)
        except Uninspectable:
            return False
        return True

    def _lose(self, statement: typed.Statement) -> None:
        """The variables that such a statement sets become unknown, except those declared in it."""
        inner = statement.body if isinstance(statement, typed.For) else (statement,)
        own = {
            declaration.symbol for declaration in statements(inner) if isinstance(declaration, typed.Declare)
        }
        self._separation.unknown |= assigned((statement,)) - own

    def _look_up(self, load: typed.Load) -> typed.Expr:
        """A load of memory that the kernel does not write."""
        assert load.site is not None
        roots = self._sites[load.site].roots
        if roots is None or len(roots) != 1 or roots[0] in self._written:
            raise Uninspectable
        pointer = self._separation.plain(load.pointer)
        mask = (
            self._separation.plain(load.mask) if load.mask is not None else typed.Literal(load.span, BOOL, 1)
        )
        bound = self._bound(self._sites[load.site])
        value: typed.Expr = typed.Call(load.span, load.type, "looked_up", (pointer, mask, *bound))
        if load.other is not None:
            value = typed.Select(load.span, load.type, mask, value, self._separation.plain(load.other))
        self._consulted.add(roots[0])
        return value

    # The statements of the inspector.

    def _body(self, body: typed.Body) -> list[typed.Statement]:
        result: list[typed.Statement] = []
        for statement in body:
            for number, pointer, mask in _accesses(statement):
                result += self._inspect(number, pointer, mask)
            result += self._statement(statement)
        return result

    def _statement(self, statement: typed.Statement) -> list[typed.Statement]:
        if isinstance(statement, typed.Declare | typed.Assign):
            return self._set(statement)
        inner = [tuple(self._body(body)) for body in bodies(statement)]
        if not inner or not self._is_certain(statement):
            return [inspected for body in inner for inspected in body]
        if isinstance(statement, typed.If):
            then, otherwise = inner
            condition = self._separation.plain(statement.condition)
            return [typed.If(statement.span, condition, then, otherwise)]
        assert isinstance(statement, typed.RangeLoop)
        start, stop, step = map(self._separation.plain, (statement.start, statement.stop, statement.step))
        return [typed.RangeLoop(statement.span, statement.symbol, start, stop, step, inner[0])]

    def _set(self, statement: typed.Declare | typed.Assign) -> list[typed.Statement]:
        symbol, value = statement.symbol, statement.value
        if symbol in self._separation.unknown:
            return []
        if not is_spread(symbol.type):
            value = None if value is None else self._separation.plain(value)
            return [replace(statement, value=value, comments=typed.NO_COMMENTS)]
        shadow = self._separation.shadows.get(symbol)
        if shadow is None:
            return []
        parts = Parts(None, (None,) * len(shadow.axes)) if value is None else self._separation.parts(value)
        result = self._required()
        for target, part in zip((shadow.base, *shadow.axes), (parts.base, *parts.axes), strict=True):
            if target is None or (isinstance(part, typed.Name) and part.symbol is target):
                continue
            if value is None:
                result.append(typed.Declare(statement.span, target, None))
                continue
            part = _nothing(statement, target) if part is None else part
            if element_of(target.type) == LONG:
                part = convert(part, LONG)
            result.append(type(statement)(statement.span, target, part))
        return result

    def _required(self) -> list[typed.Statement]:
        required, self._separation.required = self._separation.required, []
        return required

    def _inspect(self, number: int, pointer: typed.Expr, mask: typed.Expr | None) -> list[typed.Statement]:
        """The comparison of one access; empty if its address is unknown."""
        site, shape = self._sites[number], shape_of(pointer.type)
        if site.roots is None or len(site.roots) != 1:
            return []
        try:
            parts = self._separation.parts(pointer)
        except Uninspectable:
            self._separation.required.clear()
            return []
        where = self._mask(mask, shape)
        arguments = [parts.base, where.base or typed.Literal(site.span, BOOL, 1)]
        arguments += [*self._bound(site), typed.Literal(site.span, INT, site.width)]
        for size, part, inside in zip(shape, parts.axes, where.axes, strict=True):
            if part is not None or inside is not None:
                zeros = typed.Broadcast(site.span, BlockType(INT, (size,)), typed.Literal(site.span, INT, 0))
                arguments += [part or zeros, inside or typed.Literal(site.span, BOOL, 1)]
        self._inspected.add(number)
        compared = typed.Call(site.span, BOOL, "inspected", tuple(arguments))  # type: ignore[arg-type]
        return [*self._required(), typed.Evaluate(site.span, compared)]

    def _mask(self, mask: typed.Expr | None, shape: tuple[int, ...]) -> Parts:
        """The known conjuncts of a mask, which are true wherever the mask is."""
        if mask is None:
            return Parts(None, (None,) * len(shape))
        try:
            return self._separation.aligned(mask, shape)
        except Uninspectable:
            if isinstance(mask, typed.Binary) and mask.operator == "&&":
                return joined(self._mask(mask.left, shape), self._mask(mask.right, shape), "&&")
        return Parts(None, (None,) * len(shape))

    def _bound(self, site: Site) -> tuple[typed.Expr, typed.Expr]:
        assert site.roots is not None
        key = (site.roots[0], site.width)
        if key not in self._bounds:
            span = self._kernel.span
            self._bounds[key] = (
                typed.Symbol(f"first_{key[0]}", LONG, span),
                typed.Symbol(f"room_{key[0]}", LONG, span),
            )
        first, capacity = self._bounds[key]
        return typed.Name(site.span, LONG, first), typed.Name(site.span, LONG, capacity)


def _accesses(statement: typed.Statement) -> list[tuple[int, typed.Expr, typed.Expr | None]]:
    """The sites of one statement, without those of its blocks, with their pointers and masks."""
    accesses = [
        (node.site, node.pointer, node.mask)
        for expr in expressions((statement,), deep=False)
        for node in walk(expr)
        if isinstance(node, typed.Load | typed.Atomic) and node.site is not None
    ]
    if isinstance(statement, typed.Store) and statement.site is not None:
        accesses.append((statement.site, statement.pointer, statement.mask))
    return accesses


def _shadow(
    symbol: typed.Symbol, name: str, before: typed.Symbol | None, part: typed.Expr | None
) -> typed.Symbol | None:
    """The variable of one part; None as long as no value has that part."""
    if part is None or (before is not None and before.type == part.type):
        return before
    type_ = part.type
    if before is not None and not isinstance(element_of(type_), PointerType):
        type_ = BlockType(LONG, shape_of(type_)) if shape_of(type_) else LONG
        if before.type == type_:
            return before
    return typed.Symbol(f"{symbol.name}_{name}", type_, symbol.span)  # type: ignore[arg-type]


def _nothing(statement: typed.Statement, target: typed.Symbol) -> typed.Expr:
    """The neutral value of a part that a value does not have: 0, or true."""
    element = element_of(target.type)
    number = typed.Literal(statement.span, element, int(element == BOOL))
    shape = shape_of(target.type)
    return typed.Broadcast(statement.span, target.type, number) if shape else number


def _sliced(body: list[typed.Statement]) -> typed.Body:
    """The statements without dead ones."""
    needed: set[typed.Symbol] = set()
    while True:
        kept = _kept(body, needed)
        now = reads(kept)
        if now <= needed:
            return kept
        needed |= now


def _kept(body: Sequence[typed.Statement], needed: set[typed.Symbol]) -> typed.Body:
    kept: list[typed.Statement] = []
    for statement in body:
        if isinstance(statement, typed.Declare | typed.Assign):
            kept += [statement] if statement.symbol in needed else []
        elif isinstance(statement, typed.If):
            then, otherwise = _kept(statement.then, needed), _kept(statement.otherwise, needed)
            kept += [replace(statement, then=then, otherwise=otherwise)] if then or otherwise else []
        elif isinstance(statement, typed.RangeLoop):
            inner = _kept(statement.body, needed)
            kept += [replace(statement, body=inner)] if inner else []
        else:
            kept.append(statement)
    return tuple(kept)
