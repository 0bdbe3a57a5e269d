"""Which programs of a grid the interpreter runs, and in which order; what they ask of the grid stays the same."""

from __future__ import annotations

from typing import Any, Final

from triton.runtime.interpreter import InterpreterBuilder

from pytriton.runtime.interpret.patches import Mends

__all__ = ["ONE", "backwards", "only"]

Grid = tuple[int, int, int]

ONE: Final[Grid] = (1, 1, 1)  # the grid to run for ``only``


def only(program: Grid, grid: Grid) -> Mends:
    """One program of the grid, when a grid of ``ONE`` is run."""
    return {
        (InterpreterBuilder, "set_grid_dim"): lambda given: lambda self, *_: given(self, *grid),
        (InterpreterBuilder, "set_grid_idx"): lambda given: lambda self, *_: given(self, *program),
    }


def backwards(grid: Grid) -> Mends:
    """All programs of the grid, the last one first."""

    def set_grid_idx(given: Any) -> Any:
        def last_first(self: Any, *place: int) -> None:
            given(self, *(size - 1 - at for size, at in zip(grid, place, strict=True)))

        return last_first

    return {(InterpreterBuilder, "set_grid_idx"): set_grid_idx}
