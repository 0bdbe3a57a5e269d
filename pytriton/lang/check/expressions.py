"""Syntax -> typed tree, for expressions, and for the statements in them.

Input: an expression as parsed and the names in scope. Output: its typed form, in which every conversion is
explicit. After an error the expression has the type ``ERROR`` and whatever uses it is silent, so that one
mistake gives one message. Loads inside ``?:`` are masked here (docs/language.md, Operators).

A side effect inside an expression (``b = a++``, ``while (n-- > 0)``) is a statement of a ``Sequenced``;
tree/effects.py puts it in its place. What C might not evaluate (a branch of ``?:``, right of ``&&`` and ``||``)
must have none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final

from pytriton.frozen import replace
from pytriton.lang.check import operators
from pytriton.lang.check.calls import call, called, permute, permutes, subscript
from pytriton.lang.check.context import CheckContext, ValueType, failed
from pytriton.lang.check.masks import masked, where_open
from pytriton.lang.check.operators import shapes_note
from pytriton.lang.check.words import (
    INFINITIES,
    base_type,
    build_type,
    define_type,
    negated,
    number,
    unknown_name,
)
from pytriton.lang.parse import syntax
from pytriton.lang.parse.habits import COMMENTED_OUT, divides, type_cure
from pytriton.lang.recording import at, compare
from pytriton.lang.tree import typed, types
from pytriton.lang.tree.convert import (
    as_condition,
    constant,
    convert,
    is_weak,
    met,
    scalar_of,
    to_shape,
)
from pytriton.lang.tree.effects import after, evaluated_once, has_effect, kept, places
from pytriton.lang.tree.typed import Expr, Statement, Symbol
from pytriton.lang.tree.types import broadcast_shapes, element_of, promote, shape_of, with_element
from pytriton.lang.tree.walk import count_nodes, has_memory, walk
from pytriton.source import Span

MAX_DEPTH: Final = 100
MAX_CHAIN: Final = 20  # operators of a long chain in one expression
MAX_WHOLE_CHAIN: Final = 60  # operators of one that is not cut
MAX_NESTED_ARMS: Final = 8  # of a long chain of ?:
# Nodes in branches of `?:`, counted again for each `?:` around them: every load gets all masks.
MAX_BRANCH_NODES: Final = 40_000
_BESIDE_RANGE: Final = frozenset(("*", "/", "%", "<<", ">>", "+", "-"))


def check_expression(node: syntax.Expr, context: CheckContext) -> Expr:
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


def value_of(node: syntax.Expr, context: CheckContext) -> Expr:
    """The typed form of an expression that must have a value: a number, pointer or block.

    A call without a value is an error (TC303), and gives an expression of type ``ERROR``, as any error does.
    """
    expr = check_expression(node, context)
    if isinstance(expr.type, ValueType) or expr.type == types.ERROR:
        return expr
    return context.refuse("TC303", "this call has no value", node.span, help="make it a statement of its own")


def values_of(nodes: Iterable[syntax.Expr], context: CheckContext) -> list[Expr]:
    """The typed forms of several."""
    return [value_of(node, context) for node in nodes]


def _call(node: syntax.Call, context: CheckContext) -> Expr:
    name = called(node, context)
    values = [
        None
        if isinstance(argument, syntax.TypeName)
        or (name == "printf" and argument is node.arguments[0])
        or (name is None and isinstance(argument, syntax.Assign))  # f(x=1)
        else value_of(argument, context)
        for argument in node.arguments
    ]
    return failed(node.span) if name is None else call(name, node, values, context)


# ---------------------------------------------------------------- dispatch


def _dispatch(node: syntax.Expr, context: CheckContext) -> Expr:
    match node:
        case syntax.Name():
            return _name(node, context)
        case syntax.Number(span=span, text=text):
            return number(text, span, context.report, strict=context.strict_literals)
        case syntax.Constexpr():
            return _constexpr(node, context)
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
            return _call(node, context)
        case syntax.Subscript():
            operand = value_of(node.operand, context)
            if operand.type == types.ERROR:
                return failed(node.span)
            axes = [value_of(item.operand, context) for item in node.items if permutes(item)]
            return subscript(node, operand, axes, context)
        case syntax.Assign() | syntax.Postfix() | syntax.Comma():
            return effect_value(node, context)
        case syntax.String():
            return context.refuse("TC303", "a string cannot be used in an expression", node.span)


# ---------------------------------------------------------------- names and numbers


def _constexpr(node: syntax.Constexpr, context: CheckContext) -> typed.Constexpr:
    span, name = node.span, node.id
    value = at(context.scope.numbers[name], span)
    if isinstance(value, float):  # as the literal
        type_ = types.DOUBLE if context.strict_literals else types.FLOAT
        return typed.Constexpr(span, type_, name, value, weak=not context.strict_literals)
    integer_types = context.scope.integer_types
    if name not in integer_types:
        integer_types[name] = define_type(value)
    return typed.Constexpr(span, integer_types[name], name, value)


def _name(node: syntax.Name, context: CheckContext) -> Expr:
    symbol = context.scope.find(node.id)
    if symbol is not None:
        return typed.Name(node.span, symbol.type, symbol)
    if node.id in INFINITIES:
        return typed.Literal(node.span, INFINITIES[node.id], math.inf)
    if node.id in context.unknown_names:
        return failed(node.span)
    context.unknown_names.add(node.id)  # one mistake, however often the name is used
    cure = unknown_name(node.id, node.span, context.scope, context.kernel_body)
    return context.refuse("TC301", f"'{node.id}' is not declared", node.span, *cure.notes, help=cure.help)


# ---------------------------------------------------------------- operators


def _prefix(node: syntax.Prefix, context: CheckContext) -> Expr:
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


def _binary(node: syntax.Binary, context: CheckContext) -> Expr:
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


def _applied(node: syntax.Binary, left: Expr, context: CheckContext) -> Expr:
    left, right = _operands(node, left, context)
    if types.ERROR in (left.type, right.type):
        return failed(node.span)
    operator = node.operator
    if operator in ("+", "-"):
        _warn_of_mask(node, left, right, context)
    if operator in _BESIDE_RANGE:
        _warn_of_range(node, left, right, context)
    if operator == "...":
        return operators.index_range(left, right, node.span, context)
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


def _warn_of_mask(node: syntax.Binary, left: Expr, right: Expr, context: CheckContext) -> None:
    """``*?(m) X + r`` loads through X alone, if often enough at every element of m, and adds r."""
    bare = isinstance(node.left, syntax.MaskedDeref) and not node.left.grouped
    spread = isinstance(left, typed.Load) and isinstance(left.pointer, typed.Broadcast)
    offset = scalar_of(right.type)
    if bare and spread and not shape_of(left.pointer.operand.type) and offset and offset.is_integer:  # type: ignore[union-attr]
        message = f"this loads through a scalar pointer, and '{node.operator}' applies to the loaded value"
        help_ = f"to move the pointer, write '*?(mask)(p {node.operator} i)'; if it is meant, '(*?(mask)p)'"
        context.report.warning("TC328", message, node.span, help=help_)


def _warn_of_range(node: syntax.Binary, left: Expr, right: Expr, context: CheckContext) -> None:
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


def _operands(node: syntax.Binary, left: Expr, context: CheckContext) -> tuple[Expr, Expr]:
    """Both operands; the right one of ``&&`` and ``||`` might not be evaluated by C."""
    if node.operator not in ("&&", "||"):
        return left, value_of(node.right, context)
    value = constant(left)
    certain = value is not None and bool(value) == (node.operator == "&&")
    return left, _without_effects(node.right, f"right of '{node.operator}'", certain, context)


def _without_effects(node: syntax.Expr, where: str, certain: bool, context: CheckContext) -> Expr:
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


def _unevaluated(node: syntax.Expr, context: CheckContext) -> Expr:
    """An operand of which only the type matters: its side effects do not happen."""
    context.unsure += 1
    expr = value_of(node, context)
    context.unsure -= 1
    return expr


def _select(node: syntax.Select, context: CheckContext) -> Expr:
    arms, last = [node], node.no
    while isinstance(last, syntax.Select):
        arms.append(last)
        last = last.no
    if len(arms) + context.expression_depth > MAX_WHOLE_CHAIN and not context.branch_depth:
        return _long_select(arms, context)
    test = value_of(node.condition, context)
    if test.type == types.ERROR:
        return test
    value = constant(as_condition(test))
    yes = None if node.yes is None else _branch(node.yes, bool(value), context)
    no = _branch(node.no, value == 0, context)
    before: list[Statement] = []
    if yes is None or has_memory(yes) or has_memory(no):
        test = evaluated_once(test, before)
    condition = as_condition(test)
    if yes is None:
        _count_branch(test, node.span, context)
    yes = test if yes is None else masked(yes, condition)
    no = masked(no, typed.Unary(condition.span, condition.type, "!", condition))
    return after(before, operators.select(condition, yes, no, node.span, context))


def _long_select(arms: list[syntax.Select], context: CheckContext) -> Expr:
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


def _branch(node: syntax.Expr, certain: bool, context: CheckContext) -> Expr:
    """A branch of ``?:``, before its loads get the mask."""
    expr = _without_effects(node, "in a branch of '?:'", certain, context)
    _count_branch(expr, node.span, context)
    return expr


def _count_branch(branch: Expr, span: Span, context: CheckContext) -> None:
    """Refuse branches within branches that get too large."""
    context.branch_nodes += count_nodes(branch, MAX_BRANCH_NODES)
    if context.branch_nodes > MAX_BRANCH_NODES:
        help_ = "use if statements, or '*?(mask)p'"
        context.report.fatal(
            "TC318", "the '?:', '&&' and '||' of this kernel nest too many loads", span, help=help_
        )


# ---------------------------------------------------------------- casts


def _named_type(node: syntax.TypeName, context: CheckContext) -> ValueType | None:
    """The type that a cast names."""
    base = base_type(node.specifiers, context)
    return build_type(base, node.stars, values_of(node.shape, context), node.span, context)


def _cast(node: syntax.Cast, context: CheckContext) -> Expr:
    type_ = _named_type(node.type, context)
    operand = value_of(node.operand, context)
    if type_ is None or operand.type == types.ERROR:
        return failed(node.span)
    return operators.conversion(operand, type_, node.span, "convert", context, explicit=True)


def _bitcast(node: syntax.Bitcast, context: CheckContext) -> Expr:
    type_ = _named_type(node.type, context)
    operand = value_of(node.operand, context)
    if type_ is None or operand.type == types.ERROR:
        return failed(node.span)
    return operators.bitcast(operand, type_, node.span, context)


def _size_of(node: syntax.SizeOf, context: CheckContext) -> Expr:
    if isinstance(node.operand, syntax.TypeName):
        type_: types.Type | None = _named_type(node.operand, context)
    else:
        type_ = _unevaluated(node.operand, context).type
    if type_ is None or not isinstance(type_, types.ScalarType | types.PointerType | types.BlockType):
        return failed(node.span)
    element = element_of(type_)
    width = 8 if isinstance(element, types.PointerType) else max(1, element.bits // 8)
    return typed.Literal(node.span, types.ULONG, width * math.prod(shape_of(type_)))


# ---------------------------------------------------------------- side effects


def effect_value(
    node: syntax.Assign | syntax.Postfix | syntax.Prefix | syntax.Comma, context: CheckContext
) -> Expr:
    """The value of an expression that also does something."""
    match node:
        case syntax.Comma(items=items):
            before = [statement for item in items[:-1] for statement in effect(item, context)]
            return after(before, value_of(items[-1], context))
        case syntax.Assign():
            return _value_of(_assign(node, context), node)
        case syntax.Prefix() | syntax.Postfix():
            return _value_of(_assign(_increment(node), context), node)


def _value_of(statements: list[Statement], node: syntax.Expr) -> Expr:
    """The value of an assignment: that of its target, afterwards; of ``x++`` before."""
    old = isinstance(node, syntax.Postfix)
    declared: list[Statement] = []
    match statements:
        case [typed.Assign(symbol=symbol)]:
            value: Expr = typed.Name(node.span, symbol.type, symbol)
            value = kept(value, f"old_{symbol.name}", declared) if old else value
            return after([*declared, *statements], value)
        case [*before, typed.Store(value=value) as store]:
            if old:
                loaded = next(part for part in walk(value) if isinstance(part, typed.Load))
                value = kept(loaded, "old", declared)
                return after([*before, *declared, store], value)
            if not isinstance(value, typed.Name | typed.Literal | typed.Constexpr):
                value = kept(value, "value", declared)
            return after([*before, replace(store, value=after(declared, value))], value)
    return failed(node.span)


def tested_condition(node: syntax.Expr, where: str, context: CheckContext) -> Expr:
    """A scalar truth value for ``if`` and loops."""
    if isinstance(node, syntax.Assign) and node.operator == "=":
        help_ = "to compare, write '=='"
        context.report.warning("TC325", "an assignment is used as a condition", node.span, help=help_)
    expr = value_of(node, context)
    if expr.type == types.ERROR:
        return expr
    if isinstance(expr.type, types.BlockType):
        return context.refuse(
            "TC312",
            f"the condition of '{where}' is a block of type {expr.type}, not a scalar",
            node.span,
            help="use 'condition ? a : b', or '*?(condition)p' to load and store under a mask",
        )
    return as_condition(expr)


# ---------------------------------------------------------------- assignments


def effect(node: syntax.Expr, context: CheckContext) -> list[Statement]:
    """An expression that is evaluated for what it does."""
    if isinstance(node, syntax.Comma):
        return [statement for item in node.items for statement in effect(item, context)]
    match node:
        case syntax.Assign():
            return _assign(node, context)
        case syntax.Postfix() | syntax.Prefix(operator="++" | "--"):
            return _assign(_increment(node), context)
        case syntax.Binary() if _is_unknown_type(node, context):
            return []
        case _:
            value = check_expression(node, context)
            if value.type == types.ERROR:
                return []
            if not has_effect(value):
                context.report.warning("TC324", "this expression has no effect", node.span)
                return []
            return [typed.Evaluate(node.span, value)]


def _assign(node: syntax.Assign, context: CheckContext) -> list[Statement]:
    match node.target:
        case syntax.Name():
            return _assign_name(node, node.target, context)
        case syntax.Prefix(operator="*", operand=pointer):
            return _store(node, pointer, None, context)
        case syntax.MaskedDeref(mask=mask, pointer=pointer):
            return _store(node, pointer, mask, context)
        case _:
            _refuse_target(node.target, context)
            return []


def _refuse_target(target: syntax.Expr, context: CheckContext) -> None:
    """Report why this cannot be assigned to."""
    message = "this cannot be assigned to"
    help_ = "assign to a name, to '*pointer' or to '*?(mask)pointer'"
    first = target
    while isinstance(first, syntax.Binary):
        first = first.left
    match target:
        case syntax.Binary() if _is_unknown_type(target, context):
            return
        case _ if isinstance(first, syntax.Call) and check_expression(first, context).type == types.ERROR:
            return  # `elif (c) *p = x`: the call was reported
        case syntax.Binary(operator="*") if (end := _unfinished(target)) is not None:
            word = re.search(r"[\w.]+$|.$", end.source.text[: end.end])
            cure = COMMENTED_OUT if divides(end.source.text[end.end : target.right.span.start]) else None
            message = f"expected ';' after '{word[0] if word else end.text}'"
            context.report.error("TC202", message, end, help=cure)
            return
        case syntax.Binary(operator="+" | "-" as sign) if isinstance(first, syntax.MaskedDeref):
            help_ = f"a mask binds tighter than '{sign}': write '*?(mask)(p {sign} i) = x'"
        case syntax.Binary(operator="+" | "-" as sign) if isinstance(first, syntax.Prefix):
            help_ = f"'*' binds tighter than '{sign}': write '*(p {sign} i) = x'"
        case syntax.Constexpr(id=name):
            value = context.scope.numbers[name]
            message = f"'{name}' is a define, {value} here, and cannot be assigned to"
            help_ = "declare a variable of another name"
        case syntax.Subscript():
            help_ = "'*(p + i) = x' stores one element, 'c ? a : b' changes a part of a block"
    context.report.error("TC315", message, target.span, help=help_)


def _unfinished(product: syntax.Binary) -> Span | None:
    """The end of ``int m = n``, where ``*p = x`` on the next line was read as a factor; None in other products."""
    left, right = product.left.span, product.right.span
    if left.source is not right.source or left.expansion or right.expansion:
        return None
    between = left.source.text[left.end : right.start]
    return Span(left.source, left.end - 1, left.end) if "\n" in between.partition("*")[0] else None


def _is_unknown_type(node: syntax.Binary, context: CheckContext) -> bool:
    """Whether this product is ``TYPE *p`` with a ``TYPE`` that nothing defines: an error, reported once."""
    left, right = node.left, node.right
    right = right.operand if isinstance(right, syntax.Subscript) else right
    if node.operator != "*" or not isinstance(left, syntax.Name) or not isinstance(right, syntax.Name):
        return False
    if context.scope.find(left.id) is not None or context.scope.find(right.id) is not None:
        return False
    context.report.error("TC203", f"unknown type '{left.id}'", left.span, help=type_cure(left.id))
    context.scope.declare(Symbol(right.id, types.ERROR, right.span), context.report)  # type: ignore[arg-type]
    return True


def _assign_name(node: syntax.Assign, target: syntax.Name, context: CheckContext) -> list[Statement]:
    left, right = value_of(target, context), value_of(node.value, context)
    if types.ERROR in (left.type, right.type):
        return []
    assert isinstance(left, typed.Name)
    symbol = left.symbol
    if symbol.const or symbol.value is not None or symbol.buffer:
        context.report.error(
            "TC315",
            f"'{symbol.name}' is a constant, and cannot be assigned to",
            node.span,
            ("it was declared here", symbol.span),
            help="remove its 'const', or assign to another variable" if symbol.const else None,
        )
        return []
    right = _combined(node, left, right, context)
    value = operators.conversion(right, symbol.type, node.value.span, f"assign to '{symbol.name}'", context)
    return [] if value.type == types.ERROR else [typed.Assign(node.span, symbol, value)]


def _combined(node: syntax.Assign, left: Expr, right: Expr, context: CheckContext) -> Expr:
    """The value that a compound assignment stores: ``left op right``."""
    if node.operator == "=":
        return right
    operator = node.operator[:-1]
    shape = operators.broadcast(left, right, node.span, f"'{node.operator}'", context)
    if shape is None:
        return typed.Name(node.span, types.ERROR, Symbol("", left.type, node.span))  # type: ignore[arg-type]
    if scalar_of(left.type) is None or scalar_of(right.type) is None:
        return operators.pointer_arithmetic(operator, left, right, shape, node.span, context)
    return operators.arithmetic(operator, left, right, shape, node.span, context)


def _store(
    node: syntax.Assign, pointer_node: syntax.Expr, mask_node: syntax.Expr | None, context: CheckContext
) -> list[Statement]:
    pointer, value = value_of(pointer_node, context), value_of(node.value, context)
    mask = None if mask_node is None else value_of(mask_node, context)
    if types.ERROR in (pointer.type, value.type, None if mask is None else mask.type):
        return []
    element = element_of(pointer.type)
    if not isinstance(element, types.PointerType):
        message = f"'*' requires a pointer, not a value of type {pointer.type}"
        help_ = "'*p = x' stores through a pointer; a name is assigned without '*'"
        context.report.error("TC311", message, pointer.span, help=help_)
        return []
    before: list[Statement] = []
    if node.operator != "=":
        if has_effect(pointer) or (mask is not None and has_effect(mask)):
            mask = None if mask is None else kept(mask, "mask", before)
            pointer = kept(pointer, "pointer", before)
        loaded = operators.load(pointer, node.target.span, context, mask)
        value = _combined(node, loaded, value, context)
        if value.type == types.ERROR:
            return []
    condition = None if mask is None else as_condition(mask)
    if condition is not None:
        placed = operators.under_mask(pointer, condition, node.span, context)
        if placed is None:
            return []
        pointer = placed
    pointer = _spread(pointer, value, node, context)
    type_ = with_element(element.element, shape_of(pointer.type))
    value = operators.conversion(value, type_, node.value.span, "store", context)
    return [] if value.type == types.ERROR else [*before, typed.Store(node.span, pointer, value, condition)]


def _spread(pointer: Expr, value: Expr, node: syntax.Assign, context: CheckContext) -> Expr:
    """Pointer, mask and stored value broadcast together; warns of several values for one address."""
    own = shape_of(pointer.type)
    shape = broadcast_shapes(own, shape_of(value.type))
    if shape is None or (len(shape) > len(own) and own):
        return pointer
    stored, reached = math.prod(shape), math.prod(own)
    if compare(stored, ">", reached):
        count = stored // reached
        name = node.value.id if isinstance(node.value, syntax.Name) else "x"
        axes = [", ".join([operator] * len(shape)) for operator in ("+", "max")]
        help_ = f"reduce the block first, as in '{name}[{axes[0]}]' or '{name}[{axes[1]}]'"
        help_ = "reduce that axis first, or give the pointer one address for each value" if own else help_
        message = f"this stores {count} values of a block to one address: which one stays is undefined"
        context.report.warning("TC332", message, node.span, *shapes_note(value), help=help_)
    return to_shape(pointer, shape) or pointer


def _increment(node: syntax.Postfix | syntax.Prefix) -> syntax.Assign:
    """``x++`` and ``++x`` as ``x += 1``."""
    return syntax.Assign(node.span, node.operator[0] + "=", node.operand, syntax.Number(node.span, "1"))
