"""Names while the scanned Python is followed: one ``Frame`` a function call, and the choices of a path.

A condition that is not known is *decided*: the first run takes every such condition as true, and each
decision that was made is a later run's other way (``Choices``). The same condition is decided the same way
within a run, so that ``AT=transpose_a`` and ``'lda' if transpose_a else '1'`` stay in step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pytriton.port.read.values import Library

MAX_PATHS: Final = 64
MAX_STEPS: Final = 60_000


class StopPath(Exception):
    """The run ends here: the scanned code raises, or the run grew too long."""


@dataclass(eq=False)
class Frame:
    """The names of one function call, of a class body, or of a module."""

    names: dict[str, Any] = field(default_factory=dict)
    around: Frame | None = None
    function: str = ""
    module: Any = None

    def __repr__(self) -> str:
        return self.function

    def find(self, name: str) -> Any:
        """What a name is bound to here or around; else it is one of a library, or built in."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.around
        return Library(name)


@dataclass(eq=False)
class Choices:
    """The decisions of one run: those inherited, and then those of its own."""

    inherited: dict[str, bool]
    own: dict[str, bool] = field(default_factory=dict)
    steps: int = 0
    outcome: list[str] = field(default_factory=list)  # results of the run

    def decide(self, condition: str) -> bool:
        """Which way an unknown condition goes in this run."""
        if condition in self.inherited:
            return self.inherited[condition]
        return self.own.setdefault(condition, True)

    def step(self) -> None:
        """Count one evaluation; a run has an end."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise StopPath

    def trail(self) -> tuple[tuple[str, bool], ...]:
        """All decisions, in the order in which they were needed."""
        return tuple({**self.inherited, **self.own}.items())


def paths() -> Iterator[Choices]:
    """The runs through a piece of code, until every decision went both ways or there are too many.

    The caller sets the ``outcome`` of each run, a list. A decision that once brought nothing new is tried again
    only when nothing better is left, so that the many conditions without an effect do not hide the few that have
    one.
    """
    pending: list[tuple[dict[str, bool], str | None]] = [({}, None)]
    idle: set[str] = set()
    seen: set[str] = set()
    for _ in range(MAX_PATHS):
        best = next((at for at, branch in enumerate(pending) if branch[1] not in idle), None)
        if not pending:
            return
        decided, turned = pending.pop(best or 0)
        choices = Choices(decided)
        yield choices
        if turned is not None and seen.issuperset(choices.outcome):
            idle.add(turned)
        seen.update(choices.outcome)
        assumed = dict(decided)
        for key, way in choices.own.items():
            pending.append(({**assumed, key: not way}, key))
            assumed[key] = way
