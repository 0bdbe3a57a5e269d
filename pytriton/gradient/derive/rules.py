"""The local derivatives: what flows back into the operands of an expression, one rule a node of the typed tree.

What flows is a ``Seed``: a formula, and a mask outside which it counts as 0. A seed is multiplied first and
masked after that, so that an infinite derivative in a lane that was masked off never meets a sum. ``clean``
says that the formula is 0 outside the mask already. Where shapes change, a masked seed gets a name, and its
mask becomes ``name != 0``. ``shape`` is that of the node; the formula may be smaller, and stands for its
repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from pytriton.frozen import record, replace
from pytriton.gradient.derive import formula as f
from pytriton.gradient.derive.active import Flow
from pytriton.gradient.derive.formula import Formula
from pytriton.gradient.derive.graph import refuse
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Dot,
    Expand,
    Expr,
    Load,
    Name,
    Permute,
    Reduce,
    Reshape,
    Select,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import DOUBLE, FLOAT, ScalarType, element_of, shape_of
from pytriton.lang.tree.walk import same


@record
class Seed:
    value: Formula
    shape: tuple[int, ...]
    mask: Formula | None = None
    clean: bool = True


class Surroundings(Protocol):
    """Where the rules run (reverse.py). ``value``: what an expression of the forward has; ``named``: a
    formula as a variable; ``contribute``: to what flows into a variable; ``put``: into the memory that was
    loaded; ``half``: a formula without its conversion to float, if it was half before.
    """

    flow: Flow

    def value(self, expr: Expr) -> Formula: ...
    def named(self, formula: Formula, shape: tuple[int, ...] | None = None) -> Formula: ...
    def contribute(self, symbol: Symbol, seed: Seed) -> None: ...
    def put(self, load: Load, seed: Seed) -> None: ...
    def half(self, formula: Formula) -> Formula: ...


def adjoint_type(type_: object) -> ScalarType:
    """What flows is float, of doubles double."""
    return DOUBLE if element_of(type_) == DOUBLE else FLOAT  # type: ignore[arg-type]


_ZERO: Final = f.number(0)
_ONE: Final = f.number(1)


def settled(seed: Seed) -> Formula:
    """The formula, 0 outside the mask."""
    if seed.mask is None or seed.clean:
        return seed.value
    return f.select(seed.mask, seed.value, _ZERO)


def back(expr: Expr, seed: Seed, at: Surroundings) -> None:
    """Carry a seed to the variables and the memory that an expression is computed from."""
    if not at.flow.active(expr):
        return
    seed = _fitted(seed, shape_of(expr.type), at)
    match expr:
        case Name(symbol=symbol):
            at.contribute(symbol, seed)
        case Load():
            _load(expr, seed, at)
        case Unary(operator="-", operand=operand):
            back(operand, replace(seed, value=f.negated(seed.value)), at)
        case Binary():
            _binary(expr, seed, at)
        case Select():
            _select(expr, at.value(expr.condition), expr.yes, expr.no, seed, at)
        case Cast(operand=operand) | Broadcast(operand=operand):
            back(operand, seed, at)
        case Expand(operand=operand, axes=axes):
            gained = tuple(axis for axis, new in enumerate(axes) if new)
            back(operand, _without(seed, gained, shape_of(operand.type), at), at)
        case Reshape(operand=operand):
            back(operand, _reshaped(seed, shape_of(operand.type), at), at)
        case Permute(operand=operand, order=order):
            back(operand, _permuted(seed, order, at), at)
        case Reduce():
            _reduce(expr, seed, at)
        case Dot():
            _dot(expr, seed, at)
        case Call(function=function) if function in _FUNCTIONS:
            _FUNCTIONS[function](expr, _named(seed, at), at)
        case _:
            refuse("TC701", "this has no derivative rule", expr.span)


# ---------------------------------------------------------------- seeds


def _named(seed: Seed, at: Surroundings) -> Seed:
    """The same with a formula that may be written several times."""
    inner = seed.value.opposite or seed.value
    return seed if inner.symbol is not None else replace(seed, value=at.named(seed.value))


def _times(seed: Seed, factor: Formula) -> Seed:
    return replace(seed, value=f.multiply(seed.value, factor), clean=False)


def _over(seed: Seed, divisor: Formula) -> Seed:
    value = seed.value
    if value.opposite is not None:
        return replace(seed, value=f.negated(f.binary("/", value.opposite, divisor)), clean=False)
    return replace(seed, value=f.binary("/", value, divisor), clean=False)


def _masked(seed: Seed, mask: Formula) -> Seed:
    return replace(seed, mask=f.both(seed.mask, mask), clean=False)


def _held(seed: Seed, at: Surroundings) -> Seed:
    """The same without a mask of its own shape: 0 is seen in the value."""
    if seed.mask is None:
        return seed
    value = at.named(settled(seed))
    return Seed(value, seed.shape, f.binary("!=", value, _ZERO))


def _full(seed: Seed) -> Formula:
    value = settled(seed)
    return value if value.shape == seed.shape else f.filled(value, seed.shape)


def _fitted(seed: Seed, shape: tuple[int, ...], at: Surroundings) -> Seed:
    """Summed over the axes along which an operand of this shape was repeated."""
    if seed.shape == shape:
        return seed
    lead = len(seed.shape) - len(shape)
    ones = [at for at, size in enumerate(shape) if size == 1 and seed.shape[lead + at] != 1]
    gone = [*range(lead), *(lead + axis for axis in ones)]
    summed = f.reduced(_full(seed), gone)
    again = f.expanded(summed, [axis in ones for axis in range(len(shape))])
    return Seed(again, shape)


def _without(seed: Seed, axes: tuple[int, ...], shape: tuple[int, ...], at: Surroundings) -> Seed:
    """Axes of size 1 dropped."""
    if not seed.value.shape and (seed.mask is None or not seed.mask.shape):
        return replace(seed, shape=shape)
    before = f.unexpanded(seed.value, axes)
    if seed.mask is None and before is not None:
        return Seed(before, shape)
    held = _held(seed, at)
    bare = Seed(f.reduced(_full(held), axes), shape)
    return bare if held.mask is None else _seen(bare, at)


def _seen(seed: Seed, at: Surroundings) -> Seed:
    """Masked where its value is 0: what it was before came with a mask."""
    value = at.named(seed.value)
    return Seed(value, seed.shape, f.binary("!=", value, _ZERO))


def _reshaped(seed: Seed, shape: tuple[int, ...], at: Surroundings) -> Seed:
    if not seed.value.shape and seed.mask is None:
        return replace(seed, shape=shape)
    masked = seed.mask is not None
    value = _full(seed)
    if not shape:
        bare = Seed(f.reduced(value, range(len(seed.shape))), shape)
    else:
        bare = Seed(at.named(value, shape), shape)
    return _seen(bare, at) if masked else bare


def _permuted(seed: Seed, order: Sequence[int], at: Surroundings) -> Seed:
    inverse = [order.index(axis) for axis in range(len(order))]
    shape = tuple(seed.shape[axis] for axis in inverse)
    if not seed.value.shape and seed.mask is None:
        return replace(seed, shape=shape)
    bare = Seed(f.permuted(_full(seed), inverse), shape)
    return _seen(bare, at) if seed.mask is not None else bare


def _spread(formula: Formula, shape: tuple[int, ...], axis: int) -> Formula:
    """What was reduced, beside what it was reduced from."""
    if not shape or not formula.shape:
        return formula
    full = formula if formula.shape == shape else f.filled(formula, shape)
    return f.expanded(full, [at == axis for at in range(len(shape) + 1)])


# ---------------------------------------------------------------- rules


def _load(load: Load, seed: Seed, at: Surroundings) -> None:
    roots = at.flow.roots(load.pointer)
    both = load.other is not None and at.flow.active(load.other) and not roots.isdisjoint(at.flow.inputs)
    seed = _named(seed, at) if both else seed
    if load.other is not None and load.mask is not None and at.flow.active(load.other):
        back(load.other, _masked(seed, f.inverted(at.value(load.mask))), at)
    if not roots.isdisjoint(at.flow.inputs):
        at.put(load, seed)


def _binary(expr: Binary, seed: Seed, at: Surroundings) -> None:
    left, right = expr.left, expr.right
    if at.flow.active(left) and at.flow.active(right):
        seed = _named(seed, at)
    match expr.operator:
        case "+":
            back(left, seed, at)
            back(right, seed, at)
        case "-":
            back(left, seed, at)
            back(right, replace(seed, value=f.negated(seed.value)), at)
        case "*" if same(left, right):
            back(left, _times(replace(seed, value=f.multiply(f.number(2), seed.value)), at.value(left)), at)
        case "*":
            if at.flow.active(left):
                back(left, _times(seed, at.value(right)), at)
            if at.flow.active(right):
                back(right, _times(seed, at.value(left)), at)
        case "/":
            quotient = _over(seed, at.value(right))
            if at.flow.active(left) and at.flow.active(right):
                quotient = _named(quotient, at)
            back(left, quotient, at)
            if at.flow.active(right):
                times = _times(quotient, at.value(expr))
                back(right, replace(times, value=f.negated(times.value)), at)
        case _:
            refuse("TC701", f"'{expr.operator}' of floating values has no derivative rule", expr.span)


def _select(test: Expr | None, mask: Formula, yes: Expr, no: Expr, seed: Seed, at: Surroundings) -> None:
    if at.flow.active(yes) and at.flow.active(no):
        seed = _named(seed, at)
    back(yes, _masked(seed, mask), at)
    back(no, _masked(seed, f.inverted(mask)), at)


def _reduce(expr: Reduce, seed: Seed, at: Surroundings) -> None:
    operand, shape = expr.operand, shape_of(expr.operand.type)
    if expr.operator == "+":
        mask = None if seed.mask is None else _spread(seed.mask, seed.shape, expr.axis)
        back(operand, Seed(_spread(seed.value, seed.shape, expr.axis), shape, mask, seed.clean), at)
        return
    value = at.value(operand)
    value = value if value.symbol is not None else at.named(value)
    extreme = _spread(at.value(expr), seed.shape, expr.axis)
    equal = f.binary("==", value, extreme)
    equal = at.named(equal)
    count = _spread(f.reduced(equal, (expr.axis,)), seed.shape, expr.axis)
    share = f.binary("/", _spread(settled(seed), seed.shape, expr.axis), count)
    back(operand, Seed(share, shape, equal, clean=False), at)


def _dot(expr: Dot, seed: Seed, at: Surroundings) -> None:
    if at.flow.active(expr.left) and at.flow.active(expr.right):
        seed = _named(seed, at) if seed.clean else replace(seed, value=at.named(settled(seed)), clean=True)
    flowing = _full(seed)
    swapped = (1, 0, *range(2, len(seed.shape)))
    for operand, other in ((expr.left, expr.right), (expr.right, expr.left)):
        if not at.flow.active(operand):
            continue
        beside = at.value(other)
        beside = beside if beside.shape == shape_of(other.type) else f.filled(beside, shape_of(other.type))
        narrow = at.half(flowing)
        coming = narrow if narrow.element == beside.element else flowing
        turned = f.permuted(beside, swapped)
        product = f.binary("@", coming, turned) if operand is expr.left else f.binary("@", turned, coming)
        made = product.of(adjoint_type(operand.type), shape_of(operand.type))
        back(operand, Seed(made, shape_of(operand.type)), at)


def _one(
    derivative: Callable[[Call, Seed, Surroundings], Seed],
) -> Callable[[Call, Seed, Surroundings], None]:
    """A function of one argument: its seed."""
    return lambda expr, seed, at: back(expr.arguments[0], derivative(expr, seed, at), at)


def _argument(expr: Call, at: Surroundings) -> Formula:
    return at.value(expr.arguments[0])


def _scaled(seed: Seed, value: float, at: Surroundings) -> Seed:
    return replace(seed, value=f.multiply(seed.value, f.number(value, seed.value.scalar)))


def _erf(expr: Call, seed: Seed, at: Surroundings) -> Seed:
    x = _argument(expr, at)
    x = x if x.symbol is not None else at.named(x)
    bell = f.call("exp", adjoint_type(expr.type), f.negated(f.multiply(x, x)))
    return _times(_scaled(seed, 1.1283791670955126, at), bell)


def _pow(expr: Call, seed: Seed, at: Surroundings) -> None:
    base, exponent = expr.arguments
    element = adjoint_type(expr.type)
    x, y = at.value(base), at.value(exponent)
    if at.flow.active(base):
        slope = f.multiply(y, f.call("pow", element, x, f.binary("-", y, _ONE)))
        flat = f.binary("!=", y, _ZERO)
        back(base, replace(_times(_masked(seed, flat), slope)), at)
    if at.flow.active(exponent):
        slope = f.multiply(at.value(expr), f.call("log", element, x))
        positive = f.inverted(f.binary("&&", f.binary("==", x, _ZERO), f.binary(">=", y, _ZERO)))
        back(exponent, _times(_masked(seed, positive), slope), at)


def _fma(expr: Call, seed: Seed, at: Surroundings) -> None:
    a, b, c = expr.arguments
    if at.flow.active(a):
        back(a, _times(seed, at.value(b)), at)
    if at.flow.active(b):
        back(b, _times(seed, at.value(a)), at)
    back(c, seed, at)


def _picked(operator: str) -> Callable[[Call, Seed, Surroundings], None]:
    """``min(a, b)`` is ``a < b ? a : b``."""

    def rule(expr: Call, seed: Seed, at: Surroundings) -> None:
        a, b = expr.arguments
        taken = f.binary(operator, at.value(a), at.value(b))
        _select(None, taken, a, b, seed, at)

    return rule


def _abs(expr: Call, seed: Seed, at: Surroundings) -> None:
    x = _argument(expr, at)
    up, down = f.binary(">", x, _ZERO), f.binary("<", x, _ZERO)
    falling = f.select(down, f.negated(seed.value), _ZERO)
    back(expr.arguments[0], replace(seed, value=f.select(up, seed.value, falling), clean=seed.clean), at)


def _minus(seed: Seed, factor: Formula) -> Seed:
    return replace(_times(seed, factor), value=f.negated(f.multiply(seed.value, factor)))


def _square(value: Formula) -> Formula:
    return f.multiply(value, value)


def _call(name: str, expr: Call, at: Surroundings) -> Formula:
    return f.call(name, adjoint_type(expr.type), _argument(expr, at))


_LN2: Final = 0.6931471805599453

_FUNCTIONS: Final[dict[str, Callable[[Call, Seed, Surroundings], None]]] = {
    "exp": _one(lambda e, s, at: _times(s, at.value(e))),
    "exp2": _one(lambda e, s, at: _times(_scaled(s, _LN2, at), at.value(e))),
    "log": _one(lambda e, s, at: _over(s, _argument(e, at))),
    "log2": _one(lambda e, s, at: _over(s, f.multiply(_argument(e, at), f.number(_LN2, s.value.scalar)))),
    "sqrt": _one(lambda e, s, at: _over(s, f.multiply(f.number(2), at.value(e)))),
    "rsqrt": _one(
        lambda e, s, at: _minus(_scaled(s, 0.5, at), f.multiply(_square(at.value(e)), at.value(e)))
    ),
    "sin": _one(lambda e, s, at: _times(s, _call("cos", e, at))),
    "cos": _one(lambda e, s, at: _minus(s, _call("sin", e, at))),
    "tanh": _one(lambda e, s, at: _times(s, f.binary("-", _ONE, _square(at.value(e))))),
    "sigmoid": _one(lambda e, s, at: _times(s, f.multiply(at.value(e), f.binary("-", _ONE, at.value(e))))),
    "erf": _one(_erf),
    "pow": _pow,
    "fma": _fma,
    "min": _picked("<"),
    "max": _picked(">"),
    "abs": _abs,
}
