"""Values of the forward that an output holds, so that a backward can read what it would compute again.

``*(MEAN + row) = mean;`` leaves the mean in memory, and as an element of an output is stored once, it is there when
the backward runs. Only what is stored as it is counts: without a mask, outside which it would be unknown, and
without rounding. A backward reads it where a loop of the forward is not needed then; else computing it again costs
as little (kernel.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pytriton.gradient.derive.active import Flow
from pytriton.gradient.derive.graph import Item, Write, defined_in
from pytriton.lang.tree.typed import Expr, Name, Symbol
from pytriton.lang.tree.walk import names

__all__ = ["held"]


def held(items: Iterable[Item], flow: Flow, outputs: Collection[Symbol]) -> Mapping[Symbol, Expr]:
    """Pointers to the values of variables; they are known where the variable is defined."""
    known: dict[Symbol, int] = {}
    found: dict[Symbol, Expr] = {}
    for at, item in enumerate(items):
        if isinstance(item, Write) and not item.atomic and item.mask is None and isinstance(item.value, Name):
            symbol, pointer = item.value.symbol, item.pointer
            before = (known.get(name, -1) for name in names(pointer))
            kept = flow.roots(pointer) <= set(outputs) and symbol in known
            if kept and all(place < known[symbol] for place in before):
                found[symbol] = pointer
        known |= dict.fromkeys(defined_in([item]), at)
    return found
