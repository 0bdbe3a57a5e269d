"""Syntax tree -> typed tree: one kernel of a file, its declarations and statements.

Input: a ``File`` and the kernel wanted. Output: a ``KernelDef``. All errors of the kernel are reported before
anything is raised. What stands outside kernels (``typedef``, ``enum``, ``static const``) is read in order, as
far as it precedes the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pytriton.errors import Report, closest
from pytriton.frozen import replace
from pytriton.lang.check.assignments import Assignments
from pytriton.lang.check.budget import refuse_large
from pytriton.lang.check.comments import CommentCursor
from pytriton.lang.check.scope import Scope
from pytriton.lang.check.type_names import ValueType
from pytriton.lang.check.unassigned import warn_of_unassigned
from pytriton.lang.parse import syntax
from pytriton.lang.preprocess.macros import Macro
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Body,
    Break,
    Comments,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    KernelDef,
    Remark,
    Return,
    Statement,
    Symbol,
    Unary,
    While,
)
from pytriton.lang.tree.types import (
    ERROR,
)
from pytriton.lang.tree.walk import reads
from pytriton.settings import Settings
from pytriton.source import Span

__all__ = ["check", "kernel_names"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_DEEPEST: Final = 40
_DEEPEST_LOOPS: Final = 10  # the passes look at a loop as often as it is deep, and more


def kernel_names(file: syntax.File) -> tuple[str, ...]:
    """The names of all kernels of a text, in order."""
    return tuple(
        item.declarator.name.text
        for item in file.items
        if isinstance(item, syntax.Function) and item.declarator.name is not None
    )


def check(
    file: syntax.File,
    report: Report,
    settings: Settings | None = None,
    numbers: Mapping[str, int | float] = _NOTHING,
    macros: Mapping[str, Macro] = _NOTHING,
) -> KernelDef:
    """The typed tree of the kernel that the settings name, or of the first one.

    ``numbers``: the values of the defines that are numbers. ``macros``: those of the text, for suggestions.
    Raises the first kind of error found, with every other one of this kernel, through ``report``.
    """
    settings = settings or Settings()
    kernel, names = settings.kernel, kernel_names(file)
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
    checker = _KernelChecker(file, report, settings, Scope(numbers, macros))
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


class _KernelChecker(Assignments):
    """Checks one kernel."""

    def __init__(self, file: syntax.File, report: Report, settings: Settings, scope: Scope) -> None:
        super().__init__(scope, report, settings.strict_literals)
        self.without_promises = settings.without_promises
        self.kernels = {
            item.declarator.name.text: item.declarator.name.span
            for item in file.items
            if isinstance(item, syntax.Function) and item.declarator.name is not None
        }
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
        self.kernel_body = node.body
        self.scope.push()
        parameters: list[Symbol] = []
        comments: list[Comments] = []
        for specifiers, declarator in node.declarator.parameters or ():
            if specifiers.has("void") and declarator.name is None and not declarator.stars:
                continue
            symbol, beside = self._parameter(specifiers, declarator)
            comments.append(beside)
            if symbol is not None:
                parameters.append(symbol)
        body = self._items(node.body)
        self.scope.pop()
        name = node.declarator.name
        refuse_large(name.text, body, name.span, self.report)
        warn_of_unassigned(body, self.report)
        used = reads(body)
        for buffer in self.buffers:
            if buffer in used:
                parameters.append(buffer)
                comments.append(Comments())
        buffers = tuple(self.buffers)
        return KernelDef(name.span, name.text, tuple(parameters), body, head, tuple(comments), buffers)

    def _parameter(
        self, specifiers: syntax.Specifiers, declarator: syntax.Declarator
    ) -> tuple[Symbol | None, Comments]:
        """A parameter with its comments."""
        span = specifiers.span.to(declarator.span)
        above = self.comments.above(specifiers.span.start)
        symbol = self.parameter(specifiers, declarator, span)
        return symbol, Comments(above, self.comments.behind(span))

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
            return self._statement(node)
        finally:
            self.scope.pop()

    def _perhaps(self, node: syntax.Statement, certain: bool = False) -> Body:
        """A statement that need not be executed, in a scope of its own."""
        self.unsure += not certain
        found = self._scoped(node)
        self.unsure -= not certain
        return found

    def _statement(self, node: syntax.Statement) -> Body:
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
            return tuple(found)
        if not found:
            return (Remark(node.span, Comments(above + within + behind)),)
        first = found[0].comments
        if inner and behind:
            above, behind = above + behind, ()
        found[0] = replace(found[0], comments=Comments(above + within + first.above, first.behind))
        last = found[-1].comments
        found[-1] = replace(found[-1], comments=Comments(last.above, last.behind + behind))
        return tuple(found)

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
                return self.effect(expression)
            case syntax.Block():
                return list(self._scoped(node))
            case syntax.If():
                before, condition = self.tested(node.condition, "if")
                known = constant(condition)
                then = self._perhaps(node.then, certain=bool(known))
                otherwise = (
                    () if node.otherwise is None else self._perhaps(node.otherwise, certain=known == 0)
                )
                return [*before, If(node.span, condition, then, otherwise)]
            case syntax.For():
                return self._for(node)
            case syntax.While():
                before, condition = self.tested(node.condition, "while")
                body = self._loop_body(node.body)
                if before:
                    return [_tested_inside(node.span, (), before, condition, (), body)]
                return [While(node.span, condition, body)]
            case syntax.DoWhile():
                body = self._loop_body(node.body)
                before, condition = self.tested(node.condition, "while")
                if before:
                    return [For(node.span, (), None, (*before, _leave_unless(condition)), body)]
                return [DoWhile(node.span, body, condition)]
            case syntax.Return():
                if node.value is not None and not self._returns_value:
                    help_ = "store it through a pointer, as in '*out = value'"
                    self.report.error("TC206", "a kernel returns nothing", node.value.span, help=help_)
                self.unsure += 1  # for good: what follows is not reached by every program
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
        if self._loops > _DEEPEST_LOOPS:
            self.report.fatal("TC318", f"loops are nested more than {_DEEPEST_LOOPS} deep", node.span)
        try:
            return self._perhaps(node)
        finally:
            self._loops -= 1

    def _for(self, node: syntax.For) -> list[Statement]:
        self.scope.push()
        init = self._statement(node.init)
        before, condition = ((), None) if node.condition is None else self.tested(node.condition, "for")
        self.unsure += 1
        step = () if node.step is None else tuple(self.effect(node.step))
        self.unsure -= 1
        body = self._loop_body(node.body)
        self.scope.pop()
        if before and condition is not None:
            return [_tested_inside(node.span, init, before, condition, step, body)]
        return [For(node.span, init, condition, step, body)]

    def _declaration(self, node: syntax.Declaration) -> list[Statement]:
        if node.specifiers.has("typedef") or node.specifiers.enum is not None:
            self.file_scope(node)
            return []
        if node.specifiers.has("extern"):
            self.report.error("TC405", "'extern' has no place inside a kernel", node.span)
            return []
        base = self.base_type(node.specifiers)
        found: list[Statement] = []
        for declarator in node.declarators:
            found += self.sequenced(lambda: self._declare(node, base, declarator))  # noqa: B023
        return found

    def _declare(
        self, node: syntax.Declaration, base: ValueType | None, declarator: syntax.Declarator
    ) -> list[Statement]:
        symbol = None if base is None else self.local(node.specifiers, base, declarator)
        value: Expr | None = None
        if declarator.initializer is not None:
            value = self.value(declarator.initializer)
        if symbol is None:
            self._declare_failed(declarator)
            return []
        if value is not None and value.type != ERROR:
            span = declarator.initializer.span if declarator.initializer else declarator.span
            value = self.conversion(value, symbol.type, span, f"initialise '{symbol.name}'")
        self.scope.declare(symbol, self.report)
        return [Declare(declarator.span.to(node.span), symbol, value)]

    def _declare_failed(self, declarator: syntax.Declarator) -> None:
        """Enter a name whose declaration is wrong, so that its uses are silent."""
        if declarator.name is not None:
            symbol = Symbol(declarator.name.text, ERROR, declarator.span)  # type: ignore[arg-type]
            self.scope.declare(symbol, self.report)


def _tested_inside(
    span: Span, init: Body, before: Body, condition: Expr, step: Body, body: Body
) -> Statement:
    """A loop whose condition has side effects: it is tested at the top of the body."""
    return For(span, init, None, step, (*before, _leave_unless(condition), *body))


def _leave_unless(condition: Expr) -> Statement:
    refused = Unary(condition.span, condition.type, "!", condition)
    return If(condition.span, refused, (Break(condition.span),), ())
