"""Syntax -> typed tree, for expressions.

Input: an expression as parsed and the names in scope. Output: its typed form, in which every conversion is
explicit. After an error the expression has the type ``ERROR`` and whatever uses it is silent, so that one
mistake gives one message. Loads inside ``?:`` are masked here (docs/language.md, Operators).
"""

from __future__ import annotations

import math
from typing import Final

from pytriton.lang.check import operators
from pytriton.lang.check.assignments import effect_value
from pytriton.lang.check.budget import count_nodes
from pytriton.lang.check.calls import call
from pytriton.lang.check.constants import as_size, report_not_constant, report_size
from pytriton.lang.check.context import Context, failed, value_of
from pytriton.lang.check.literals import define_type, negated, number
from pytriton.lang.check.masks import masked, where_open
from pytriton.lang.check.subscripts import permute, subscript
from pytriton.lang.check.type_names import named_type
from pytriton.lang.check.unknown_names import unknown_name
from pytriton.lang.parse import syntax
from pytriton.lang.tree import typed, types
from pytriton.lang.tree.convert import (
    MAX_BLOCK_ELEMENTS,
    as_condition,
    constant,
    convert,
    is_weak,
    met,
    scalar_of,
    settle,
)
from pytriton.lang.tree.effects import after, evaluated_once, has_effect, kept, places
from pytriton.lang.tree.typed import Expr, Statement
from pytriton.lang.tree.types import element_of, promote, shape_of, with_element
from pytriton.lang.tree.walk import has_memory
from pytriton.source import Span

MAX_DEPTH: Final = 100
MAX_CHAIN: Final = 20  # operators of a long chain in one expression
MAX_WHOLE_CHAIN: Final = 60  # operators of one that is not cut
MAX_NESTED_ARMS: Final = 8  # of a long chain of ?:
# Nodes in branches of `?:`, counted again for each `?:` around them: every load gets all masks.
MAX_BRANCH_NODES: Final = 40_000
_BESIDE_RANGE: Final = frozenset(("*", "/", "%", "<<", ">>", "+", "-"))
_INFINITIES: Final = {"INFINITY": types.FLOAT, "F32_INFINITY": types.FLOAT, "F16_INFINITY": types.HALF}


# ---------------------------------------------------------------- entry points


def check_expression(node: syntax.Expr, context: Context) -> Expr:
    """The typed form of an expression."""
    context.expression_depth += 1
    if context.expression_depth > MAX_DEPTH:
        context.report.fatal(
            "TC318",
            f"this expression is nested more than {MAX_DEPTH} deep",
            node.span,
            help="compute a part of it in a variable first",
        )
    try:
        return _dispatch(node, context)
    finally:
        context.expression_depth -= 1


# ---------------------------------------------------------------- dispatch


def _dispatch(node: syntax.Expr, context: Context) -> Expr:
    match node:
        case syntax.Name():
            return _name(node, context)
        case syntax.Number(span=span, text=text):
            return number(text, span, context.report, strict=context.strict_literals)
        case syntax.Constexpr(span=span, id=name):
            value = context.scope.numbers[name]
            if isinstance(value, float):  # as the literal
                type_ = types.DOUBLE if context.strict_literals else types.FLOAT
                return typed.Constexpr(span, type_, name, value, weak=not context.strict_literals)
            return typed.Constexpr(span, define_type(value), name, value)
        case syntax.Prefix():
            return _prefix(node, context)
        case syntax.MaskedDeref():
            pointer, mask = value_of(node.pointer, context), value_of(node.mask, context)
            return operators.load(pointer, node.span, context, mask)
        case syntax.Binary():
            return _binary(node, context)
        case syntax.Select():
            return _select(node, context)
        case syntax.Cast():
            return _cast(node, context)
        case syntax.Bitcast():
            return _bitcast(node, context)
        case syntax.SizeOf():
            return _size_of(node, context)
        case syntax.Call():
            return call(node, context)
        case syntax.Subscript():
            operand = value_of(node.operand, context)
            return failed(node.span) if operand.type == types.ERROR else subscript(node, operand, context)
        case syntax.Assign() | syntax.Postfix() | syntax.Comma():
            return effect_value(node, context)
        case syntax.String():
            return context.refuse("TC303", "a string cannot be used in an expression", node.span)


# ---------------------------------------------------------------- names and numbers


def _name(node: syntax.Name, context: Context) -> Expr:
    symbol = context.scope.find(node.id)
    if symbol is not None:
        return typed.Name(node.span, symbol.type, symbol)
    if node.id in _INFINITIES:
        return typed.Literal(node.span, _INFINITIES[node.id], math.inf)
    if node.id in context.unknown_names:
        return failed(node.span)
    context.unknown_names.add(node.id)  # one mistake, however often the name is used
    cure = unknown_name(node.id, node.span, context.scope, context.kernel_body)
    return context.refuse("TC301", f"'{node.id}' is not declared", node.span, *cure.notes, help=cure.help)


# ---------------------------------------------------------------- operators


def _prefix(node: syntax.Prefix, context: Context) -> Expr:
    operator = node.operator
    if operator in ("++", "--"):
        return effect_value(node, context)
    if operator == "&":
        return context.refuse(
            "TC403",
            "Triton-C has no address-of operator",
            node.span,
            help="move a pointer with '+', as in 'p + i'",
        )
    operand = value_of(node.operand, context)
    if operand.type == types.ERROR:
        return operand
    if operator == "*":
        return operators.load(operand, node.span, context)
    if operator == "^":
        return permute(operand, [*range(1, len(shape_of(operand.type))), 0], node.span, context)
    if operator == "!":
        condition = as_condition(operand)
        return typed.Unary(node.span, condition.type, "!", condition)
    scalar = scalar_of(operand.type)
    if scalar is None or (operator == "~" and scalar.is_float):
        message = f"'{operator}' does not work on type {operand.type}"
        help_ = (
            operators.LOADS
            if scalar is None
            else "'(int)x' converts it to an integer, 'bitcast<int>(x)' gives its bits"
        )
        return context.refuse("TC303", message, node.span, help=help_)
    if operator == "-" and isinstance(operand, typed.Literal):
        return negated(operand, node.span)
    if is_weak(operand):
        return typed.Unary(node.span, operand.type, "-", operand) if operator == "-" else operand
    operand = convert(operand, promote(scalar))
    if operator == "+":
        return operand
    return typed.Unary(node.span, operand.type, operator, operand)


def _binary(node: syntax.Binary, context: Context) -> Expr:
    """A chain of operators, ``a + b - c + ...``. A long one is flat: variables hold what its beginning gives."""
    chain = [node]
    while isinstance(chain[-1].left, syntax.Binary):
        chain.append(chain[-1].left)
    outer = context.expression_depth
    cut = len(chain) + outer > MAX_WHOLE_CHAIN and not context.branch_depth
    before: list[Statement] = []
    left = None
    for place in range(len(chain), 0, -1):
        context.expression_depth = outer + ((place - 1) % MAX_CHAIN if cut else place - 1)
        step = chain[place - 1]
        left = _applied(step, value_of(step.left, context) if left is None else left, context)
        # All of it is in the mask of the next load.
        tests_memory = step.operator in ("&&", "||") and has_memory(left)
        if not cut or place == 1 or left.type == types.ERROR or is_weak(left):
            continue
        if tests_memory or place % MAX_CHAIN == 1:
            left = kept(left, "part", before)
    context.expression_depth = outer
    assert left is not None
    return after(before, left)


def _applied(node: syntax.Binary, left: Expr, context: Context) -> Expr:
    left, right = _operands(node, left, context)
    if types.ERROR in (left.type, right.type):
        return failed(node.span)
    operator = node.operator
    if operator in ("+", "-"):
        _warn_of_mask(node, left, right, context)
    if operator in _BESIDE_RANGE:
        _warn_of_range(node, left, right, context)
    if operator == "...":
        return _range(node, left, right, context)
    if operator == "@":
        return operators.dot(left, right, node.span, context)
    shape = operators.broadcast(left, right, node.span, f"'{operator}'", context)
    if shape is None:
        return failed(node.span)
    if operator in ("&&", "||"):
        before: list[Statement] = []
        if has_memory(right):
            left = evaluated_once(left, before)
        condition = as_condition(left)
        right = where_open(operator, condition, as_condition(right))
        if has_memory(right):  # each load of a chain has all those before it in its mask
            _count_branch(right, node.span, context)
        return after(
            before, typed.Binary(node.span, with_element(types.BOOL, shape), operator, condition, right)
        )
    if scalar_of(left.type) is None or scalar_of(right.type) is None:
        return operators.pointer_arithmetic(operator, left, right, shape, node.span, context)
    return operators.arithmetic(operator, left, right, shape, node.span, context)


def _warn_of_mask(node: syntax.Binary, left: Expr, right: Expr, context: Context) -> None:
    """``*?(m) X + r`` loads through X alone, if often enough at every element of m, and adds r."""
    bare = isinstance(node.left, syntax.MaskedDeref) and not node.left.grouped
    spread = isinstance(left, typed.Load) and isinstance(left.pointer, typed.Broadcast)
    offset = scalar_of(right.type)
    if bare and spread and not shape_of(left.pointer.operand.type) and offset and offset.is_integer:  # type: ignore[union-attr]
        message = f"this loads through a scalar pointer, and '{node.operator}' applies to the loaded value"
        help_ = f"to move the pointer, write '*?(mask)(p {node.operator} i)'; if it is meant, '(*?(mask)p)'"
        context.report.warning("TC328", message, node.span, help=help_)


def _warn_of_range(node: syntax.Binary, left: Expr, right: Expr, context: Context) -> None:
    """``0 ... T / 2`` is half of a range; warns, as a range to T / 2 may be meant.

    Not where the other operand is not constant, and so not a bound, nor for the usual ``16 + 0 ... T``.
    """
    sign = node.operator
    match node:
        case syntax.Binary(left=syntax.Binary(operator="...", grouped=False)) if isinstance(
            left, typed.Range
        ):
            start, stop, other = typed.spell(left.start), typed.spell(left.stop), typed.spell(right)
            bound = constant(right)
            this, that = f"({start} ... {stop}) {sign} {other}", f"{start} ... ({stop} {sign} {other})"
        case syntax.Binary(right=syntax.Binary(operator="...", grouped=False)) if isinstance(
            right, typed.Range
        ):
            start, stop, other = typed.spell(right.start), typed.spell(right.stop), typed.spell(left)
            bound = None if sign in ("+", "-") else constant(left)
            this, that = f"{other} {sign} ({start} ... {stop})", f"({other} {sign} {start}) ... {stop}"
        case _:
            return
    if isinstance(bound, int):
        message = f"'...' binds tighter than '{sign}': this is '{this}', not '{that}'"
        context.report.warning("TC330", message, node.span, help="add parentheses to show what is meant")


def _operands(node: syntax.Binary, left: Expr, context: Context) -> tuple[Expr, Expr]:
    """Both operands; the right one of ``&&`` and ``||`` might not be evaluated by C."""
    if node.operator not in ("&&", "||"):
        return left, value_of(node.right, context)
    known = constant(left)
    certain = known is not None and bool(known) == (node.operator == "&&")
    return left, _without_effects(node.right, f"right of '{node.operator}'", certain, context)


def _without_effects(node: syntax.Expr, where: str, certain: bool, context: Context) -> Expr:
    """An operand that C might not evaluate but Triton does: it must have no side effect."""
    context.unsure += not certain
    context.branch_depth += 1
    expr = value_of(node, context)
    context.branch_depth -= 1
    context.unsure -= not certain
    for span in places(expr) if has_effect(expr) else ():
        help_ = "use an if statement"
        context.report.error("TC321", f"a side effect {where} would always happen", span, help=help_)
    return expr


def _unevaluated(node: syntax.Expr, context: Context) -> Expr:
    """An operand of which only the type matters: its side effects do not happen."""
    context.unsure += 1
    expr = value_of(node, context)
    context.unsure -= 1
    return expr


def _range(node: syntax.Binary, left: Expr, right: Expr, context: Context) -> Expr:
    start, stop = constant(left), constant(right)
    for side, bound, expr in ((node.left, start, left), (node.right, stop, right)):
        if not isinstance(bound, int):
            report_not_constant(side, expr, "a bound of '...'", context)
            return failed(node.span)
    assert isinstance(start, int) and isinstance(stop, int)
    if not 1 <= stop - start <= MAX_BLOCK_ELEMENTS:
        what = "no elements" if stop <= start else "too many elements"
        alike = (
            isinstance(left, typed.Constexpr)
            and isinstance(right, typed.Constexpr)
            and left.name == right.name
        )
        name = left.name if isinstance(left, typed.Constexpr) and alike else ""
        help_ = f"'...' binds tighter than '*': write 'n * {name} + 0 ... {name}'" if name else None
        report_size(context, "TC306", f"'{start} ... {stop}' has {what}", node.span, left, right, help=help_)
        return failed(node.span)
    left, right = as_size(left), as_size(right)
    length = right if start == 0 else typed.Binary(node.span, types.INT, "-", right, left)
    type_ = types.BlockType(types.INT, (typed.Size(stop - start, length),))
    return typed.Range(node.span, type_, convert(left, types.INT), convert(right, types.INT))


def _select(node: syntax.Select, context: Context) -> Expr:
    arms, last = [node], node.no
    while isinstance(last, syntax.Select):
        arms.append(last)
        last = last.no
    if len(arms) + context.expression_depth > MAX_WHOLE_CHAIN and not context.branch_depth:
        return _long_select(arms, context)
    test = value_of(node.condition, context)
    if test.type == types.ERROR:
        return test
    known = constant(as_condition(test))
    yes = None if node.yes is None else _branch(node.yes, bool(known), context)
    no = _branch(node.no, known == 0, context)
    before: list[Statement] = []
    if yes is None or has_memory(yes) or has_memory(no):
        test = evaluated_once(test, before)
    condition = as_condition(test)
    if yes is None:
        _count_branch(test, node.span, context)
    yes = test if yes is None else masked(yes, condition)
    no = masked(no, typed.Unary(condition.span, condition.type, "!", condition))
    return after(before, operators.select(condition, yes, no, node.span, context))


def _long_select(arms: list[syntax.Select], context: Context) -> Expr:
    """``a ? b : c ? d : ...``, with variables for what the end of a long chain gives. None of it reads memory."""
    tests, values = [value_of(arms[0].condition, context)], []
    for arm in arms[1:]:
        tests.append(_without_effects(arm.condition, "in a branch of '?:'", False, context))
    for test, arm in zip(tests, arms, strict=True):
        values.append(
            test if arm.yes is None else _without_effects(arm.yes, "in a branch of '?:'", False, context)
        )
    value = _without_effects(arms[-1].no, "in a branch of '?:'", False, context)
    before: list[Statement] = []
    if tests[0].type != types.ERROR:
        tests[0] = evaluated_once(tests[0], before)
    levels = 0
    for arm, test, yes in zip(reversed(arms), reversed(tests), reversed(values), strict=True):
        levels += 1
        if levels > MAX_DEPTH or any(map(has_memory, (test, yes, value))):
            help_ = "use if statements; an unsuffixed floating number may be written 0.1f"
            message = f"a '?:' of more than {MAX_DEPTH} arms that reads memory, or has no type of its own"
            context.report.fatal("TC318", message, arm.span, help=help_)
        value = (
            failed(arm.span)
            if test.type == types.ERROR
            else operators.select(as_condition(test), yes, value, arm.span, context)
        )
        if levels >= MAX_NESTED_ARMS and value.type != types.ERROR and met(value, types.DOUBLE) is value:
            value, levels = kept(value, "part", before), 0
    return after(before, value)


def _branch(node: syntax.Expr, certain: bool, context: Context) -> Expr:
    """A branch of ``?:``, before its loads get the mask."""
    expr = _without_effects(node, "in a branch of '?:'", certain, context)
    _count_branch(expr, node.span, context)
    return expr


def _count_branch(branch: Expr, span: Span, context: Context) -> None:
    """Refuse branches within branches that get too large."""
    context.branch_nodes += count_nodes(branch, MAX_BRANCH_NODES)
    if context.branch_nodes > MAX_BRANCH_NODES:
        help_ = "use if statements, or '*?(mask)p'"
        context.report.fatal(
            "TC318", "the '?:', '&&' and '||' of this kernel nest too many loads", span, help=help_
        )


# ---------------------------------------------------------------- casts


def _cast(node: syntax.Cast, context: Context) -> Expr:
    type_ = named_type(node.type, context)
    operand = value_of(node.operand, context)
    if type_ is None or operand.type == types.ERROR:
        return failed(node.span)
    return operators.conversion(operand, type_, node.span, "convert", context, explicit=True)


def _bitcast(node: syntax.Bitcast, context: Context) -> Expr:
    type_ = named_type(node.type, context)
    operand = settle(value_of(node.operand, context))
    if type_ is None or operand.type == types.ERROR:
        return failed(node.span)
    element, scalar = element_of(type_), scalar_of(operand.type)
    if not isinstance(element, types.ScalarType) or scalar is None or element.bits != scalar.bits:
        return context.refuse(
            "TC314",
            f"bitcast needs types of one width, not {operand.type} and {type_}",
            node.span,
            help="'(float)x' converts a value to any type",
        )
    shape = shape_of(operand.type)
    if isinstance(type_, types.BlockType) and type_.shape != shape:
        operators.refuse_conversion(operand, type_, node.span, "convert", context)
        return failed(node.span)
    return typed.Bitcast(node.span, with_element(element, shape), operand)


def _size_of(node: syntax.SizeOf, context: Context) -> Expr:
    if isinstance(node.operand, syntax.TypeName):
        type_: types.Type | None = named_type(node.operand, context)
    else:
        type_ = _unevaluated(node.operand, context).type
    if type_ is None or not isinstance(type_, types.ScalarType | types.PointerType | types.BlockType):
        return failed(node.span)
    element = element_of(type_)
    width = 8 if isinstance(element, types.PointerType) else max(1, element.bits // 8)
    return typed.Literal(node.span, types.ULONG, width * math.prod(shape_of(type_)))
