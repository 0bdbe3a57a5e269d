"""Syntax -> typed tree, for expressions.

Input: an expression as parsed and the names in scope. Output: its typed form, in which every conversion is
explicit. After an error the expression has the type ``ERROR`` and whatever uses it is silent, so that one
mistake gives one message. Loads inside ``?:`` are masked here (language.md, section 4).
"""

from __future__ import annotations

import math
from typing import Final

from pytriton.errors import Report
from pytriton.lang.check.budget import count_nodes
from pytriton.lang.check.calls import Calls
from pytriton.lang.check.literals import define_type, negated, number
from pytriton.lang.check.masks import masked, where_open
from pytriton.lang.check.operators import LARGEST_BLOCK, LOADS, failed
from pytriton.lang.check.scope import Scope
from pytriton.lang.check.type_names import as_size
from pytriton.lang.check.unknown_names import unknown_name
from pytriton.lang.parse import syntax
from pytriton.lang.tree.convert import as_condition, constant, convert, is_weak, scalar_of, settle
from pytriton.lang.tree.typed import (
    Atomic,
    Binary,
    Bitcast,
    Broadcast,
    Constexpr,
    Expr,
    Literal,
    Load,
    Name,
    Range,
    Size,
    Statement,
    Unary,
    spell,
)
from pytriton.lang.tree.types import (
    BOOL,
    DOUBLE,
    ERROR,
    FLOAT,
    HALF,
    INT,
    ULONG,
    BlockType,
    PointerType,
    ScalarType,
    Type,
    element_of,
    promote,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import has_memory, walk
from pytriton.source import Span

__all__ = ["Expressions"]

_DEEPEST = 100
_MOST_IN_BRANCHES = (
    40_000  # nodes in branches of `?:`, again for each `?:` around it: every load gets all masks
)
_BESIDE_RANGE: Final = frozenset(("*", "/", "%", "<<", ">>", "+", "-"))
_INFINITIES: Final = {"INFINITY": FLOAT, "F32_INFINITY": FLOAT, "F16_INFINITY": HALF}


class Expressions(Calls):
    """Checks expressions against one scope."""

    def __init__(self, scope: Scope, report: Report, strict_literals: bool = False) -> None:
        self.scope = scope
        self.report = report
        self.strict_literals = strict_literals
        self._depth = 0
        # Side effects of the expression at hand: assignments.py says when they run.
        self.before: list[Statement] = []
        self.behind: list[Statement] | None = None
        self._unknown: set[str] = set()
        self.blamed = []
        self._branches = 0
        self.kernel_body: syntax.Block | None = None

    # ---------------------------------------------------------------- entry points

    def check(self, node: syntax.Expr) -> Expr:
        """The typed form of an expression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self.report.fatal(
                "TC318",
                f"this expression is nested more than {_DEEPEST} deep",
                node.span,
                help="compute a part of it in a variable first",
            )
        try:
            return self._check(node)
        finally:
            self._depth -= 1

    def value(self, node: syntax.Expr) -> Expr:
        """A number, pointer or block; a call without a value is an error."""
        expr = self.check(node)
        if isinstance(expr.type, ScalarType | PointerType | BlockType) or expr.type == ERROR:
            return expr
        self.report.error("TC303", "this call has no value", node.span, help="make it a statement of its own")
        return failed(node.span)

    def condition(self, node: syntax.Expr, where: str) -> Expr:
        """A scalar truth value for ``if`` and loops."""
        expr = self.value(node)
        if expr.type == ERROR:
            return expr
        if isinstance(expr.type, BlockType):
            self.report.error(
                "TC312",
                f"the condition of '{where}' is a block of type {expr.type}, not a scalar",
                node.span,
                help="use 'condition ? a : b', or '*?(condition)p' to load and store under a mask",
            )
            return failed(node.span)
        return as_condition(expr)

    # ---------------------------------------------------------------- dispatch

    def _check(self, node: syntax.Expr) -> Expr:
        match node:
            case syntax.Name():
                return self._name(node)
            case syntax.Number(span=span, text=text):
                return number(text, span, self.report, strict=self.strict_literals)
            case syntax.Constexpr(span=span, id=name):
                value = self.scope.number(name)
                if isinstance(value, float):  # as the literal
                    type_ = DOUBLE if self.strict_literals else FLOAT
                    return Constexpr(span, type_, name, value, weak=not self.strict_literals)
                return Constexpr(span, define_type(value), name, value)
            case syntax.Prefix():
                return self._prefix(node)
            case syntax.MaskedDeref():
                pointer, mask = self.value(node.pointer), self.value(node.mask)
                return self.load(pointer, node.span, mask)
            case syntax.Binary():
                return self._binary(node)
            case syntax.Select():
                return self._select(node)
            case syntax.Cast():
                return self._cast(node)
            case syntax.Bitcast():
                return self._bitcast(node)
            case syntax.SizeOf():
                return self._size_of(node)
            case syntax.Call():
                return self.call(node)
            case syntax.Subscript():
                operand = self.value(node.operand)
                return failed(node.span) if operand.type == ERROR else self.subscript(node, operand)
            case syntax.Assign() | syntax.Postfix() | syntax.Comma():
                return self.effect_value(node)
            case syntax.String():
                self.report.error("TC303", "a string has no place in an expression", node.span)
                return failed(node.span)

    # ---------------------------------------------------------------- names and numbers

    def _name(self, node: syntax.Name) -> Expr:
        symbol = self.scope.find(node.id)
        if symbol is not None:
            return Name(node.span, symbol.type, symbol)
        if node.id in _INFINITIES:
            return Literal(node.span, _INFINITIES[node.id], math.inf)
        if node.id in self._unknown:
            return failed(node.span)
        self._unknown.add(node.id)  # one mistake, however often the name is used
        cure = unknown_name(node.id, node.span, self.scope, self.kernel_body)
        self.report.error("TC301", f"'{node.id}' is not declared", node.span, *cure.notes, help=cure.help)
        return failed(node.span)

    # ---------------------------------------------------------------- operators

    def _prefix(self, node: syntax.Prefix) -> Expr:
        operator = node.operator
        if operator in ("++", "--"):
            return self.effect_value(node)
        if operator == "&":
            self.report.error(
                "TC403",
                "Triton-C has no address-of operator",
                node.span,
                help="move a pointer with '+', as in 'p + i'",
            )
            return failed(node.span)
        operand = self.value(node.operand)
        if operand.type == ERROR:
            return operand
        if operator == "*":
            return self.load(operand, node.span)
        if operator == "^":
            return self.permute(operand, [*range(1, len(shape_of(operand.type))), 0], node.span)
        if operator == "!":
            condition = as_condition(operand)
            return Unary(node.span, condition.type, "!", condition)
        scalar = scalar_of(operand.type)
        if scalar is None or (operator == "~" and scalar.is_float):
            message = f"'{operator}' does not work on type {operand.type}"
            help_ = (
                LOADS
                if scalar is None
                else "'(int)x' makes an integer of it, 'bitcast<int>(x)' gives its bits"
            )
            self.report.error("TC303", message, node.span, help=help_)
            return failed(node.span)
        if operator == "-" and isinstance(operand, Literal):
            return negated(operand, node.span)
        if is_weak(operand):
            return Unary(node.span, operand.type, "-", operand) if operator == "-" else operand
        operand = convert(operand, promote(scalar))
        if operator == "+":
            return operand
        return Unary(node.span, operand.type, operator, operand)

    def _binary(self, node: syntax.Binary) -> Expr:
        left = self._left_side(node)
        right = self._right_side(node, left)
        if ERROR in (left.type, right.type):
            return failed(node.span)
        operator = node.operator
        if operator in ("+", "-"):
            self._warn_of_mask(node, left, right)
        if operator in _BESIDE_RANGE:
            self._warn_of_range(node, left, right)
        if operator == "...":
            return self._range(node, left, right)
        if operator == "@":
            return self.dot(left, right, node.span)
        shape = self.broadcast(left, right, node.span, f"'{operator}'")
        if shape is None:
            return failed(node.span)
        if operator in ("&&", "||"):
            condition = as_condition(left)
            right = where_open(operator, condition, as_condition(right))
            if has_memory(right):  # each load of a chain has all those before it in its mask
                self._counted(right, node.span)
            return Binary(node.span, with_element(BOOL, shape), operator, condition, right)
        if scalar_of(left.type) is None or scalar_of(right.type) is None:
            return self.pointer_arithmetic(operator, left, right, shape, node.span)
        return self.arithmetic(operator, left, right, shape, node.span)

    def _warn_of_mask(self, node: syntax.Binary, left: Expr, right: Expr) -> None:
        """``*?(m) X + r`` loads through X alone, if often enough at every element of m, and adds r."""
        bare = isinstance(node.left, syntax.MaskedDeref) and not node.left.grouped
        spread = isinstance(left, Load) and isinstance(left.pointer, Broadcast)
        offset = scalar_of(right.type)
        if bare and spread and not shape_of(left.pointer.operand.type) and offset and offset.is_integer:  # type: ignore[union-attr]
            message = f"this loads through a scalar pointer, and '{node.operator}' works on what was loaded"
            help_ = (
                f"to move the pointer, write '*?(mask)(p {node.operator} i)'; if it is meant, '(*?(mask)p)'"
            )
            self.report.warning("TC328", message, node.span, help=help_)

    def _warn_of_range(self, node: syntax.Binary, left: Expr, right: Expr) -> None:
        """``0 ... T / 2`` is half of a range; whoever means a range to T / 2 is told.

        Not where the other operand is no constant, and so no bound, nor for the usual ``16 + 0 ... T``.
        """
        sign = node.operator
        match node:
            case syntax.Binary(left=syntax.Binary(operator="...", grouped=False)) if isinstance(left, Range):
                start, stop, other = spell(left.start), spell(left.stop), spell(right)
                bound = constant(right)
                this, that = f"({start} ... {stop}) {sign} {other}", f"{start} ... ({stop} {sign} {other})"
            case syntax.Binary(right=syntax.Binary(operator="...", grouped=False)) if isinstance(
                right, Range
            ):
                start, stop, other = spell(right.start), spell(right.stop), spell(left)
                bound = None if sign in ("+", "-") else constant(left)
                this, that = f"{other} {sign} ({start} ... {stop})", f"({other} {sign} {start}) ... {stop}"
            case _:
                return
        if isinstance(bound, int):
            message = f"'...' binds tighter than '{sign}': this is '{this}', not '{that}'"
            self.report.warning("TC330", message, node.span, help="write the parentheses of what is meant")

    def _left_side(self, node: syntax.Binary) -> Expr:
        if node.operator not in ("&&", "||"):
            return self.value(node.left)
        return self._to_sequence_point(node.left)

    def _to_sequence_point(self, node: syntax.Expr) -> Expr:
        """An operand whose side effects happen before the operands right of it are looked at."""
        outer, self.behind = self.behind, None
        expr = self.value(node)
        self.behind = outer
        return expr

    def _right_side(self, node: syntax.Binary, left: Expr) -> Expr:
        if node.operator not in ("&&", "||"):
            return self.value(node.right)
        known = constant(left)
        certain = known is not None and bool(known) == (node.operator == "&&")
        return self.without_effects(node.right, f"right of '{node.operator}'", certain)

    def without_effects(self, node: syntax.Expr, where: str, certain: bool) -> Expr:
        """An operand that C might not evaluate but Triton does: it must have no side effect."""
        outer, self.before, self.behind = (self.before, self.behind), [], None
        self.unsure += not certain
        expr = self.value(node)
        self.unsure -= not certain
        effects, (self.before, self.behind) = self.before, outer
        atomics = (part.span for part in walk(expr) if isinstance(part, Atomic))
        for span in (*(effect.span for effect in effects), *atomics):
            help_ = "use an if statement"
            self.report.error("TC321", f"a side effect {where} would happen in any case", span, help=help_)
        return expr

    def unevaluated(self, node: syntax.Expr) -> Expr:
        """An operand of which only the type matters: its side effects do not happen."""
        outer, self.before, self.behind = (self.before, self.behind), [], None
        self.unsure += 1
        expr = self.value(node)
        self.unsure -= 1
        self.before, self.behind = outer
        return expr

    def effect_value(self, node: syntax.Assign | syntax.Postfix | syntax.Prefix | syntax.Comma) -> Expr:
        """The value of an expression that also does something; in a constant there is none."""
        self.report.error("TC320", "an assignment has no place in a constant", node.span)
        return failed(node.span)

    def _range(self, node: syntax.Binary, left: Expr, right: Expr) -> Expr:
        start, stop = constant(left), constant(right)
        for side, bound, expr in ((node.left, start, left), (node.right, stop, right)):
            if not isinstance(bound, int):
                self.not_constant(side, expr, "a bound of '...'")
                return failed(node.span)
        assert isinstance(start, int) and isinstance(stop, int)
        if not 1 <= stop - start <= LARGEST_BLOCK:
            what = "no elements" if stop <= start else "too many elements"
            alike = isinstance(left, Constexpr) and isinstance(right, Constexpr) and left.name == right.name
            name = left.name if isinstance(left, Constexpr) and alike else ""
            help_ = f"'...' binds tighter than '*': write 'n * {name} + 0 ... {name}'" if name else None
            self.wrong_size("TC306", f"'{start} ... {stop}' has {what}", node.span, left, right, help=help_)
            return failed(node.span)
        left, right = as_size(left), as_size(right)
        length = right if start == 0 else Binary(node.span, INT, "-", right, left)
        type_ = BlockType(INT, (Size(stop - start, length),))
        return Range(node.span, type_, convert(left, INT), convert(right, INT))

    def _select(self, node: syntax.Select) -> Expr:
        test = self._to_sequence_point(node.condition)
        if test.type == ERROR:
            return test
        condition = as_condition(test)
        if node.yes is None:
            yes = test
            self._counted(yes, node.span)
        else:
            yes = self._branch(node.yes, condition)
        no = self._branch(node.no, Unary(condition.span, condition.type, "!", condition))
        return self.select(condition, yes, no, node.span)

    def _branch(self, node: syntax.Expr, mask: Expr) -> Expr:
        """A branch of ``?:``: its loads only touch memory where the mask holds."""
        expr = self.without_effects(node, "in a branch of '?:'", bool(constant(mask)))
        self._counted(expr, node.span)
        return masked(expr, mask)

    def _counted(self, branch: Expr, span: Span) -> None:
        """Refuse branches within branches that get too large."""
        self._branches += count_nodes(branch, _MOST_IN_BRANCHES)
        if self._branches > _MOST_IN_BRANCHES:
            help_ = "use if statements, or '*?(mask)p'"
            self.report.fatal(
                "TC318", "the '?:', '&&' and '||' of this kernel nest too many loads", span, help=help_
            )

    # ---------------------------------------------------------------- casts

    def _cast(self, node: syntax.Cast) -> Expr:
        type_ = self.type_name(node.type)
        operand = self.value(node.operand)
        if type_ is None or operand.type == ERROR:
            return failed(node.span)
        return self.conversion(operand, type_, node.span, "convert", explicit=True)

    def _bitcast(self, node: syntax.Bitcast) -> Expr:
        type_ = self.type_name(node.type)
        operand = settle(self.value(node.operand))
        if type_ is None or operand.type == ERROR:
            return failed(node.span)
        element, scalar = element_of(type_), scalar_of(operand.type)
        if not isinstance(element, ScalarType) or scalar is None or element.bits != scalar.bits:
            self.report.error(
                "TC314",
                f"bitcast needs types of one width, not {operand.type} and {type_}",
                node.span,
                help="'(float)x' converts a value to any type",
            )
            return failed(node.span)
        shape = shape_of(operand.type)
        if isinstance(type_, BlockType) and type_.shape != shape:
            self._no_conversion(operand, type_, node.span, "convert")
            return failed(node.span)
        return Bitcast(node.span, with_element(element, shape), operand)

    def _size_of(self, node: syntax.SizeOf) -> Expr:
        if isinstance(node.operand, syntax.TypeName):
            type_: Type | None = self.type_name(node.operand)
        else:
            type_ = self.unevaluated(node.operand).type
        if type_ is None or not isinstance(type_, ScalarType | PointerType | BlockType):
            return failed(node.span)
        element = element_of(type_)
        width = 8 if isinstance(element, PointerType) else max(1, element.bits // 8)
        return Literal(node.span, ULONG, width * math.prod(shape_of(type_)))
