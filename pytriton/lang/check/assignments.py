"""Assignments, stores, and what else an expression does besides having a value.

Input: an expression as parsed. Output: the statements that it stands for. A side effect inside an expression
(``b = a++``, ``while (n-- > 0)``) becomes a statement of its own: in front of the statement that holds it, or
behind it where that reads better (an increment of a name, with no sequence point in between). C leaves open when
exactly it happens between two sequence points (C11 6.5), so both are exact. In what C might not evaluate (a
branch of ``?:``, right of ``&&`` and ``||``) there is no place for one: expressions.py refuses it.
"""

from __future__ import annotations

from collections.abc import Callable

from pytriton.errors import closest
from pytriton.frozen import replace
from pytriton.lang.check.declarations import Declarations
from pytriton.lang.check.operators import failed
from pytriton.lang.parse import syntax
from pytriton.lang.parse.terminals import TYPES
from pytriton.lang.tree.convert import as_condition, scalar_of, to_shape
from pytriton.lang.tree.typed import (
    Assign,
    Atomic,
    Body,
    Constexpr,
    Declare,
    Evaluate,
    Expr,
    Literal,
    Name,
    Statement,
    Store,
    Symbol,
)
from pytriton.lang.tree.types import (
    ERROR,
    VOID,
    BlockType,
    PointerType,
    ScalarType,
    broadcast_shapes,
    element_of,
    shape_of,
    with_element,
)

__all__ = ["Assignments"]


class Assignments(Declarations):
    """Checks expressions for what they do."""

    # ---------------------------------------------------------------- side effects

    def sequenced(self, check: Callable[[], list[Statement]]) -> list[Statement]:
        """The statements of one full expression, with its side effects before and behind them."""
        outer = self.before, self.behind
        self.before, self.behind = [], []
        try:
            found = check()
            return self.before + found + self.behind
        finally:
            self.before, self.behind = outer

    def tested(self, node: syntax.Expr, where: str) -> tuple[Body, Expr]:
        """The condition of a statement, and what must run before each test of it."""
        outer = self.before, self.behind
        self.before, self.behind = [], None
        try:
            if isinstance(node, syntax.Assign) and node.operator == "=":
                help_ = "to compare, write '=='"
                self.report.warning("TC325", "an assignment stands for a condition", node.span, help=help_)
            condition = self.condition(node, where)
            return tuple(self.before), condition
        finally:
            self.before, self.behind = outer

    def effect_value(self, node: syntax.Assign | syntax.Postfix | syntax.Prefix | syntax.Comma) -> Expr:
        """The value of an expression that also does something."""
        match node:
            case syntax.Comma(items=items):
                outer, self.behind = self.behind, None  # the comma is a sequence point
                for item in items[:-1]:
                    self.before += self.effect(item)
                value = self.value(items[-1])
                self.behind = outer
                return value
            case syntax.Postfix(operand=operand):
                if isinstance(operand, syntax.Name) and self.behind is not None:
                    self.behind += self._assign(_increment(node))
                    return self.value(operand)
                return self._kept(node)
            case syntax.Assign():
                return self._assigned(self._assign(node), node)
            case syntax.Prefix():
                return self._assigned(self._assign(_increment(node)), node)

    def _kept(self, node: syntax.Postfix) -> Expr:
        """``x++`` in front of everything: the old value goes into a variable."""
        statements = self._assign(_increment(node))
        old = self.value(node.operand)
        if not statements or not isinstance(old.type, ScalarType | PointerType | BlockType):
            return failed(node.span)
        name = f"old_{old.symbol.name}" if isinstance(old, Name) else "old"
        symbol = Symbol(name, old.type, node.span)
        self.before += [Declare(node.span, symbol, old), *statements]
        return Name(node.span, old.type, symbol)

    def _assigned(self, statements: list[Statement], node: syntax.Expr) -> Expr:
        """The value of an assignment: that of its target, afterwards."""
        self.before += statements
        match statements:
            case [Assign(symbol=symbol)]:
                return Name(node.span, symbol.type, symbol)
            case [Store(value=value) as store]:
                if isinstance(value, Name | Literal | Constexpr):
                    return value
                assert isinstance(value.type, ScalarType | PointerType | BlockType)
                symbol = Symbol("value", value.type, node.span)
                name = Name(node.span, value.type, symbol)
                self.before[-1:] = [Declare(node.span, symbol, value), replace(store, value=name)]
                return name
        return failed(node.span)

    # ---------------------------------------------------------------- assignments

    def effect(self, node: syntax.Expr) -> list[Statement]:
        """An expression that is evaluated for what it does."""
        if isinstance(node, syntax.Comma):
            return [statement for item in node.items for statement in self.effect(item)]
        return self.sequenced(lambda: self._effect(node))

    def _effect(self, node: syntax.Expr) -> list[Statement]:
        match node:
            case syntax.Assign():
                return self._assign(node)
            case syntax.Postfix() | syntax.Prefix(operator="++" | "--"):
                return self._assign(_increment(node))
            case syntax.Binary() if self._names_type(node):
                return []
            case _:
                value = self.check(node)
                effect = isinstance(value, Atomic) or value.type == VOID
                if value.type == ERROR:
                    return []
                if not effect:
                    self.report.warning("TC324", "this expression has no effect", node.span)
                    return []
                return [Evaluate(node.span, value)]

    def _assign(self, node: syntax.Assign) -> list[Statement]:
        match node.target:
            case syntax.Name():
                return self._assign_name(node, node.target)
            case syntax.Prefix(operator="*", operand=pointer):
                return self._store(node, pointer, None)
            case syntax.MaskedDeref(mask=mask, pointer=pointer):
                return self._store(node, pointer, mask)
            case _:
                self._refuse_target(node.target)
                return []

    def _refuse_target(self, target: syntax.Expr) -> None:
        """Say why this cannot be assigned to."""
        message = "this cannot be assigned to"
        help_ = "assign to a name, to '*pointer' or to '*?(mask)pointer'"
        first = target
        while isinstance(first, syntax.Binary):
            first = first.left
        match target:
            case syntax.Binary() if self._names_type(target):
                return
            case _ if isinstance(first, syntax.Call) and self.check(first).type == ERROR:
                return  # `elif (c) *p = x`: said already
            case syntax.Binary(operator="+" | "-" as sign) if isinstance(first, syntax.MaskedDeref):
                help_ = f"a mask binds tighter than '{sign}': write '*?(mask)(p {sign} i) = x'"
            case syntax.Binary(operator="+" | "-" as sign) if isinstance(first, syntax.Prefix):
                help_ = f"'*' binds tighter than '{sign}': write '*(p {sign} i) = x'"
            case syntax.Constexpr(id=name):
                value = self.scope.numbers[name]
                message = f"'{name}' is a define, {value} here, and cannot be assigned to"
                help_ = "declare a variable of another name"
            case syntax.Subscript():
                help_ = "'*(p + i) = x' stores one element, 'c ? a : b' changes a part of a block"
        self.report.error("TC315", message, target.span, help=help_)

    def _names_type(self, node: syntax.Binary) -> bool:
        """Whether this product is ``TYPE *p`` with a ``TYPE`` that nothing defines: an error, said once."""
        left, right = node.left, node.right
        right = right.operand if isinstance(right, syntax.Subscript) else right
        if node.operator != "*" or not isinstance(left, syntax.Name) or not isinstance(right, syntax.Name):
            return False
        if self.scope.find(left.id) is not None or self.scope.find(right.id) is not None:
            return False
        near = closest(left.id, TYPES)
        help_ = f"give it in defines, as in defines={{'{left.id}': 'float'}}, or by a typedef"
        help_ = f"did you mean '{near}'?" if near else help_
        self.report.error("TC203", f"'{left.id}' is no type", left.span, help=help_)
        self.scope.declare(Symbol(right.id, ERROR, right.span), self.report)  # type: ignore[arg-type]
        return True

    def _assign_name(self, node: syntax.Assign, target: syntax.Name) -> list[Statement]:
        left, right = self.value(target), self.value(node.value)
        if ERROR in (left.type, right.type):
            return []
        assert isinstance(left, Name)
        symbol = left.symbol
        if symbol.const or symbol.value is not None or symbol.buffer:
            self.report.error(
                "TC315",
                f"'{symbol.name}' is a constant, and cannot be assigned to",
                node.span,
                ("it was declared here", symbol.span),
                help="remove its 'const', or assign to another variable" if symbol.const else None,
            )
            return []
        right = self._combined(node, left, right)
        value = self.conversion(right, symbol.type, node.value.span, f"assign to '{symbol.name}'")
        return [] if value.type == ERROR else [Assign(node.span, symbol, value)]

    def _combined(self, node: syntax.Assign, left: Expr, right: Expr) -> Expr:
        """The value that a compound assignment stores: ``left op right``."""
        if node.operator == "=":
            return right
        operator = node.operator[:-1]
        shape = self.broadcast(left, right, node.span, f"'{node.operator}'")
        if shape is None:
            return Name(node.span, ERROR, Symbol("", left.type, node.span))  # type: ignore[arg-type]
        if scalar_of(left.type) is None or scalar_of(right.type) is None:
            return self.pointer_arithmetic(operator, left, right, shape, node.span)
        return self.arithmetic(operator, left, right, shape, node.span)

    def _store(
        self, node: syntax.Assign, pointer_node: syntax.Expr, mask_node: syntax.Expr | None
    ) -> list[Statement]:
        pointer, value = self.value(pointer_node), self.value(node.value)
        mask = None if mask_node is None else self.value(mask_node)
        if ERROR in (pointer.type, value.type, None if mask is None else mask.type):
            return []
        element = element_of(pointer.type)  # type: ignore[arg-type]
        if not isinstance(element, PointerType):
            message = f"'*' wants a pointer, not a value of type {pointer.type}"
            help_ = "'*p = x' stores through a pointer; a name is assigned without '*'"
            self.report.error("TC311", message, pointer.span, help=help_)
            return []
        if node.operator != "=":
            loaded = self.load(pointer, node.target.span, mask)
            value = self._combined(node, loaded, value)
            if value.type == ERROR:
                return []
        condition = None if mask is None else as_condition(mask)
        if condition is not None:
            placed = self.under_mask(pointer, condition, node.span)
            if placed is None:
                return []
            pointer = placed
        pointer = self._spread(pointer, value)
        type_ = with_element(element.element, shape_of(pointer.type))
        value = self.conversion(value, type_, node.value.span, "store")
        return [] if value.type == ERROR else [Store(node.span, pointer, value, condition)]

    def _spread(self, pointer: Expr, value: Expr) -> Expr:
        """Pointer, mask and stored value broadcast together."""
        shape = broadcast_shapes(shape_of(pointer.type), shape_of(value.type))
        if shape is None or (len(shape) > len(shape_of(pointer.type)) and shape_of(pointer.type)):
            return pointer
        return to_shape(pointer, shape) or pointer


def _increment(node: syntax.Postfix | syntax.Prefix) -> syntax.Assign:
    """``x++`` and ``++x`` as ``x += 1``."""
    one = syntax.Number(node.span, "1")
    return syntax.Assign(node.span, node.operator[0] + "=", node.operand, one)
