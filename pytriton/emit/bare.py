"""The statements of a kernel; a number is assigned with its type where that matters.

Compiled, ``a = 5`` makes an int32 tensor. Triton's interpreter does the same by rewriting the kernel's source.
Where it finds no source, as of a module run by ``exec``, ``a`` stays a Python int: it has no width, ``//`` floors,
and its type is that of its context. So the statements are built twice, the second time as if each such variable
were a number. Invariant: a statement that is the same in both computes the same for both. The variables that any
other statement reads are assigned tensors, ``a = tl.full((), 5, tl.int32)``.
"""

from __future__ import annotations

from collections.abc import Callable

from pytriton.emit.stmt import Statements
from pytriton.lang.tree.typed import Body, Symbol


def built(body: Body, start: Callable[[], Statements]) -> Statements:
    """The statements of a body. ``start``: the statements of the kernel before the first."""
    spelled: frozenset[Symbol] = frozenset()
    while True:
        statements = start()
        statements.context.spelled = spelled
        statements.build(body)
        differing = _differing(body, statements, start) if statements.context.numbers else frozenset()
        if not differing:
            return statements
        spelled |= differing


def _differing(body: Body, statements: Statements, start: Callable[[], Statements]) -> frozenset[Symbol]:
    """The variables that are read by statements which differ if variables are numbers."""
    context, count = statements.context, 0
    while len(context.numbers) > count:  # numbers are computed of numbers, and carried by loops
        count = len(context.numbers)
        trial = start()
        trial.context.spelled, trial.context.numbers = context.spelled, context.numbers
        trial.context.bare = True
        trial.build(body)
        context = trial.context
    pairs = zip(statements.parts, trial.parts, strict=True)
    return frozenset(symbol for (part, _), (other, read) in pairs if part != other for symbol in read)
