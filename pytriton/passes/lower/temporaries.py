"""Operands that Python would have to repeat -> variables; and divisors that may be zero.

``max(a, b)`` of floats is ``a > b ? a : b``, which gives b where either is NaN; Triton has no such function.
So ``max(m, s[:, max])`` becomes ``s_max = tl.max(s, axis=1)`` and ``tl.where(m > s_max, m, s_max)``. Conditions of
loops are not changed: a variable before the loop would be too early.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.recording import is_power_of_2
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, scalar_of
from pytriton.lang.tree.types import (
    BOOL,
    BlockType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import (
    expressions,
    has_memory,
    kinds,
    map_expressions,
    map_statements,
    names,
    same,
    walk,
    with_children,
)
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import Values, sources, values_of, with_body

_MAY_REPEAT = frozenset((typed.Call, typed.Select))


def temporaries(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``max(m, s[:, max])`` as ``s_max = s[:, max]`` and ``max(m, s_max)``; anything else as it is."""
    body = map_statements(kernel.body, _statement)
    return with_body(kernel, body)


def _statement(statement: typed.Statement) -> typed.Body:
    own = statement.condition if isinstance(statement, typed.If) else getattr(statement, "value", None)
    if own is None or _MAY_REPEAT.isdisjoint(kinds(own)):
        return (statement,)
    declared: list[typed.Declare] = []

    def change(expr: typed.Expr) -> typed.Expr:
        return _without_repeats(expr, declared)

    match statement:
        case typed.Declare(value=value) | typed.Assign(value=value) | typed.Evaluate(value=value) if (
            value is not None
        ):
            changed: typed.Statement = replace(statement, value=change(value))
        case typed.Store(value=value):
            changed = replace(statement, value=change(value))
        case typed.If(condition=condition):
            changed = replace(statement, condition=change(condition))
        case _:
            return (statement,)
    if not declared:
        return (statement,)
    declared[0] = replace(declared[0], comments=replace(statement.comments, beside=()))
    beside = replace(typed.NO_COMMENTS, beside=statement.comments.beside)
    return (*declared, replace(changed, comments=beside))


def _without_repeats(expr: typed.Expr, declared: list[typed.Declare]) -> typed.Expr:
    """The expression with variables for what would be repeated; their declarations are appended."""
    divisor = _repeated(expr)
    if divisor is not None:
        assert isinstance(expr, typed.Select) and isinstance(expr.condition, typed.Binary)
        name = _variable(_without_repeats(divisor, declared), "divisor", declared)
        return replace(expr, condition=replace(expr.condition, left=name), yes=name)
    expr = with_children(expr, lambda operand: _without_repeats(operand, declared))
    if not isinstance(expr, typed.Call) or expr.function not in ("min", "max"):
        return expr
    element = scalar_of(expr.type)
    if element is None or not element.is_float or all(map(_short, expr.arguments)):
        return expr
    operands = tuple([_variable(operand, _name(operand), declared) for operand in expr.arguments])
    return replace(expr, arguments=operands)


def _variable(operand: typed.Expr, name: str, declared: list[typed.Declare]) -> typed.Expr:
    """A variable for an operand, unless that is short."""
    if _short(operand):
        return operand
    assert isinstance(operand.type, ScalarType | PointerType | BlockType)
    symbol = typed.Symbol(name, operand.type, operand.span)
    declared.append(typed.Declare(operand.span, symbol, operand))
    return typed.Name(operand.span, operand.type, symbol)


def _repeated(expr: typed.Expr) -> typed.Expr | None:
    """The divisor in ``divisor != 0 ? divisor : 1`` (see ``divisors``)."""
    match expr:
        case typed.Select(condition=typed.Binary(operator="!=", left=left), yes=yes) if same(left, yes):
            return None if _short(yes) else yes
    return None


def _short(operand: typed.Expr) -> bool:
    """Whether an operand may be repeated."""
    match operand:
        case typed.Name() | typed.Literal() | typed.Constexpr():
            return True
        case typed.Unary(operand=inner) | typed.Cast(operand=inner):
            return _short(inner)
        case _:
            return False


def _name(operand: typed.Expr) -> str:
    """``s_max`` for the maximum of ``s``, else ``value``."""
    match operand:
        case typed.Reduce(operand=typed.Name(symbol=symbol), operator=operator):
            return f"{symbol.name}_{'sum' if operator == '+' else operator}"
        case _:
            return "value"


# ---------------------------------------------------------------- divisors
# Integer divisions by a divisor that may be zero -> divisions by 1 there.
#
# ``x != 0 ? n / x : 0`` divides where x is 0, too, as nothing is short-circuited; the language leaves that quotient
# unspecified, and the select drops it. But LLVM concludes from a division that x is not 0, and drops every test of
# it. So a divisor of 0 becomes 1 where the kernel can distinguish the two: where it was loaded (masked elements are
# 0), where a variable in it is compared with a constant or used as a truth value, and where it is a block that will
# be padded (passes/lower/pad.py: the padding is undefined).


_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))


def divisors(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``n / x`` as ``n / (x != 0 ? x : 1)`` where x may be 0; anything else as it is."""
    nodes = [node for expr in expressions(kernel.body) for node in walk(expr)]
    if not any(map(_divides, nodes)):
        return kernel
    tested = {symbol for node in nodes for symbol in _tested(node)}
    values = values_of(kernel.body)

    def safe(expr: typed.Expr) -> typed.Expr:
        expr = with_children(expr, safe)
        if not _divides(expr) or not _doubtful(expr.right, tested, values):  # type: ignore[union-attr]
            return expr
        assert isinstance(expr, typed.Binary)
        return replace(expr, right=_or_one(expr.right))

    body = map_expressions(kernel.body, safe)
    return with_body(kernel, body)


def _divides(expr: typed.Expr) -> bool:
    if not isinstance(expr, typed.Binary) or expr.operator not in ("/", "%"):
        return False
    scalar = scalar_of(expr.type)
    return scalar is not None and scalar.is_integer and constant(expr.right) is None


def _doubtful(divisor: typed.Expr, tested: set[typed.Symbol], values: Values) -> bool:
    if names(divisor) & tested or not all(map(is_power_of_2, shape_of(divisor.type))):
        return True
    computed = [value for symbol in sources([divisor], values) for value in values.get(symbol, ())]
    return any(map(has_memory, [divisor, *computed]))


def _or_one(divisor: typed.Expr) -> typed.Expr:
    """``divisor != 0 ? divisor : 1``"""
    element = element_of(divisor.type)
    zero, unit = (typed.Literal(divisor.span, element, value) for value in (0, 1))
    test = typed.Binary(divisor.span, with_element(BOOL, shape_of(divisor.type)), "!=", divisor, zero)
    return typed.Select(divisor.span, divisor.type, test, divisor, unit)


def _tested(node: typed.Expr) -> frozenset[typed.Symbol]:
    """The variables of expressions that are compared with a constant, or used as a truth value."""
    match node:
        case typed.Binary(operator=operator, left=left, right=right) if operator in _COMPARISONS:
            if constant(left) is not None or constant(right) is not None:
                return names(left) | names(right)
        case typed.Cast(operand=operand) if scalar_of(node.type) == BOOL:
            return names(operand)
    return frozenset()
