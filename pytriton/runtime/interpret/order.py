"""Which programs of a grid the interpreter runs, and in which order; what they ask of the grid stays the same.

A GPU starts programs by number, the first axis fastest, so a program may wait for one with a lower number. Triton's
interpreter counts the last axis fastest.
"""

from __future__ import annotations

from typing import Any, Final

from triton.runtime.interpreter import InterpreterBuilder

from pytriton.runtime.interpret.patches import Mends

__all__ = ["ONE", "in_order", "only"]

Grid = tuple[int, int, int]

ONE: Final[Grid] = (1, 1, 1)  # the grid to run for ``only``


def only(program: Grid, grid: Grid) -> Mends:
    """One program of the grid, when a grid of ``ONE`` is run."""
    return {
        (InterpreterBuilder, "set_grid_dim"): lambda given: lambda self, *_: given(self, *grid),
        (InterpreterBuilder, "set_grid_idx"): lambda given: lambda self, *_: given(self, *program),
    }


def in_order(grid: Grid, *, backwards: bool = False) -> Mends:
    """All programs of the grid by number, or the last one first."""
    width, height, depth = grid

    def set_grid_idx(given: Any) -> Any:
        def numbered(self: Any, x: int, y: int, z: int) -> None:
            number = (x * height + y) * depth + z
            number = width * height * depth - 1 - number if backwards else number
            given(self, number % width, number // width % height, number // (width * height))

        return numbered

    return {(InterpreterBuilder, "set_grid_idx"): set_grid_idx}
