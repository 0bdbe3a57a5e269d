"""Syntax tree -> typed tree: one kernel of a file, its declarations and statements.

Input: a ``File`` and the kernel wanted. Output: a ``KernelDef``. All errors of the kernel are reported before
anything is raised. What stands outside kernels (``typedef``, ``enum``, ``static const``) is read in order, as
far as it precedes the kernel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytriton.errors import Report
from pytriton.lang import syntax
from pytriton.lang.classify import TYPES
from pytriton.lang.comments import CommentCursor
from pytriton.lang.convert import as_condition, scalar_of, to_shape
from pytriton.lang.declarations import Declarations
from pytriton.lang.scope import Scope, closest
from pytriton.lang.typed import (
    Assign,
    Atomic,
    Body,
    Break,
    Comments,
    Continue,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    KernelDef,
    Name,
    Remark,
    Return,
    Statement,
    Store,
    Symbol,
    While,
)
from pytriton.lang.types import (
    ERROR,
    VOID,
    PointerType,
    broadcast_shapes,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.walk import reads
from pytriton.source import Span

__all__ = ["check", "kernel_names"]

_DEEPEST: Final = 40


def kernel_names(file: syntax.File) -> tuple[str, ...]:
    """The names of all kernels of a text, in order."""
    return tuple(
        item.declarator.name.text
        for item in file.items
        if isinstance(item, syntax.Function) and item.declarator.name is not None
    )


def check(
    file: syntax.File, report: Report, kernel: str | None = None, strict_literals: bool = False
) -> KernelDef:
    """The typed tree of the kernel named, or of the first one.

    Raises the first kind of error found, with every other one of this kernel, through ``report``.
    """
    names = kernel_names(file)
    if not names:
        report.fatal(
            "TC204",
            "there is no kernel in this text",
            file.span.source,
            help="a kernel is '__global__ void name(...) { ... }'; an #if may have dropped it",
        )
    if kernel is not None and kernel not in names:
        near = closest(kernel, names)
        report.fatal(
            "TC205",
            f"there is no kernel '{kernel[:60]}' in this text, only {', '.join(names[:20])[:400]}",
            file.span.source,
            help=f"did you mean '{near}'?" if near else None,
        )
    _report_twins(file, report)
    checker = _KernelChecker(file, report, strict_literals)
    result: KernelDef | None = None
    for item in file.items:
        if isinstance(item, syntax.Function):
            assert item.declarator.name is not None
            if item.declarator.name.text == (kernel or names[0]):
                result = checker.kernel(item)
                break
            checker.comments.skip(item.span.end)
        elif isinstance(item, syntax.Declaration):
            checker.file_scope(item)
        else:
            checker.static_assert(item)
    report.check()
    assert result is not None
    return result


def _report_twins(file: syntax.File, report: Report) -> None:
    """Two kernels of one name are an error that shows both."""
    seen: dict[str, Span] = {}
    for item in file.items:
        name = item.declarator.name if isinstance(item, syntax.Function) else None
        if name is None:
            continue
        if name.text in seen:
            before = ("the first one is here", seen[name.text])
            report.error("TC307", f"there are two kernels '{name.text}'", name.span, before)
        seen.setdefault(name.text, name.span)


class _KernelChecker(Declarations):
    """Checks one kernel."""

    def __init__(self, file: syntax.File, report: Report, strict_literals: bool) -> None:
        super().__init__(Scope(), report, strict_literals)
        self.comments = CommentCursor(file.comments, file.span)
        self.buffers = []
        self._nesting = 0
        self._loops = 0  # around the statement at hand
        self._returns_value = False  # said already, so that its `return x;` is silent

    def kernel(self, node: syntax.Function) -> KernelDef:
        """The kernel with its parameters and body."""
        assert node.declarator.name is not None
        head = Comments(self.comments.above(node.span.start))
        if not node.specifiers.has("void") or node.declarator.stars:
            self._returns_value = True
            self.report.error(
                "TC206",
                f"kernel '{node.declarator.name.text}' must return void",
                node.specifiers.span,
                help="every function is a kernel; for a helper, write a macro",
            )
        self.scope.push()
        parameters: list[Symbol] = []
        comments: list[Comments] = []
        for specifiers, declarator in node.declarator.parameters or ():
            if specifiers.has("void") and declarator.name is None and not declarator.stars:
                continue
            span = specifiers.span.to(declarator.span)
            above = self.comments.above(specifiers.span.start)
            symbol = self.parameter(specifiers, declarator, span)
            comments.append(Comments(above, self.comments.behind(span)))
            if symbol is not None:
                parameters.append(symbol)
        body = self._items(node.body)
        self.scope.pop()
        name = node.declarator.name
        used = reads(body)
        for buffer in self.buffers:
            if buffer in used:
                parameters.append(buffer)
                comments.append(Comments())
        buffers = tuple(self.buffers)
        return KernelDef(name.span, name.text, tuple(parameters), body, head, tuple(comments), buffers)

    # ---------------------------------------------------------------- statements

    def _items(self, block: syntax.Block) -> Body:
        """The statements of a block, whose scope is open already."""
        found: list[Statement] = []
        for item in block.items:
            found += self._statement(item)
        left = self.comments.above(block.span.end)
        if left:
            found.append(Remark(block.span, Comments(left)))
        return tuple(found)

    def _scoped(self, node: syntax.Statement) -> Body:
        """A statement in a scope of its own."""
        self.scope.push()
        try:
            if isinstance(node, syntax.Block):
                return self._items(node)
            return tuple(self._statement(node))
        finally:
            self.scope.pop()

    def _statement(self, node: syntax.Statement) -> list[Statement]:
        """A statement with its comments; one C statement may be several of ours, or none."""
        self._nesting += 1
        if self._nesting > _DEEPEST:
            self.report.fatal("TC318", f"blocks are nested more than {_DEEPEST} deep", node.span)
        above = self.comments.above(node.span.start)
        found = self._dispatch(node)
        self._nesting -= 1
        inner = isinstance(node, syntax.Block | syntax.If | syntax.For | syntax.While | syntax.DoWhile)
        within = () if inner else self.comments.above(node.span.end)
        behind = self.comments.behind(node.span)
        if not (above or within or behind):
            return found
        if not found:
            return [Remark(node.span, Comments(above + within + behind))]
        first = found[0].comments
        if inner and behind:
            above, behind = above + behind, ()
        found[0] = replace(found[0], comments=Comments(above + within + first.above, first.behind))
        last = found[-1].comments
        found[-1] = replace(found[-1], comments=Comments(last.above, last.behind + behind))
        return found

    def _dispatch(self, node: syntax.Statement) -> list[Statement]:
        match node:
            case syntax.Declaration():
                return self._declaration(node)
            case syntax.StaticAssert():
                self.static_assert(node)
                return []
            case syntax.ExpressionStatement(expression=None):
                return []
            case syntax.ExpressionStatement(expression=expression):
                assert expression is not None
                return self._effect(expression)
            case syntax.Block():
                return list(self._scoped(node))
            case syntax.If():
                condition = self.condition(node.condition, "if")
                then = self._scoped(node.then)
                otherwise = () if node.otherwise is None else self._scoped(node.otherwise)
                return [If(node.span, condition, then, otherwise)]
            case syntax.For():
                return self._for(node)
            case syntax.While():
                condition = self.condition(node.condition, "while")
                return [While(node.span, condition, self._loop_body(node.body))]
            case syntax.DoWhile():
                body = self._loop_body(node.body)
                return [DoWhile(node.span, body, self.condition(node.condition, "while"))]
            case syntax.Return():
                if node.value is not None and not self._returns_value:
                    help_ = "store it through a pointer, as in '*out = value'"
                    self.report.error("TC206", "a kernel returns nothing", node.value.span, help=help_)
                return [Return(node.span)]
            case syntax.Break() | syntax.Continue():
                return self._jump(node)

    def _jump(self, node: syntax.Break | syntax.Continue) -> list[Statement]:
        if self._loops:
            return [Break(node.span) if isinstance(node, syntax.Break) else Continue(node.span)]
        word = "break" if isinstance(node, syntax.Break) else "continue"
        help_ = "'return' ends the kernel"
        self.report.error("TC411", f"there is no loop around this '{word}'", node.span, help=help_)
        return []

    def _loop_body(self, node: syntax.Statement) -> Body:
        """The body of a loop, in a scope of its own."""
        self._loops += 1
        try:
            return self._scoped(node)
        finally:
            self._loops -= 1

    def _for(self, node: syntax.For) -> list[Statement]:
        self.scope.push()
        init = self._statement(node.init)
        condition = None if node.condition is None else self.condition(node.condition, "for")
        step = () if node.step is None else tuple(self._effect(node.step))
        body = self._loop_body(node.body)
        self.scope.pop()
        return [For(node.span, tuple(init), condition, step, body)]

    def _declaration(self, node: syntax.Declaration) -> list[Statement]:
        if node.specifiers.has("typedef") or node.specifiers.enum is not None:
            self.file_scope(node)
            return []
        if node.specifiers.has("extern"):
            self.report.error("TC405", "'extern' has no place inside a kernel", node.span)
            return []
        found: list[Statement] = []
        base = self.base_type(node.specifiers)
        for declarator in node.declarators:
            symbol = None if base is None else self.local(node.specifiers, base, declarator)
            value: Expr | None = None
            if declarator.initializer is not None:
                value = self.value(declarator.initializer)
            if symbol is None:
                self._declare_failed(declarator)
                continue
            if value is not None and value.type != ERROR:
                span = declarator.initializer.span if declarator.initializer else declarator.span
                action = f"initialise '{symbol.name}'"
                value = self.conversion(value, symbol.type, span, action)
            self.scope.declare(symbol, self.report)
            found.append(Declare(declarator.span.to(node.span), symbol, value))
        return found

    def _declare_failed(self, declarator: syntax.Declarator) -> None:
        """Enter a name whose declaration is wrong, so that its uses are silent."""
        if declarator.name is not None:
            symbol = Symbol(declarator.name.text, ERROR, declarator.span)  # type: ignore[arg-type]
            self.scope.declare(symbol, self.report)

    # ---------------------------------------------------------------- assignments

    def _effect(self, node: syntax.Expr) -> list[Statement]:
        """An expression that is evaluated for what it does."""
        match node:
            case syntax.Comma(items=items):
                return [statement for item in items for statement in self._effect(item)]
            case syntax.Assign():
                return self._assign(node)
            case (
                syntax.Postfix(operator=operator, operand=operand)
                | syntax.Prefix(operator="++" | "--" as operator, operand=operand)
            ):
                one = syntax.Number(node.span, "1")
                return self._assign(syntax.Assign(node.span, operator[0] + "=", operand, one))
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
        before: list[Statement] = []
        value_node = node.value
        if isinstance(value_node, syntax.Assign):
            self._nesting += 1
            if self._nesting > _DEEPEST:
                self.report.fatal("TC318", f"assignments are nested more than {_DEEPEST} deep", node.span)
            before = self._assign(value_node)
            value_node = value_node.target
            self._nesting -= 1
        match node.target:
            case syntax.Name():
                return before + self._assign_name(node, node.target, value_node)
            case syntax.Prefix(operator="*", operand=pointer):
                return before + self._store(node, pointer, None, value_node)
            case syntax.MaskedDeref(mask=mask, pointer=pointer):
                return before + self._store(node, pointer, mask, value_node)
            case _:
                self._refuse_target(node.target)
                return before

    def _refuse_target(self, target: syntax.Expr) -> None:
        """Say why this cannot be assigned to."""
        message = "this cannot be assigned to"
        help_ = "assign to a name, to '*pointer' or to '*?(mask)pointer'"
        match target:
            case syntax.Binary() if self._names_type(target):
                return
            case syntax.Constexpr(id=name, value=value):
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

    def _assign_name(
        self, node: syntax.Assign, target: syntax.Name, value_node: syntax.Expr
    ) -> list[Statement]:
        left, right = self.value(target), self.value(value_node)
        if ERROR in (left.type, right.type):
            return []
        assert isinstance(left, Name)
        symbol = left.symbol
        if symbol.value is not None or symbol.buffer:
            self.report.error(
                "TC315",
                f"'{symbol.name}' is a constant",
                node.span,
                ("it was declared here", symbol.span),
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
        self,
        node: syntax.Assign,
        pointer_node: syntax.Expr,
        mask_node: syntax.Expr | None,
        value_node: syntax.Expr,
    ) -> list[Statement]:
        pointer, value = self.value(pointer_node), self.value(value_node)
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
            loaded = self.load(pointer, node.target.span, *(() if mask is None else (mask,)))
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
