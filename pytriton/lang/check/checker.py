"""Syntax tree -> typed tree: one kernel of a file, its declarations and statements.

Input: a ``File`` and the kernel wanted. Output: a ``KernelDef``. All errors of the kernel are reported before
anything is raised. What is outside of kernels (``typedef``, ``enum``, ``static const``) is read in order, as
far as it precedes the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from pytriton.errors import Report, closest
from pytriton.frozen import replace
from pytriton.lang.check.context import CheckContext, CommentCursor, Scope, ValueType, declare_failed
from pytriton.lang.check.declarations import (
    check_file_scope,
    check_static_assert,
    declare_parameter,
    local_symbol,
)
from pytriton.lang.check.expressions import effect, tested_condition, value_of
from pytriton.lang.check.operators import conversion
from pytriton.lang.check.words import base_type
from pytriton.lang.parse import syntax
from pytriton.lang.preprocess.macros import Macro
from pytriton.lang.tokens import Token
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.effects import in_order
from pytriton.lang.tree.typed import Body, Expr, KernelDef, Statement, Symbol
from pytriton.lang.tree.types import ERROR
from pytriton.lang.tree.walk import assigned, bodies, count_nodes, expressions, reads, walk
from pytriton.settings import Settings
from pytriton.source import Span

# ---------------------------------------------------------------- unassigned
# A warning for each variable that is read where nothing can have been assigned to it (docs/language.md).
#
# Input: the body of a kernel as checked. A read counts only if no assignment reaches it on any path, so that
# there is no false alarm: an ``if`` assigns what either branch does, a loop what any iteration of it does.


def warn_of_unassigned(body: Body, report: Report) -> None:
    """Report each variable once, at its first such read."""
    if _declares_empty(body):
        _Search(report).body(body)


def _declares_empty(body: Body) -> bool:
    """Whether a variable is declared without a value: only such variables can be unassigned."""
    for statement in body:
        if isinstance(statement, typed.Declare):
            if statement.value is None:
                return True
        elif any(map(_declares_empty, bodies(statement))):
            return True
    return False


class _Search:
    def __init__(self, report: Report) -> None:
        self.report = report
        self._empty: set[Symbol] = set()  # declared, and never assigned so far

    def body(self, body: Body) -> None:
        for statement in body:
            if isinstance(statement, typed.If):
                self._reads(statement.condition)
                before = set(self._empty)
                self.body(statement.then)
                after_then, self._empty = self._empty, before
                self.body(statement.otherwise)
                self._empty &= after_then
            elif isinstance(statement, typed.Assign | typed.Declare):
                self._assign(statement)
            elif bodies(statement):
                self._loop(statement)
            else:
                for expr in expressions((statement,)):
                    self._reads(expr)

    def _assign(self, statement: typed.Assign | typed.Declare) -> None:
        if statement.value is not None:
            self._reads(statement.value)
            self._empty.discard(statement.symbol)
        else:
            self._empty.add(statement.symbol)

    def _loop(self, loop: Statement) -> None:
        """A loop's parts, each of which may run after every other one."""
        if isinstance(loop, typed.For):
            self.body(loop.init)
            self._empty -= assigned(loop.body + loop.step) - assigned(loop.init)
            if loop.condition is not None:
                self._reads(loop.condition)
            self.body(loop.body + loop.step)
            return
        assert not isinstance(loop, typed.RangeLoop)  # made by a pass
        for inner in bodies(loop):
            self._empty -= assigned(inner)
        for expr in expressions((loop,), deep=False):
            self._reads(expr)
        for inner in bodies(loop):
            self.body(inner)

    def _reads(self, expr: Expr) -> None:
        for node in walk(expr):
            if isinstance(node, typed.Name) and node.symbol in self._empty:
                self._empty.discard(node.symbol)
                declared = ("it was declared here, without a value", node.symbol.span)
                message = f"'{node.symbol.name}' is read before it is assigned"
                self.report.warning("TC326", message, node.span, declared)


# ---------------------------------------------------------------- size
# The length of a source does not bound what becomes of it: a ``?:`` brings its condition to each load in its
# branches, GNU's ``a ?: b`` has ``a`` twice, and the passes look into a loop again for each loop around it. So the
# typed tree is counted: each operand as often as it will be printed, each statement once more for each loop around
# it. These limits keep each source within a second; a dense kernel of 5,000 lines has five sixths of them.

MAX_STATEMENTS: Final = 6_000
MAX_NODES: Final = 26_000


def refuse_large(name: str, body: Body, where: Span, report: Report) -> None:
    """Refuse a kernel with more statements or nodes than that (TC011)."""
    if _statements(body, 1) > MAX_STATEMENTS:
        what = f"{MAX_STATEMENTS} statements, those in loops counted again for each loop around them"
        help_ = "write several kernels, and a loop for what repeats"
        report.fatal("TC011", f"kernel '{name}' has more than {what}", where, help=help_)
    left = MAX_NODES
    for expr in expressions(body):
        left -= count_nodes(expr, left)
        if left < 0:
            what = f"{MAX_NODES} operators and operands"
            help_ = (
                "a '?:' brings its condition to every load in its branches: compute that in a variable first"
            )
            report.fatal("TC011", f"kernel '{name}' has more than {what}", where, help=help_)


def _statements(body: Body, weight: int) -> int:
    count = weight * len(body)
    for statement in body:
        for inner in bodies(statement):
            count += _statements(inner, weight if isinstance(statement, typed.If) else weight + 1)
    return count


# ---------------------------------------------------------------- kernels

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
MAX_BLOCK_DEPTH: Final = 40
MAX_ELSE_IFS: Final = 100
MAX_LOOP_DEPTH: Final = 10  # the passes look at a loop as often as it is deep, and more


def kernel_names(file: syntax.File) -> tuple[str, ...]:
    """The names of all kernels of a source, in order."""
    return tuple(name.text for name in _heads(file))


def _heads(file: syntax.File) -> Iterator[Token]:
    for item in file.items:
        if isinstance(item, syntax.Function) and item.declarator.name is not None:
            yield item.declarator.name


def check(
    file: syntax.File,
    report: Report,
    settings: Settings | None = None,
    numbers: Mapping[str, int | float] = _NOTHING,
    macros: Mapping[str, Macro] = _NOTHING,
) -> KernelDef:
    """The typed tree of the kernel that the settings name, or of the first one.

    ``numbers``: the values of the defines that are numbers. ``macros``: those of the source, for suggestions.
    Raises the first kind of error found, with every other one of this kernel, through ``report``.
    """
    settings = settings or Settings()
    kernel, names = settings.kernel, kernel_names(file)
    if not names:
        report.fatal(
            "TC204",
            "there is no kernel in this source",
            file.span.source,
            help="a kernel is '__global__ void name(...) { ... }'; an #if may have dropped it",
        )
    if kernel is not None and kernel not in names:
        near = closest(kernel, names)
        report.fatal(
            "TC205",
            f"there is no kernel '{kernel[:60]}' in this source, only {', '.join(names[:20])[:400]}",
            file.span.source,
            help=f"did you mean '{near}'?" if near else None,
        )
    context = CheckContext(
        scope=Scope(numbers, macros),
        report=report,
        comments=CommentCursor(file.comments, file.span),
        kernels=_kernels(file, report),
        strict_literals=settings.strict_literals,
        traced=settings.traced,
        without_promises=settings.without_promises,
    )
    result: KernelDef | None = None
    for item in file.items:
        if isinstance(item, syntax.Function):
            assert item.declarator.name is not None
            if item.declarator.name.text == (kernel or names[0]):
                result = _kernel(item, context)
                break
            context.comments.skip(item.span.end)
        elif isinstance(item, syntax.Declaration):
            check_file_scope(item, context)
        else:
            check_static_assert(item, context)
    report.check()
    assert result is not None
    return result


def _kernels(file: syntax.File, report: Report) -> dict[str, Span]:
    """The kernels and their places; two of one name are an error that shows both."""
    seen: dict[str, Span] = {}
    for name in _heads(file):
        if name.text in seen:
            before = ("the first one is here", seen[name.text])
            report.error("TC307", f"two kernels are named '{name.text}'", name.span, before)
        seen.setdefault(name.text, name.span)
    return seen


def _kernel(node: syntax.Function, context: CheckContext) -> KernelDef:
    """The kernel with its parameters and body."""
    assert node.declarator.name is not None
    head = typed.Comments(context.comments.above(node.span.start))
    if not node.specifiers.has("void") or node.declarator.stars:
        context.returns_value = True
        context.report.error(
            "TC206",
            f"kernel '{node.declarator.name.text}' must return void",
            node.specifiers.span,
            help="every function is a kernel; for a helper, write a macro",
        )
    context.kernel_body = node.body
    context.scope.push()
    parameters: list[Symbol] = []
    comments: list[typed.Comments] = []
    for specifiers, declarator in node.declarator.parameters or ():
        if specifiers.has("void") and declarator.name is None and not declarator.stars:
            continue
        symbol, beside = _parameter(specifiers, declarator, context)
        comments.append(beside)
        if symbol is not None:
            parameters.append(symbol)
    name = node.declarator.name
    checked = _items(node.body, context)
    refuse_large(name.text, checked, name.span, context.report)  # before in_order walks through it
    body = in_order(checked)
    if body is not checked:
        refuse_large(name.text, body, name.span, context.report)
    context.scope.pop()
    warn_of_unassigned(body, context.report)
    used = reads(body)
    for buffer in context.buffers:
        if buffer in used:
            parameters.append(buffer)
            comments.append(typed.Comments())
    buffers = tuple(context.buffers)
    return KernelDef(name.span, name.text, tuple(parameters), body, head, tuple(comments), buffers)


def _parameter(
    specifiers: syntax.Specifiers, declarator: syntax.Declarator, context: CheckContext
) -> tuple[Symbol | None, typed.Comments]:
    """A parameter with its comments."""
    span = specifiers.span.to(declarator.span)
    above = context.comments.above(specifiers.span.start)
    symbol = declare_parameter(specifiers, declarator, span, context)
    return symbol, typed.Comments(above, context.comments.after(span))


# ---------------------------------------------------------------- statements


def _items(block: syntax.Block, context: CheckContext) -> Body:
    """The statements of a block, whose scope is open already."""
    statements: list[Statement] = []
    for item in block.items:
        statements += _statement(item, context)
    last_comments = context.comments.above(block.span.end)
    if last_comments:
        statements.append(typed.Remark(block.span, typed.Comments(last_comments)))
    return tuple(statements)


def _scoped(node: syntax.Statement, context: CheckContext) -> Body:
    """A statement in a scope of its own."""
    context.scope.push()
    try:
        if isinstance(node, syntax.Block):
            return _items(node, context)
        return _statement(node, context)
    finally:
        context.scope.pop()


def _perhaps(node: syntax.Statement, context: CheckContext, certain: bool = False) -> Body:
    """A statement that need not be executed, in a scope of its own."""
    context.unsure += not certain
    body = _scoped(node, context)
    context.unsure -= not certain
    return body


def _statement(node: syntax.Statement, context: CheckContext) -> Body:
    """A statement with its comments; one C statement may become several, or none."""
    context.block_depth += 1
    if context.block_depth > MAX_BLOCK_DEPTH:
        context.report.fatal("TC318", f"blocks are nested more than {MAX_BLOCK_DEPTH} deep", node.span)
    above = context.comments.above(node.span.start)
    statements = _dispatch(node, context)
    context.block_depth -= 1
    holds_statements = isinstance(node, syntax.Block | syntax.If | syntax.For | syntax.While | syntax.DoWhile)
    within = () if holds_statements else context.comments.above(node.span.end)
    after = context.comments.after(node.span)
    if not (above or within or after):
        return tuple(statements)
    if not statements:
        return (typed.Remark(node.span, typed.Comments(above + within + after)),)
    first = statements[0].comments
    if holds_statements and after:
        above, after = above + after, ()
    statements[0] = replace(
        statements[0], comments=typed.Comments(above + within + first.above, first.beside)
    )
    last = statements[-1].comments
    statements[-1] = replace(statements[-1], comments=typed.Comments(last.above, last.beside + after))
    return tuple(statements)


def _dispatch(node: syntax.Statement, context: CheckContext) -> list[Statement]:
    """A statement without its comments."""
    match node:
        case syntax.Declaration():
            return _declaration(node, context)
        case syntax.StaticAssert():
            check_static_assert(node, context)
            return []
        case syntax.ExpressionStatement(expression=None):
            return []
        case syntax.ExpressionStatement(expression=expression):
            assert expression is not None
            return effect(expression, context)
        case syntax.Block():
            inner = list(_scoped(node, context))
            ends = tuple(
                statement.symbol
                for statement in inner
                if context.traced and isinstance(statement, typed.Declare)
            )
            return [*inner, typed.Remark(node.span, ends=ends)] if ends else inner
        case syntax.If():
            return _if(node, context)
        case syntax.For():
            return _for(node, context)
        case syntax.While():
            condition = tested_condition(node.condition, "while", context)
            return [typed.While(node.span, condition, _loop_body(node.body, context))]
        case syntax.DoWhile():
            body = _loop_body(node.body, context)
            return [typed.DoWhile(node.span, body, tested_condition(node.condition, "while", context))]
        case syntax.Return():
            if node.value is not None and not context.returns_value:
                help_ = "store it through a pointer, as in '*out = value'"
                context.report.error("TC206", "a kernel returns nothing", node.value.span, help=help_)
            context.unsure += 1  # for good: what follows is not reached by every program
            return [typed.Return(node.span)]
        case syntax.Break() | syntax.Continue():
            return _jump(node, context)


def _if(node: syntax.If, context: CheckContext) -> list[Statement]:
    condition = tested_condition(node.condition, "if", context)
    value = constant(condition)
    then = _perhaps(node.then, context, certain=bool(value))
    otherwise: Body = ()
    if node.otherwise is not None:
        chained = isinstance(node.otherwise, syntax.If)  # `else if` is flat, in Python too
        context.block_depth -= chained
        context.else_ifs += chained
        if context.else_ifs > MAX_ELSE_IFS:
            message = f"more than {MAX_ELSE_IFS} 'else if's in one chain"
            context.report.fatal(
                "TC318", message, node.otherwise.span, help="begin another 'if' in an 'else { }'"
            )
        otherwise = _perhaps(node.otherwise, context, certain=value == 0)
        context.block_depth += chained
        context.else_ifs -= chained
    return [typed.If(node.span, condition, then, otherwise)]


def _jump(node: syntax.Break | syntax.Continue, context: CheckContext) -> list[Statement]:
    if context.loop_depth:
        return [typed.Break(node.span) if isinstance(node, syntax.Break) else typed.Continue(node.span)]
    word = "break" if isinstance(node, syntax.Break) else "continue"
    help_ = "'return' ends the kernel"
    context.report.error("TC411", f"'{word}' outside of a loop", node.span, help=help_)
    return []


def _loop_body(node: syntax.Statement, context: CheckContext) -> Body:
    """The body of a loop, in a scope of its own."""
    context.loop_depth += 1
    if context.loop_depth > MAX_LOOP_DEPTH:
        context.report.fatal("TC318", f"loops are nested more than {MAX_LOOP_DEPTH} deep", node.span)
    try:
        return _perhaps(node, context)
    finally:
        context.loop_depth -= 1


def _for(node: syntax.For, context: CheckContext) -> list[Statement]:
    context.scope.push()
    init = _statement(node.init, context)
    condition = None if node.condition is None else tested_condition(node.condition, "for", context)
    context.unsure += 1
    step = () if node.step is None else tuple(effect(node.step, context))
    context.unsure -= 1
    body = _loop_body(node.body, context)
    context.scope.pop()
    return [typed.For(node.span, init, condition, step, body)]


def _declaration(node: syntax.Declaration, context: CheckContext) -> list[Statement]:
    if node.specifiers.has("typedef") or node.specifiers.enum is not None:
        check_file_scope(node, context)
        return []
    if node.specifiers.has("extern"):
        context.report.error("TC405", "'extern' is not allowed inside a kernel", node.span)
        return []
    base = base_type(node.specifiers, context)
    statements: list[Statement] = []
    for declarator in node.declarators:
        statements += _declare(node, base, declarator, context)
    return statements


def _declare(
    node: syntax.Declaration, base: ValueType | None, declarator: syntax.Declarator, context: CheckContext
) -> list[Statement]:
    symbol = None if base is None else local_symbol(node.specifiers, base, declarator, context)
    value: Expr | None = None
    if declarator.initializer is not None:
        value = value_of(declarator.initializer, context)
    if symbol is None:
        declare_failed(declarator, context)
        return []
    if value is not None and value.type != ERROR:
        span = declarator.initializer.span if declarator.initializer else declarator.span
        value = conversion(value, symbol.type, span, f"initialise '{symbol.name}'", context)
    context.scope.declare(symbol, context.report)
    return [typed.Declare(declarator.span.to(node.span), symbol, value)]
