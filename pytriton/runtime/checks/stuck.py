"""A program that waits forever, and how that is said.

On the CPU programs run one after another: what a program waits for must have happened before it began.
"""

from __future__ import annotations

from pytriton.errors import Diagnostic, LaunchError
from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.checks.races import named
from pytriton.source import Source, Span

__all__ = ["Stuck"]


class Stuck(Exception):
    """A program came back to where it was, and nothing had changed: ``value`` was read at ``address``."""

    def __init__(self, program: tuple[int, int, int], address: int, value: object, width: int) -> None:
        super().__init__(f"program {program} waits forever")
        self.program = program
        self.address = address
        self.value = value
        self.width = width

    def told(self, where: Span | Source, memory: Memory | None) -> LaunchError:
        """The error for the user, at the line where it waits."""
        place = "a lock" if memory is None else named(self.address, self.width, (), memory)
        reads = f"{place} is {self.value}, and no program is left to change it"
        note = "programs run one after another on the CPU: those before it have ended, those after it wait for it"
        help_ = (
            "fill locks with 0 before a launch, release them on every path (atomic_xchg(lock, 0)), and let no "
            "program wait for what a later one does"
        )
        return LaunchError(
            Diagnostic(
                "error", "TC555", f"program {self.program} waits forever: {reads}", where, (note,), help_
            ).render()
        )
