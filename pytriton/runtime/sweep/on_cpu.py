"""A translation that the interpreter runs on CPU memory; an error there is told at the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton.runtime.errors import InterpreterError

from pytriton.pipeline import Translation
from pytriton.runtime.compile.failures import Generated
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.checked import CheckedAccesses, Launched
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.interpret.patches import Mends
from pytriton.runtime.launch.device import Grid
from pytriton.source import Source

__all__ = ["OnCpu"]


class OnCpu:
    """``made`` is the translation of ``source``; ``accesses`` stand in for the helpers of checked code."""

    def __init__(self, made: Translation, source: Source, accesses: CheckedAccesses | None = None) -> None:
        self.made, self._source = made, source
        self._module = load(made.function, made.text)
        self._interpreted = Interpreted(
            self._module, made.parameters, made.constexprs, accesses=accesses, prints=made.prints
        )

    def run(
        self, grid: Grid, values: Sequence[Any], launched: Launched | None = None, order: Mends | None = None
    ) -> None:
        """All programs of the grid, as ``Interpreted.run`` has it; raises PytritonError where it stops."""
        try:
            self._interpreted.run(grid, values, launched, order)
        except InterpreterError as error:
            memory = None if launched is None else launched.memory
            raise Generated(self.made, self._module.path, self._source).stopped(error, memory) from error
