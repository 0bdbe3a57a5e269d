"""C's ``for`` -> ``range``, where that is exact.

Only a ``for ... in range`` loop is software-pipelined by Triton, so this decides the speed. A loop becomes one
when all of this holds; otherwise it stays C's loop:

- it starts by setting one ``int`` or ``long`` variable, and the step adds a known positive constant to it
  (condition ``<`` or ``<=``) or subtracts one (``>`` or ``>=``); a variable set once, to a constant, is one;
- the condition compares that variable, without a conversion, with a bound of its type;
- the body assigns neither the variable nor anything that bound and step read, and neither of them reads
  memory; the body holds no ``break`` or ``continue`` of this loop;
- nothing reads the variable after the loop.

With a bound so close to the end of the type that the variable wraps, C's loop is endless; that is not preserved.

``upward`` runs later: ``range(K, 0, -T)`` becomes ``range(0, K, T)`` where nothing reads the variable: as many
iterations, and easier to read.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import INT, LONG
from pytriton.lang.tree.walk import assigned, bodies, has_memory, map_body, names, reads
from pytriton.passes.analysis.affine import advance, mirrored
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.liveness import Later, LiveBlock, remove_unread
from pytriton.passes.analysis.queries import Constants, constants, negated, unless_changed, with_body


def counted(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``for (int k = 0; k < K; k += T)`` as ``for k in range(0, K, T)``, where that is exact."""
    return remove_unread(kernel, replace(kernel, body=_body(kernel.body, None, constants(kernel))))


def _body(body: typed.Body, outer: Later | None, constants: Constants) -> typed.Body:
    """``outer``: what may be read after this body, or again in it."""
    block = LiveBlock(body, outer)
    result: list[typed.Statement] = []
    for position, statement in enumerate(body):
        if not bodies(statement):
            result.append(statement)
            continue
        inner = block.within(position, statement)
        match statement:
            case typed.If():
                then = _body(statement.then, inner, constants)
                otherwise = _body(statement.otherwise, inner, constants)
                result.append(replace(statement, then=then, otherwise=otherwise))
            case typed.For():
                loop = _range_loop(statement, block.after(position), constants) or statement
                result.append(with_body(loop, _body(loop.body, inner, constants)))
            case typed.While() | typed.DoWhile():
                result.append(with_body(statement, _body(statement.body, inner, constants)))
    return unless_changed(body, result)


def _range_loop(loop: typed.For, later: Later, constants: Constants) -> typed.RangeLoop | None:
    if len(loop.init) != 1 or len(loop.step) != 1:
        return None
    init = loop.init[0]
    advancing = loop.step[0]
    if not isinstance(init, typed.Declare | typed.Assign) or init.value is None:
        return None
    if not isinstance(advancing, typed.Assign) or advancing.symbol is not init.symbol:
        return None
    symbol, start = init.symbol, init.value
    if symbol.type not in (INT, LONG) or (isinstance(init, typed.Assign) and symbol in later):
        return None
    if symbol in assigned(loop.body) or _escapes(loop.body):
        return None
    step = advance(symbol, advancing.value, constants)
    bound = _bound(loop.condition, symbol)
    if step is None or bound is None or constant(step) == 0:
        return None
    operator, stop = bound
    down = (constant(step) or 0) < 0
    if down != (operator in (">", ">=")):
        return None
    changed = assigned(loop.body) | {symbol}
    for expr in (stop, step):
        if names(expr) & changed or has_memory(expr):
            return None
    if symbol.type == LONG and constant(start) is not None and constant(stop) is not None:
        return None  # Triton would count in 32 bits
    if operator in ("<=", ">="):
        if constant(stop) in (2**31 - 1, -(2**31), 2**63 - 1, -(2**63)):
            return None
        stop = typed.Binary(
            stop.span, symbol.type, "-" if down else "+", stop, typed.Literal(stop.span, symbol.type, 1)
        )
    return typed.RangeLoop(loop.span, symbol, start, stop, step, loop.body, loop.comments)


def _bound(condition: typed.Expr | None, symbol: typed.Symbol) -> tuple[str, typed.Expr] | None:
    """The operator and bound of ``k < bound``, with the variable on either side."""
    match condition:
        case typed.Binary(operator="<" | ">" | "<=" | ">=" as op, left=left, right=right):
            if isinstance(left, typed.Name) and left.symbol is symbol:
                return op, right
            if isinstance(right, typed.Name) and right.symbol is symbol:
                return mirrored(condition).operator, left
    return None


def _escapes(body: typed.Body) -> bool:
    """Whether the body has a ``break`` or ``continue`` of this loop."""
    for statement in body:
        if isinstance(statement, typed.Break | typed.Continue):
            return True
        if isinstance(statement, typed.If) and any(map(_escapes, bodies(statement))):
            return True
    return False


def upward(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``range(K, 0, -T)`` as ``range(0, K, T)`` where nothing reads the variable."""
    body = map_body(kernel.body, _statement)
    return with_body(kernel, body)


def _statement(statement: typed.Statement) -> typed.Statement:
    if not isinstance(statement, typed.RangeLoop) or (constant(statement.step) or 0) >= 0:
        return statement
    stop = statement.stop
    if not isinstance(stop, typed.Literal) or stop.value != 0 or statement.symbol in reads((statement,)):
        return statement
    return replace(statement, start=stop, stop=statement.start, step=negated(statement.step))
