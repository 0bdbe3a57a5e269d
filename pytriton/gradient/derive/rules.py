"""The local derivatives: the cotangents of the operands of an expression, one rule per node of the typed tree.

A ``Cotangent`` is a formula, and a mask outside which it counts as 0. It is multiplied first and masked after
that, so that an infinite derivative in a lane that was masked off is never added to a sum. ``clean``: the
formula is 0 outside the mask already. Where shapes change, a masked cotangent gets a name, and its mask becomes
``name != 0``. ``shape`` is that of the node; a smaller formula is broadcast to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import Flow
from pytriton.gradient.derive.again import exact_conversion
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
from pytriton.lang.tree.types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    HALF,
    ScalarType,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.unparse import element
from pytriton.lang.tree.walk import same


@record
class Cotangent:
    value: Expr
    shape: tuple[int, ...]
    mask: Expr | None = None
    clean: bool = True


class Surroundings(Protocol):
    """Where the rules run (reverse.py). ``value``: that of an expression of the forward; ``named``: a
    formula as a variable; ``contribute``: to the cotangent of a variable; ``put``: into the memory that was
    loaded; ``half``: a formula without its conversion to float, if it was half before.
    """

    flow: Flow

    def value(self, expr: Expr) -> Expr: ...
    def named(
        self,
        formula: Expr,
        shape: tuple[int, ...] | None = None,
        hint: str = "t",
        to: ScalarType | None = None,
    ) -> Expr: ...
    def contribute(self, symbol: Symbol, cotangent: Cotangent) -> None: ...
    def put(self, load: Load, cotangent: Cotangent) -> None: ...
    def half(self, formula: Expr) -> Expr: ...


def adjoint_type(type_: object) -> ScalarType:
    """Cotangents are float, of doubles double."""
    return DOUBLE if element_of(type_) == DOUBLE else FLOAT  # type: ignore[arg-type]


def settled(cotangent: Cotangent) -> Expr:
    """The formula, 0 outside the mask."""
    if cotangent.mask is None or cotangent.clean:
        return cotangent.value
    return f.select(cotangent.mask, cotangent.value, f.ZERO)


def back(expr: Expr, cotangent: Cotangent, at: Surroundings) -> None:
    """Carry a cotangent to the variables and the memory that an expression is computed from."""
    if not at.flow.active(expr):
        return
    cotangent = _fitted(cotangent, shape_of(expr.type), at)
    match expr:
        case Name(symbol=symbol):
            at.contribute(symbol, cotangent)
        case Load():
            _load(expr, cotangent, at)
        case Unary(operator="-", operand=operand):
            back(operand, _negated(cotangent), at)
        case Binary():
            _binary(expr, cotangent, at)
        case Select():
            _select(at.value(expr.condition), expr.yes, expr.no, cotangent, at)
        case Cast(operand=operand) | Broadcast(operand=operand):
            back(operand, cotangent, at)
        case Expand(operand=operand, axes=axes):
            gained = tuple(axis for axis, new in enumerate(axes) if new)
            back(operand, _without(cotangent, gained, shape_of(operand.type), at), at)
        case Reshape(operand=operand):
            back(operand, _reshaped(cotangent, shape_of(operand.type), at), at)
        case Permute(operand=operand, order=order):
            back(operand, _permuted(cotangent, order, at), at)
        case Reduce():
            _reduce(expr, cotangent, at)
        case Dot():
            _dot(expr, cotangent, at)
        case Call(function=function) if function in _FUNCTIONS:
            _FUNCTIONS[function](expr, _named(cotangent, at), at)
        case _:
            refuse("TC701", "this has no derivative rule", expr.span)


# ---------------------------------------------------------------- cotangents


def _named(cotangent: Cotangent, at: Surroundings) -> Cotangent:
    """The same with a formula that may be written several times."""
    inner = f.opposite(cotangent.value) or cotangent.value
    return cotangent if f.variable(inner) is not None else replace(cotangent, value=at.named(cotangent.value))


def _variable(formula: Expr, at: Surroundings) -> Expr:
    """A formula as a variable of its type: C would compute with a variable of half in half."""
    return formula if isinstance(formula, Name) else at.named(formula)


def _times(cotangent: Cotangent, factor: Expr) -> Cotangent:
    return replace(cotangent, value=f.multiply(cotangent.value, factor), clean=False)


def _negated(cotangent: Cotangent) -> Cotangent:
    return replace(cotangent, value=f.negated(cotangent.value))


def _over(cotangent: Cotangent, divisor: Expr) -> Cotangent:
    value = f.over(cotangent.value, divisor)
    return cotangent if value is cotangent.value else replace(cotangent, value=value, clean=False)


def _masked(cotangent: Cotangent, mask: Expr) -> Cotangent:
    return replace(cotangent, mask=f.both(cotangent.mask, mask), clean=False)


def _full(cotangent: Cotangent) -> Expr:
    return f.filled(settled(cotangent), cotangent.shape)


def _fitted(cotangent: Cotangent, shape: tuple[int, ...], at: Surroundings) -> Cotangent:
    """Summed over the axes along which an operand of this shape was repeated."""
    if cotangent.shape == shape:
        return cotangent
    lead = len(cotangent.shape) - len(shape)
    ones = [at for at, size in enumerate(shape) if size == 1 and cotangent.shape[lead + at] != 1]
    gone = [*range(lead), *(lead + axis for axis in ones)]
    summed = _seen(cotangent, f.reduced(_full(cotangent), gone), shape, at)
    gained = [axis in ones for axis in range(len(shape))]
    mask = summed.mask and f.expanded(summed.mask, gained)
    return Cotangent(f.expanded(summed.value, gained), shape, mask)


def _without(
    cotangent: Cotangent, axes: tuple[int, ...], shape: tuple[int, ...], at: Surroundings
) -> Cotangent:
    """Axes of size 1 dropped."""

    def move(value: Expr) -> Expr:
        return f.unexpanded(value, axes) or f.reduced(value, axes)

    mask = cotangent.mask and f.unexpanded(cotangent.mask, axes)
    if mask:
        return Cotangent(move(_full(cotangent)), shape, mask)
    return _moved(cotangent, shape, at, move)


def where_not_0(value: Expr, shape: tuple[int, ...]) -> Cotangent:
    """Masked where it is 0: there its operands may have been masked, and 0 times what they are may be NaN."""
    return Cotangent(value, shape, f.binary("!=", value, f.ZERO))


def _seen(cotangent: Cotangent, value: Expr, shape: tuple[int, ...], at: Surroundings) -> Cotangent:
    """The formula, made of a cotangent's; with a mask if that has one."""
    return (
        Cotangent(value, shape)
        if cotangent.mask is None
        else where_not_0(at.named(value, hint="total"), shape)
    )


def _moved(
    cotangent: Cotangent, shape: tuple[int, ...], at: Surroundings, move: Callable[[Expr], Expr]
) -> Cotangent:
    """The same elements in another shape."""
    if not f.shape(cotangent.value) and (cotangent.mask is None or not f.shape(cotangent.mask)):
        return replace(cotangent, shape=shape)
    return _seen(cotangent, move(_full(cotangent)), shape, at)


def _reshaped(cotangent: Cotangent, shape: tuple[int, ...], at: Surroundings) -> Cotangent:
    def move(value: Expr) -> Expr:
        return at.named(value, shape) if shape else f.reduced(value, range(len(cotangent.shape)))

    return _moved(cotangent, shape, at, move)


def _permuted(cotangent: Cotangent, order: Sequence[int], at: Surroundings) -> Cotangent:
    inverse = [order.index(axis) for axis in range(len(order))]
    shape = tuple(cotangent.shape[axis] for axis in inverse)
    return _moved(cotangent, shape, at, lambda value: f.permuted(value, inverse))


def _spread(formula: Expr, shape: tuple[int, ...], axis: int) -> Expr:
    """A reduced value, broadcast to the shape of its operand."""
    if not shape or not f.shape(formula):
        return formula
    return f.expanded(f.filled(formula, shape), [at == axis for at in range(len(shape) + 1)])


# ---------------------------------------------------------------- rules


def _load(load: Load, cotangent: Cotangent, at: Surroundings) -> None:
    reads = not at.flow.roots(load.pointer).isdisjoint(at.flow.inputs)
    if load.other is not None and load.mask is not None and at.flow.active(load.other):
        cotangent = _named(cotangent, at) if reads else cotangent
        back(load.other, _masked(cotangent, f.inverted(at.value(load.mask))), at)
    if reads:
        at.put(load, cotangent)


def _product(left: Expr, right: Expr, cotangent: Cotangent, at: Surroundings) -> None:
    if at.flow.active(left):
        back(left, _times(cotangent, at.value(right)), at)
    if at.flow.active(right):
        back(right, _times(cotangent, at.value(left)), at)


def _binary(expr: Binary, cotangent: Cotangent, at: Surroundings) -> None:
    left, right = expr.left, expr.right
    if at.flow.active(left) and at.flow.active(right):
        cotangent = _named(cotangent, at)
    match expr.operator:
        case "+":
            back(left, cotangent, at)
            back(right, cotangent, at)
        case "-":
            back(left, cotangent, at)
            back(right, _negated(cotangent), at)
        case "*" if same(left, right):
            twice = replace(cotangent, value=f.multiply(f.number(2), cotangent.value))
            back(left, _times(twice, at.value(left)), at)
        case "*":
            _product(left, right, cotangent, at)
        case "/":
            quotient = _over(cotangent, at.value(right))
            if at.flow.active(left) and at.flow.active(right):
                quotient = _named(quotient, at)
            back(left, quotient, at)
            if at.flow.active(right):
                back(right, _negated(_times(quotient, at.value(expr))), at)
        case _:
            refuse("TC701", f"'{expr.operator}' of floating values has no derivative rule", expr.span)


def _select(mask: Expr, yes: Expr, no: Expr, cotangent: Cotangent, at: Surroundings) -> None:
    if at.flow.active(yes) and at.flow.active(no):
        cotangent = _named(cotangent, at)
    back(yes, _masked(cotangent, mask), at)
    back(no, _masked(cotangent, f.inverted(mask)), at)


def _reduce(expr: Reduce, cotangent: Cotangent, at: Surroundings) -> None:
    operand, shape = expr.operand, shape_of(expr.operand.type)
    if expr.operator == "+":
        mask = cotangent.mask and _spread(cotangent.mask, cotangent.shape, expr.axis)
        back(
            operand,
            Cotangent(_spread(cotangent.value, cotangent.shape, expr.axis), shape, mask, cotangent.clean),
            at,
        )
        return
    value = _variable(at.value(operand), at)
    extreme = _spread(at.value(expr), cotangent.shape, expr.axis)
    equal = at.named(f.binary("==", value, extreme))
    count = _spread(f.reduced(equal, (expr.axis,)), cotangent.shape, expr.axis)
    share = f.binary("/", _spread(settled(cotangent), cotangent.shape, expr.axis), count)
    back(operand, Cotangent(share, shape, equal, clean=False), at)


def _dot(expr: Dot, cotangent: Cotangent, at: Surroundings) -> None:
    """A product of halves multiplies its cotangent as half, as in torch; others in float."""
    flowing, factor = _full(cotangent), element_of(expr.left.type)
    if factor in (HALF, BFLOAT16) and factor == element_of(expr.right.type):
        loaded = at.half(flowing)
        flowing = loaded if element(loaded) == factor else at.named(flowing, to=factor)
    elif at.flow.active(expr.left) and at.flow.active(expr.right):
        flowing = _variable(flowing, at)
    swapped = (1, 0, *range(2, len(cotangent.shape)))
    for operand, other in ((expr.left, expr.right), (expr.right, expr.left)):
        if not at.flow.active(operand):
            continue
        turned = f.permuted(f.filled(at.value(other), shape_of(other.type)), swapped)
        product = f.binary("@", flowing, turned) if operand is expr.left else f.binary("@", turned, flowing)
        result = replace(product, type=with_element(adjoint_type(operand.type), shape_of(operand.type)))
        back(operand, Cotangent(result, shape_of(operand.type)), at)


def _unary(
    derivative: Callable[[Call, Cotangent, Surroundings], Cotangent],
) -> Callable[[Call, Cotangent, Surroundings], None]:
    """A function of one argument: its cotangent."""
    return lambda expr, cotangent, at: back(expr.arguments[0], derivative(expr, cotangent, at), at)


def _argument(expr: Call, at: Surroundings) -> Expr:
    return at.value(expr.arguments[0])


def _scaled(cotangent: Cotangent, value: float) -> Cotangent:
    return replace(cotangent, value=f.multiply(cotangent.value, f.number(value, f.scalar(cotangent.value))))


def _erf(expr: Call, cotangent: Cotangent, at: Surroundings) -> Cotangent:
    x = _variable(_argument(expr, at), at)
    bell = f.call("exp", adjoint_type(expr.type), f.negated(f.multiply(x, x)))
    return _times(_scaled(cotangent, 1.1283791670955126), bell)


def _pow(expr: Call, cotangent: Cotangent, at: Surroundings) -> None:
    base, exponent = expr.arguments
    element = adjoint_type(expr.type)
    x, y = at.value(base), at.value(exponent)
    y = at.named(y) if exact_conversion(y) else y  # y - 1 would be computed in half
    if at.flow.active(base):
        slope = f.multiply(y, f.call("pow", element, x, f.binary("-", y, f.ONE)))
        flat = f.binary("!=", y, f.ZERO)
        back(base, _times(_masked(cotangent, flat), slope), at)
    if at.flow.active(exponent):
        slope = f.multiply(at.value(expr), f.call("log", element, x))
        positive = f.inverted(f.binary("&&", f.binary("==", x, f.ZERO), f.binary(">=", y, f.ZERO)))
        back(exponent, _times(_masked(cotangent, positive), slope), at)


def _fma(expr: Call, cotangent: Cotangent, at: Surroundings) -> None:
    a, b, c = expr.arguments
    _product(a, b, cotangent, at)
    back(c, cotangent, at)


def _picked(operator: str, expr: Call, cotangent: Cotangent, at: Surroundings) -> None:
    """``min(a, b)`` is ``a < b ? a : b``."""
    a, b = expr.arguments
    _select(f.binary(operator, at.value(a), at.value(b)), a, b, cotangent, at)


def _abs(expr: Call, cotangent: Cotangent, at: Surroundings) -> None:
    x = _argument(expr, at)
    up, down = f.binary(">", x, f.ZERO), f.binary("<", x, f.ZERO)
    falling = f.select(down, f.negated(cotangent.value), f.ZERO)
    back(expr.arguments[0], replace(cotangent, value=f.select(up, cotangent.value, falling)), at)


def _square(value: Expr) -> Expr:
    return f.multiply(value, value)


def _call(name: str, expr: Call, at: Surroundings) -> Expr:
    return f.call(name, adjoint_type(expr.type), _argument(expr, at))


_LN2: Final = 0.6931471805599453

_FUNCTIONS: Final[dict[str, Callable[[Call, Cotangent, Surroundings], None]]] = {
    "exp": _unary(lambda e, s, at: _times(s, at.value(e))),
    "exp2": _unary(lambda e, s, at: _times(_scaled(s, _LN2), at.value(e))),
    "log": _unary(lambda e, s, at: _over(s, _argument(e, at))),
    "log2": _unary(lambda e, s, at: _over(_scaled(s, 1 / _LN2), _argument(e, at))),
    "sqrt": _unary(lambda e, s, at: _over(s, f.multiply(f.number(2), at.value(e)))),
    "rsqrt": _unary(
        lambda e, s, at: _negated(_times(_scaled(s, 0.5), f.multiply(_square(at.value(e)), at.value(e))))
    ),
    "sin": _unary(lambda e, s, at: _times(s, _call("cos", e, at))),
    "cos": _unary(lambda e, s, at: _negated(_times(s, _call("sin", e, at)))),
    "tanh": _unary(lambda e, s, at: _times(s, f.binary("-", f.ONE, _square(at.value(e))))),
    "sigmoid": _unary(lambda e, s, at: _times(s, f.multiply(at.value(e), f.binary("-", f.ONE, at.value(e))))),
    "erf": _unary(_erf),
    "pow": _pow,
    "fma": _fma,
    "min": partial(_picked, "<"),
    "max": partial(_picked, ">"),
    "abs": _abs,
}
