"""What lies between the end of one iteration of a loop and the start of the next.

Every kind of loop looks alike from here: ``begin`` runs between what stands before the loop and the first
iteration, ``between`` between an iteration and the next, and the ``facts`` hold whenever an iteration starts. A
variable that ``between`` advances by a known step has a known value at the end of the iteration before: its own,
less the step.
"""

from __future__ import annotations

from pytriton.frozen import dataclass
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Assign,
    Binary,
    Body,
    Evaluate,
    Expr,
    For,
    Name,
    RangeLoop,
    Statement,
    Symbol,
    While,
)
from pytriton.lang.tree.types import BOOL, INT, LONG
from pytriton.lang.tree.walk import assigned, has_memory, rebuild
from pytriton.passes.analysis.affine import advance
from pytriton.passes.analysis.queries import Constants

__all__ = ["Iteration", "Loop", "iteration_of"]

Loop = RangeLoop | For | While


@dataclass(frozen=True, slots=True)
class Iteration:
    """The places around an iteration. ``variable`` is constant in the body, ``known`` always are."""

    known: Constants
    begin: Body
    between: Body
    facts: tuple[Expr, ...]
    variable: Symbol | None = None
    step: Expr | None = None


def iteration_of(loop: Loop, known: Constants) -> Iteration:
    """The iteration of a loop."""
    match loop:
        case RangeLoop(span=span, symbol=symbol, start=start, stop=stop, step=step):
            name = Name(span, symbol.type, symbol)
            follows = "<" if (constant(step) or 0) > 0 else ">"
            begin = Evaluate(span, stop), Evaluate(span, step), Assign(span, symbol, start)
            again = Assign(span, symbol, Binary(span, symbol.type, "+", name, step))
            return Iteration(
                known,
                begin,
                (again,),
                (Binary(span, BOOL, follows, name, rebuild(stop, known)),),
                symbol,
                step,
            )
        case While(condition=condition):
            return _conditional(known, condition, (), (), loop.body)
        case For(init=init, condition=maybe, step=advance):
            return _conditional(known, maybe, init, advance, loop.body)


def _conditional(known: Constants, condition: Expr | None, init: Body, step: Body, body: Body) -> Iteration:
    test: tuple[Statement, ...] = () if condition is None else (Evaluate(condition.span, condition),)
    facts = () if condition is None else tuple(rebuild(part, known) for part in _conjuncts(condition))
    variable = _counter(step[0], known) if len(step) == 1 else None
    if variable is None or variable[0] in assigned(body):
        return Iteration(known, init + test, step + test, facts)
    return Iteration(known, init + test, step + test, facts, *variable)


def _conjuncts(condition: Expr) -> list[Expr]:
    """The parts that must all hold; those that read memory say nothing of a later time."""
    if isinstance(condition, Binary) and condition.operator == "&&":
        return _conjuncts(condition.left) + _conjuncts(condition.right)
    return [] if has_memory(condition) else [condition]


def _counter(step: Statement, known: Constants) -> tuple[Symbol, Expr] | None:
    """The variable and the amount of ``k = k + amount``, of a constant amount."""
    if not isinstance(step, Assign) or step.symbol.type not in (INT, LONG):
        return None
    amount = advance(step.symbol, step.value, known)
    return None if amount is None else (step.symbol, amount)
