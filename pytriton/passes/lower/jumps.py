"""C's jumps -> structured loops: Triton has no ``break``, ``continue``, ``do while``, nor ``return`` in a loop.

Output: loops are ``For`` and ``While`` and end at their condition; no loop contains a ``Return``.

- ``continue``: what follows it in the iteration moves into the other branch of its ``if``. Where both branches may
  go on, a flag records whether the iteration does. The loop stays a counting loop.
- ``break`` clears the flag ``running``, which the condition of the loop tests, too; the rest of the iteration moves
  as above.
- ``return`` in a loop sets ``returned`` and breaks; after each loop around it, that flag breaks or returns.
- ``do body while (c)`` becomes ``running = true; while (running) { body; running = c; }``.

Invariant: every statement runs as often as in C, and in C's order. After a ``break`` neither the condition nor
the step is evaluated if it accesses memory or has a visible effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import BOOL
from pytriton.lang.tree.walk import assigned, bodies, expressions, has_memory
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import unless_changed, with_body
from pytriton.source import Span

Loop = typed.For | typed.While | typed.DoWhile


def jumps(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``if (c) continue; s`` as ``if (!c) s``, and so on: no jumps but a ``return`` outside of loops."""
    return replace(kernel, body=_body(kernel.body, None, last=True))


# ---------------------------------------------------------------- return


def without_returns(body: typed.Body) -> typed.Body:
    """The statements of a kernel with ``if (c) return; s`` as ``if (!c) s``; a return in a loop stays."""
    return _guard(_continuing(body), None)


def _continuing(body: typed.Body) -> typed.Body:
    """The body with a ``continue`` for each ``return``, as if it were a loop's."""
    result: list[typed.Statement] = []
    for statement in body:
        match statement:
            case typed.Return():
                statement = typed.Continue(statement.span, statement.comments)
            case typed.If():
                then, otherwise = _continuing(statement.then), _continuing(statement.otherwise)
                statement = replace(statement, then=then, otherwise=otherwise)
            case _:
                pass
        result.append(statement)
    return tuple(result)


def _body(body: typed.Body, returned: typed.Symbol | None, *, last: bool = False) -> typed.Body:
    """The statements with their loops lowered, except jumps of a loop around them.

    ``returned`` is the flag to set instead of a return, inside a loop. ``last``: nothing runs after this body.
    """
    result: list[typed.Statement] = []
    for position, statement in enumerate(body):
        blocks = bodies(statement)
        final = (
            last and bool(blocks) and all(isinstance(after, typed.Remark) for after in body[position + 1 :])
        )
        match statement:
            case typed.Return() if returned is not None:
                result.append(_set(returned, True, statement.span, statement.comments))
                result.append(typed.Break(statement.span))
            case typed.If():
                then = _body(statement.then, returned, last=final)
                otherwise = _body(statement.otherwise, returned, last=final)
                result.append(_if(statement, then, otherwise))
            case typed.For() | typed.While() | typed.DoWhile():
                result += _outer_loop(statement, returned, final)
            case _:
                result.append(statement)
    return unless_changed(body, result)


def _outer_loop(loop: Loop, returned: typed.Symbol | None, final: bool) -> list[typed.Statement]:
    """A loop with the statements that return after it."""
    if not _contains(loop.body, typed.Return, into_loops=True):
        return _loop(loop, _body(loop.body, returned))
    flag = returned or _flag("returned", loop.span)
    result = _loop(loop, _body(loop.body, flag))
    if returned is None:
        result.insert(0, typed.Declare(loop.span, flag, _truth(loop.span, False)))
    leave: typed.Statement = typed.Return(loop.span) if returned is None else typed.Break(loop.span)
    if not final:
        result.append(typed.If(loop.span, _name(flag, loop.span), (leave,), ()))
    return result


# ---------------------------------------------------------------- loops


def _loop(loop: Loop, body: typed.Body) -> list[typed.Statement]:
    """The lowered loop; jumps of inner loops are lowered already."""
    left = _contains(body, typed.Break)
    breaks = left or (isinstance(loop, typed.For) and _contains(loop.step, typed.Break))
    continues = _contains(body, typed.Continue)
    if isinstance(loop, typed.DoWhile):
        if not any(not isinstance(statement, typed.Remark) for statement in body):
            return [typed.While(loop.span, loop.condition, body, loop.comments)]
        if constant(loop.condition) == 0 and not breaks and not continues:
            return [*_commented(body, loop.comments)]
    elif not breaks:
        return [replace(loop, body=_guard(body, None)) if continues else with_body(loop, body)]
    running = _flag("running", loop.span)
    go = _name(running, loop.span)
    init, condition, step, first = _parts(loop)
    start: typed.Expr = _truth(loop.span, True)
    if condition is not None and (isinstance(loop, typed.DoWhile) or has_memory(condition)):
        step = (*step, typed.Assign(loop.span, running, condition))
        start, condition = (condition if first else start), None
    if continues:
        step = _guard(step, running)
        body = _guard(body, running) + (_guarded_step(step, init, go) if left else step)
    else:
        body = _guard(body + step, running)
    test = go if condition is None else typed.Binary(loop.span, BOOL, "&&", go, condition)
    begin = typed.Declare(loop.span, running, start)
    return [typed.For(loop.span, (*init, begin), test, (), body, loop.comments)]


def _parts(loop: Loop) -> tuple[typed.Body, typed.Expr | None, typed.Body, bool]:
    """The init, condition and step of a loop, and whether it tests the condition first."""
    init, step = (loop.init, loop.step) if isinstance(loop, typed.For) else ((), ())
    condition = loop.condition
    if condition is not None and constant(condition):
        condition = None
    return init, condition, step, not isinstance(loop, typed.DoWhile)


def _guarded_step(step: typed.Body, init: typed.Body, go: typed.Name) -> typed.Body:
    """The step at the end of an iteration, where a break may have left it."""
    own = {statement.symbol for statement in init if isinstance(statement, typed.Declare)}
    acts = any(isinstance(statement, typed.Evaluate | typed.Store) for statement in step) or any(
        map(has_memory, expressions(step))
    )
    unseen = assigned(step) <= own and not acts
    return step if unseen else (typed.If(go.span, go, step, ()),)


def _guard(
    body: typed.Body, running: typed.Symbol | None, clears: tuple[typed.Symbol, ...] = ()
) -> typed.Body:
    """The iteration of a loop with the statements after a jump under its negated condition.

    A ``break`` clears ``running``; every jump also clears the flags in ``clears``.
    """
    result: list[typed.Statement] = []
    for position, statement in enumerate(body):
        following = body[position + 1 :]
        match statement:
            case typed.Break():
                assert running is not None
                result.append(_set(running, False, statement.span, statement.comments))
                result += [_set(flag, False, statement.span) for flag in clears]
                break
            case typed.Continue():
                if not _silent(statement.comments):
                    result.append(typed.Remark(statement.span, statement.comments))
                result += [_set(flag, False, statement.span) for flag in clears]
                break
            case typed.If() if _contains((statement,), typed.Break | typed.Continue):
                result += _guarded_if(statement, following, running, clears)
                break
            case _:
                result.append(statement)
    return tuple(result)


def _guarded_if(
    statement: typed.If, following: typed.Body, running: typed.Symbol | None, clears: tuple[typed.Symbol, ...]
) -> Iterator[typed.Statement]:
    """An ``if`` that may jump, with the statements that follow it in the iteration."""
    then, otherwise = statement.then, statement.otherwise
    if not any(not isinstance(after, typed.Remark) for after in following):
        following = ()
    elif not _goes_on(then):
        otherwise, following = otherwise + following, ()
    elif not _goes_on(otherwise):
        then, following = then + following, ()
    if not following:
        yield _if(statement, _guard(then, running, clears), _guard(otherwise, running, clears))
        return
    only_breaks = not _contains((statement,), typed.Continue)
    flag, inner = running, clears
    if flag is None or not only_breaks:
        flag = _flag("proceed", statement.span)
        inner = (*clears, flag)
        yield typed.Declare(statement.span, flag, _truth(statement.span, True))
    yield _if(statement, _guard(then, running, inner), _guard(otherwise, running, inner))
    yield typed.If(statement.span, _name(flag, statement.span), _guard(following, running, clears), ())


def _goes_on(body: typed.Body) -> bool:
    """Whether the end of a body can be reached."""
    for statement in body:
        if isinstance(statement, typed.Break | typed.Continue):
            return False
        if isinstance(statement, typed.If) and not any(map(_goes_on, (statement.then, statement.otherwise))):
            return False
    return True


def _contains(body: typed.Body, kind: object, *, into_loops: bool = False) -> bool:
    """Whether the body has a jump of a kind; those of inner loops are lowered already."""
    for statement in body:
        if isinstance(statement, kind):  # type: ignore[arg-type]
            return True
        inside = isinstance(statement, typed.If) or into_loops
        if inside and any(_contains(inner, kind, into_loops=into_loops) for inner in bodies(statement)):
            return True
    return False


# ---------------------------------------------------------------- small parts


def _if(statement: typed.If, then: typed.Body, otherwise: typed.Body) -> typed.If:
    """The ``if`` with other branches, negated if only its ``else`` has statements."""
    if then is statement.then and otherwise is statement.otherwise:
        return statement
    if not then and otherwise:
        refused = typed.Unary(statement.condition.span, BOOL, "!", statement.condition)
        return replace(statement, condition=refused, then=otherwise, otherwise=())
    return replace(statement, then=then, otherwise=otherwise)


def _commented(body: typed.Body, comments: typed.Comments) -> Iterator[typed.Statement]:
    """The statements of a loop that runs once, with its comments."""
    if not _silent(comments):
        yield typed.Remark(body[0].span, comments)
    yield from body


def _silent(comments: typed.Comments) -> bool:
    return not comments.above and not comments.beside


def _flag(name: str, span: Span) -> typed.Symbol:
    return typed.Symbol(name, BOOL, span)


def _name(flag: typed.Symbol, span: Span) -> typed.Name:
    return typed.Name(span, BOOL, flag)


def _truth(span: Span, value: bool) -> typed.Literal:
    return typed.Literal(span, BOOL, int(value))


def _set(flag: typed.Symbol, value: bool, span: Span, comments: typed.Comments | None = None) -> typed.Assign:
    return typed.Assign(span, flag, _truth(span, value), comments or typed.Comments())
