"""One point of a sweep with memory checks: translated once more, with sites, and launched beside the plain one.

Input: launches as for a ``Candidate``, and the memory that they may reach. Output: those launches, in which no
access outside was made; warnings of loads, and a LaunchError where a store or an atomic was outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton.runtime.errors import InterpreterError

from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.checks.report import tell, tell_of_overlaps
from pytriton.runtime.checks.violation import Violation
from pytriton.runtime.compile.failures import Generated
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.checked import CheckedAccesses, Launched
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.launch.device import Grid
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.source_text import KernelText

__all__ = ["CheckedOnCPU"]


class CheckedOnCPU:
    """The checked code of one config on Triton's interpreter."""

    def __init__(self, text: KernelText, config: Config) -> None:
        """Translates; raises CompileError."""
        self.translation = text.translate(config, checked=True)
        self._text = text
        self._module = load(self.translation.function, self.translation.text)

        self._interpreted = Interpreted(
            self._module,
            self.translation.parameters,
            self.translation.constexprs,
            accesses=CheckedAccesses(self.translation.sites) if self.translation.sites else None,
        )

    def run(self, grid: Grid, values: Sequence[Any], memory: Memory) -> None:
        """Run all programs of the grid, and tell what was outside; raises LaunchError."""
        tell_of_overlaps(self.translation, memory)
        found: dict[int, Violation] = {}
        try:
            self._interpreted.run(grid, values, Launched(memory, found))
        except InterpreterError as error:
            tell(found, memory, grid)  # the cause, if there was one
            generated = Generated(self.translation, self._module.path, self._text.source)
            raise generated.stopped(error) from error
        tell(found, memory, grid)
