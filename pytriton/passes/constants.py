"""The variables that are set once, to a number: ``int step = TK;``. A step or a bound may be written with them."""

from __future__ import annotations

from pytriton.lang.convert import constant
from pytriton.lang.typed import Declare, Expr, KernelDef, Symbol
from pytriton.lang.types import BlockType
from pytriton.lang.walk import assigned_once, statements

__all__ = ["Constants", "constants"]

Constants = dict[Symbol, Expr]


def constants(kernel: KernelDef) -> Constants:
    """The constant expression of each such variable, in the variable's own type."""
    found = {
        statement.symbol: statement.value
        for statement in statements(kernel.body)
        if isinstance(statement, Declare)
        and statement.value is not None
        and not isinstance(statement.symbol.type, BlockType)
        and constant(statement.value) is not None
    }
    once = assigned_once(kernel.body) if found else []
    return {
        statement.symbol: found[statement.symbol]
        for statement in once
        if isinstance(statement, Declare) and statement.symbol in found
    }
