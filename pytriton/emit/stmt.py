"""Typed statements -> statements of Python.

Input: the body of a kernel after the passes. Output: the body of its tree (python.py). Invariants: a variable is a
tensor of its declared type and shape from its first assignment on, so that Triton can carry it through loops and
branches; every user comment is printed once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import assert_never

from pytriton.emit.element_types import Value, as_tensor, dtype, full, place
from pytriton.emit.expr import checked, lower, mask_node, node_of, size_node, tensor_of
from pytriton.emit.names import EmitContext, Names
from pytriton.emit.python import Atom, BinOp, Block, Call, Method, Node, Simple, Statement
from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.builtins import label_of, pieces
from pytriton.lang.tree.convert import constant, round_to
from pytriton.lang.tree.typed import Body, Comments, Expr, Symbol
from pytriton.lang.tree.types import BOOL, DOUBLE, FLOAT, INT, PointerType, ScalarType, element_of, shape_of
from pytriton.lang.tree.walk import assigned, assigned_once, names, reads
from pytriton.passes.memory.provenance import Provenance
from pytriton.source import Span

# What a statement prints, and the variables in it that may be numbers.
_Part = tuple[tuple[str, Node | None], frozenset[Symbol]]

_AUGMENTED = frozenset(("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "/"))


class Statements:
    """Builds the statements of one kernel."""

    def __init__(self, names: Names, provenance: Provenance, precision: str) -> None:
        self.names = names
        self.provenance = provenance
        self.context = EmitContext(names, precision)
        self.parts: list[_Part] = []
        self.kernel_body: tuple[Statement, ...] = ()
        self._once: frozenset[Symbol] = frozenset()
        self._current: list[Statement] = []

    def build(self, body: Body) -> None:
        """The statements of the kernel."""
        once = assigned_once(body)
        self._once = frozenset(s.symbol for s in once if isinstance(s, typed.Declare | typed.Assign))
        self.kernel_body = self.body(body)

    def body(self, body: Body) -> tuple[Statement, ...]:
        """The statements of one block."""
        outer, self._current = self._current, []
        mentions = _first_mentions(body)
        for statement in body:
            self._statement(statement, mentions)
        result, self._current = self._current, outer
        return tuple(_with_comments(result))

    def _put(self, before: str, node: Node | None, span: Span, comments: Comments) -> None:
        """``before node`` with the comments of its statement."""
        self._part(before, node)
        beside = "; ".join(comments.beside)
        self._current.append(Simple(before, node, span.line, comments.above, beside))

    def _block(self, before: str, node: Node, body: Body, span: Span, comments: Comments) -> None:
        """``before node:`` and a body."""
        self._part(before, node)
        beside = "; ".join(comments.beside)
        inner = self.body(body)
        self._current.append(Block(before, node, inner, (), span.line, comments.above, beside))

    def _part(self, before: str, node: Node | None) -> None:
        self.parts.append(((before, node), frozenset(self.context.read)))
        self.context.read.clear()

    def _comment(self, above: tuple[str, ...], span: Span) -> None:
        if above:
            self._current.append(Simple("", None, span.line, above))

    def _statement(self, statement: typed.Statement, mentions: dict[Symbol, typed.Statement]) -> None:
        match statement:
            case typed.Remark(comments=comments):
                self._comment(comments.above + comments.beside, statement.span)
            case typed.Declare(value=None):
                self._comment(statement.comments.above + statement.comments.beside, statement.span)
                if _needs_value(statement.symbol, mentions.get(statement.symbol)):
                    self._assign(statement.symbol, _zero(statement), statement.span, Comments())
            case typed.Declare(value=value):
                assert value is not None
                multiple = statement.symbol.multiple_of
                self._assign(statement.symbol, value, statement.span, statement.comments, multiple)
            case typed.Assign():
                self._assign(statement.symbol, statement.value, statement.span, statement.comments)
            case typed.Store():
                self._store(statement)
            case typed.Evaluate(value=typed.Call(function="printf") as call):
                comments = statement.comments
                for node in prints(call, self.context):
                    self._put("", node, statement.span, comments)
                    comments = Comments()
            case typed.Evaluate():
                node = node_of(statement.value, self.context)
                self._put("", node, statement.span, statement.comments)
            case typed.If():
                self._settle((statement,))
                self._current.append(self._if(statement))
            case typed.RangeLoop():
                self._range(statement)
            case typed.While():
                self._while(statement.condition, statement.body, statement.span, statement.comments)
            case typed.For():
                self._for(statement)
            case typed.Return():
                self._put("return", None, statement.span, Comments(statement.comments.above))
            case typed.DoWhile() | typed.Break() | typed.Continue():
                raise AssertionError("passes/lower/jumps.py leaves none")
            case _:
                assert_never(statement)

    def _assign(self, symbol: Symbol, value: Expr, span: Span, comments: Comments, multiple: int = 1) -> None:
        name = self.names[symbol]
        lowered = lower(value, self.context)
        node = self._typed(lowered, symbol)
        if self._stays_number(value, lowered, symbol):
            if symbol in self.context.spelled:
                node = as_tensor(lowered).node
            else:
                assigned_value = lowered if symbol in self._once else Value(node, lowered.element, weak=True)
                self.context.numbers[symbol] = assigned_value
        if multiple > 1 and not lowered.weak and not shape_of(symbol.type):
            node = Call("tl.multiple_of", (node, size_node(multiple, self.context)))  # a hint, no arithmetic
        match node:
            case Atom(text=text) if text == name:  # nothing is printed: a number stays one
                return
            case BinOp(operator=operator, left=Atom(text=text)) if text == name and operator in _AUGMENTED:
                self._put(f"{name} {operator}= ", node.right, span, comments)
            case _:
                self._put(f"{name} = ", node, span, comments)
        self.names.weak.discard(symbol)

    def _stays_number(self, expr: Expr, value: Value, symbol: Symbol) -> bool:
        """Whether the variable is a Python number where nothing makes a tensor of it (bare.py)."""
        if not value.weak or element_of(symbol.type) not in (INT, FLOAT, BOOL) or self.context.on_cpu:
            return False
        return not any(name.parameter for name in names(expr))  # parameters are tensors

    def _typed(self, value: Value, symbol: Symbol) -> Node:
        """The value so that the variable becomes a tensor of its declared type.

        Triton gives a bare number int32 or float32 on assignment; other types must be spelled.
        """
        element = element_of(symbol.type)
        if not value.weak or element in (INT, FLOAT, BOOL):
            return value.node
        if value.strong:
            return Call("tl.cast", (value.node, dtype(element)))
        return full(value.node, element)

    def _store(self, statement: typed.Store) -> None:
        pointer = lower(statement.pointer, self.context)
        want = shape_of(statement.pointer.type)
        value = self._stored(statement, want)
        mask = None if statement.mask is None else mask_node(statement.mask, want, self.context)
        if statement.site is not None:
            call = checked("store", statement.site, (pointer.node, value), mask, self.context)
        else:
            call = Call("tl.store", (pointer.node, value), (("mask", mask),) if mask is not None else ())
        self._put("", call, statement.span, statement.comments)

    def _stored(self, statement: typed.Store, want: tuple[int, ...]) -> Node:
        """The value to store. Where it is converted last, the type is that of the pointer it goes to."""
        value = statement.value
        have = shape_of(value.type)
        if isinstance(value, typed.Broadcast):  # tl.store broadcasts by itself
            value = value.operand
            have = shape_of(value.type)
        target = statement.pointer.type
        element = element_of(target)
        root = self.provenance.only_root(statement.pointer)
        if isinstance(value, typed.Cast) and root is not None and root.type == element:
            inner = lower(value.operand, self.context)
            if not inner.weak and element.element != BOOL:  # type: ignore[union-attr]
                own = Atom(f"{self.names[root]}.dtype.element_ty")
                converted = Value(Method(inner.node, "to", (own,)), inner.element)
                return place(converted, have, want)
        lowered = lower(value, self.context)
        if isinstance(element, PointerType) and element.element == DOUBLE and lowered.weak:
            number = constant(value)
            if number is None or round_to(number, FLOAT) != number:
                lowered = tensor_of(value, self.context)  # tl.store makes a bare number a float32
        if isinstance(element, PointerType) and isinstance(element.element, PointerType):
            lowered = Value(Method(lowered.node, "to", (Atom("tl.int64"),)), lowered.element)
        return place(lowered, have, want)

    # ---------------------------------------------------------------- control flow

    def _if(self, statement: typed.If) -> Block:
        condition = node_of(statement.condition, self.context)
        self._part("if ", condition)
        then = self.body(statement.then)
        match statement.otherwise:
            case (typed.If() as chained,):
                otherwise: tuple[Statement, ...] = (replace(self._if(chained), beside=""),)
            case _:
                otherwise = self.body(statement.otherwise)
        comments = statement.comments
        line, beside = statement.span.line, "; ".join(comments.beside)
        return Block("if ", condition, then, otherwise, line, comments.above, beside)

    def _range(self, statement: typed.RangeLoop) -> None:
        self._settle(statement.body)
        bounds = [statement.start, statement.stop, statement.step]
        if isinstance(statement.step, typed.Literal) and constant(statement.step) == 1:
            bounds.pop()
            if isinstance(statement.start, typed.Literal) and constant(statement.start) == 0:
                bounds.pop(0)
        name = self.names[statement.symbol]
        self.names.weak.add(statement.symbol)
        lowest = statement.start if (constant(statement.step) or 0) > 0 else statement.stop
        if (constant(lowest) or -1) >= 0 or constant(lowest) == 0:
            self.names.natural.add(statement.symbol)
        arguments = tuple(node_of(bound, self.context) for bound in bounds)
        call = Call("range", arguments)
        if statement.stages is not None:
            call = Call("tl.range", arguments, (("num_stages", Atom(str(statement.stages))),))
        self._block(f"for {name} in ", call, statement.body, statement.span, statement.comments)

    def _for(self, statement: typed.For) -> None:
        """A loop that is not a ``range``: its initialisation, then ``while`` with the step at the end."""
        self._comment(statement.comments.above, statement.span)
        if statement.init:
            mentions = _first_mentions((*statement.init, replace(statement, init=())))
            for inner in statement.init:
                self._statement(inner, mentions)
        condition = statement.condition
        if condition is None:
            condition = typed.Literal(statement.span, BOOL, 1)
        self._while(condition, statement.body + statement.step, statement.span, Comments())

    def _while(self, condition: Expr, body: Body, span: Span, comments: Comments) -> None:
        self._settle(body)
        value = lower(condition, self.context)
        if value.strong and not (self.context.bare and names(condition) & self.context.numbers.keys()):
            value = as_tensor(value)  # a loop has no number for its condition
        self._block("while ", value.node, body, span, comments)

    def _settle(self, body: Body) -> None:
        """What a loop or an ``if`` assigns is a tensor before it, too: Triton wants one type of a variable."""
        for symbol in assigned(body) & self.names.weak:
            name = self.names[symbol]
            value = BinOp("+", Atom(name), Atom("0"))
            self._put(f"{name} = ", value, symbol.span, Comments())
            self.names.weak.discard(symbol)


def _zero(statement: typed.Declare) -> Expr:
    """A value for a variable that is declared without one and may be read before it gets one."""
    symbol = statement.symbol
    element = element_of(symbol.type)
    zero: Expr = typed.Literal(statement.span, element if isinstance(element, ScalarType) else INT, 0)
    if isinstance(element, PointerType):
        zero = typed.Cast(statement.span, element, typed.Literal(statement.span, INT, 0))
    if shape_of(symbol.type):
        return typed.Broadcast(statement.span, symbol.type, zero)
    return zero


def _with_comments(statements: list[Statement]) -> Iterator[Statement]:
    """Comments on their own belong to the statement that follows them."""
    above: tuple[str, ...] = ()
    for statement in statements:
        above += statement.above
        if statement.node is not None or statement.before or statement is statements[-1]:
            yield replace(statement, above=above) if above != statement.above else statement
            above = ()


def _first_mentions(body: Body) -> dict[Symbol, typed.Statement]:
    """For each variable declared without a value, the statement that mentions it first."""
    waiting = {s.symbol for s in body if isinstance(s, typed.Declare) and s.value is None}
    mentions: dict[Symbol, typed.Statement] = {}
    if not waiting:
        return mentions
    for statement in body:
        if isinstance(statement, typed.Declare) and statement.value is None:
            continue
        for symbol in waiting & (reads((statement,)) | assigned((statement,))):
            mentions.setdefault(symbol, statement)
    return mentions


def _needs_value(symbol: Symbol, first: typed.Statement | None) -> bool:
    """Whether something may read or keep the variable before a plain assignment sets it."""
    if isinstance(first, typed.For) and first.init:
        first = first.init[0]
    if isinstance(first, typed.Assign) and first.symbol is symbol:
        return symbol in names(first.value)
    return first is not None


# ---------------------------------------------------------------- printf


def prints(call: typed.Call, context: EmitContext) -> list[Node]:
    """The calls for one ``printf``: a ``tl.device_print`` for each value.

    Code for the interpreter calls ``printed`` instead, with the number of the call and its values: that has C's
    formats (runtime/interpret/interpreter.py).
    """
    assert call.printed is not None
    context.prints.append(call.printed)
    values = [node_of(argument, context) for argument in call.arguments]
    if context.on_cpu:
        return [Call("printed", (Atom(str(len(context.prints) - 1)), *values))]
    conversions, after = pieces(call.printed.text)
    if not values:
        return [Call("tl.device_print", (_text(label_of(after, "")),))]
    nodes: list[Node] = []
    for conversion, argument, value in zip(conversions, call.arguments, values, strict=True):
        hexadecimal = (("hex", Atom("True")),) if conversion.letter in "xX" else ()
        label = _text(label_of(conversion.before, argument.span.text))
        nodes.append(Call("tl.device_print", (label, value), hexadecimal))
    return nodes


def _text(label: str) -> Atom:
    return Atom(json.dumps(label))
