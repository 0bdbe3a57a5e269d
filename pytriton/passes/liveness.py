"""What may still be read: the question that decides whether a value is dead at a place.

A ``Later`` stands for the symbols that may be read after one statement: by those that follow it in its block, by
whatever follows the blocks around it, and by the next turn of a loop. It answers ``in`` without ever building
the set, so that passes stay linear in the length of a kernel.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pytriton.lang.typed import Body, If, Statement, Symbol
from pytriton.lang.walk import reads

__all__ = ["Block", "Later"]


@dataclass(frozen=True, slots=True)
class Later:
    """The symbols that may be read after a statement."""

    outer: Later | None
    last: dict[Symbol, int]
    position: int
    again: Collection[Symbol] = ()

    def __contains__(self, symbol: Symbol) -> bool:
        here = self.in_block(symbol) or symbol in self.again
        return here or (self.outer is not None and symbol in self.outer)

    def in_block(self, symbol: Symbol) -> bool:
        """Whether a statement that follows in the same block reads the symbol: all that can, if the block
        declares it.
        """
        return self.last.get(symbol, -1) > self.position


@dataclass(slots=True)
class Block:
    """One block of statements, and what may be read after it."""

    body: Body
    outer: Later | None
    _last: dict[Symbol, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for position, statement in enumerate(self.body):
            for symbol in reads((statement,)):
                self._last[symbol] = position

    def after(self, position: int) -> Later:
        """What may be read after the statement at a position."""
        return Later(self.outer, self._last, position)

    def within(self, position: int, statement: Statement) -> Later:
        """What may be read after the blocks inside a statement: of a loop, itself in the next turn."""
        again = () if isinstance(statement, If) else reads((statement,))
        return Later(self.outer, self._last, position, again)
