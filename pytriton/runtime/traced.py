"""What ``Kernel.trace`` gives: one program of a launch, statement by statement; what each set, and what it stored.

The steps are in the order in which they ran, printable beside the lines of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy

from pytriton.emit.element_types import byte_count
from pytriton.errors import Diagnostic
from pytriton.lang.tree.types import PointerType, element_of, shape_of
from pytriton.passes.check.sites import Site
from pytriton.passes.check.steps import Steps, Variable
from pytriton.runtime.checks.diagnostics import Program
from pytriton.runtime.checks.observers import Observer
from pytriton.runtime.launch.extents import Memory
from pytriton.source import Span

MAX_SHOWN: Final = 1000  # steps of a trace, in its text
WIDTH: Final = 100  # of a line of it


@dataclass(frozen=True)
class Written:
    """What a statement wrote: ``values`` to the elements ``indices`` of a tensor, counted from its first.

    ``tensor`` is the name of the parameter; where that is unknown, it is None and ``indices`` are
    addresses. ``kind``: ``store`` or ``atomic``, whose ``values`` are what was added or exchanged. Both arrays are
    flat, and hold only what the mask let through.
    """

    kind: str
    tensor: str | None
    indices: Any
    values: Any


@dataclass(frozen=True)
class TraceStep:
    """One statement that ran. ``changed`` is the variable that it set, if any.

    ``variables`` holds all that can be named after it and have a value, as NumPy arrays: scalars have no axes,
    bfloat16 is float. A pointer is the element that it points to, counted from the first of the
    tensor that ``tensors`` names for it; without a name it is an address.
    """

    span: Span
    changed: str | None
    variables: Mapping[str, Any]
    tensors: Mapping[str, str]
    written: tuple[Written, ...] = ()

    @property
    def line(self) -> int:
        """The number of its first line in the source."""
        return self.span.line

    @property
    def text(self) -> str:
        """The statement as in the source."""
        return self.span.text


@dataclass(frozen=True)
class Trace(Sequence[TraceStep]):
    """The steps of one program, in order. ``notes``: what is wrong with its accesses."""

    kernel: str
    program: tuple[int, int, int]
    grid: tuple[int, int, int]
    steps: tuple[TraceStep, ...]
    notes: tuple[Diagnostic, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, at: Any) -> Any:
        return self.steps[at]

    def __repr__(self) -> str:
        lines = [f"{self.kernel}: program {self.program} of a grid of {self.grid}"]
        before = None
        for step in self.steps[:MAX_SHOWN]:
            if step.span != before:
                lines += _source_lines(step.span)
            before = step.span if step.changed is None else None
            lines += _shown(step)
        if len(self.steps) > MAX_SHOWN:
            lines.append(f"... {len(self.steps) - MAX_SHOWN} more steps")
        return "\n".join([*lines, *(note.render() for note in self.notes)])


class Tracing(Observer):
    """The steps of one program, ``taken``, as they run."""

    def __init__(self, sites: Sequence[Site], memory: Memory, steps: Steps) -> None:
        self.taken: list[TraceStep] = []
        self._sites, self._memory, self._steps = sites, memory, steps
        self._values: dict[int, Any] = {}
        self._written: list[Written] = []

    def ran(self, number: int, *read: Callable[[tuple[int, ...]], Any]) -> None:
        step = self._steps.steps[number]
        variables = self._steps.variables
        if step.sets is not None:
            self._values[step.sets] = self._array(read[0], variables[step.sets])
        seen = {variables[at].name: at for at in step.visible if at in self._values}
        self.taken.append(
            TraceStep(
                step.span,
                None if step.sets is None else variables[step.sets].name,
                {name: self._values[at] for name, at in seen.items()},
                {name: root for name, at in seen.items() if (root := variables[at].root)},
                tuple(self._written),
            )
        )
        self._written.clear()

    def stored(
        self, program: Program, number: int, kind: str, addresses: Any, values: Any, chosen: Any
    ) -> None:
        site = self._sites[number]
        root = site.roots[0] if site.roots is not None and len(site.roots) == 1 else None
        indices = addresses[chosen]
        if root is not None:
            indices = self._index(indices, root, site.width)
        self._written.append(Written(kind, root, indices, values[chosen]))

    def _array(self, read: Callable[[tuple[int, ...]], Any], variable: Variable) -> Any:
        """A value as the user's text has it."""
        array = read(tuple(map(int, shape_of(variable.type))))
        element = element_of(variable.type)
        if not isinstance(element, PointerType):
            return array.astype("float32" if element.torch == "bfloat16" else element.torch)  # a copy
        if variable.root is None:
            return array.astype(numpy.uint64)
        return self._index(array, variable.root, byte_count(element.element))

    def _index(self, addresses: Any, root: str, width: int) -> Any:
        return (addresses.astype(numpy.int64) - self._memory.extents[root].start) // width


def _source_lines(span: Span) -> Iterator[str]:
    for number in range(span.line, span.last_line + 1):
        yield f"{number:5} | {span.source.line(number).rstrip()}"


def _shown(step: TraceStep) -> Iterator[str]:
    """What a step set and wrote, below its line."""
    if step.changed is not None:
        array = step.variables[step.changed]
        tensor = step.tensors.get(step.changed)
        yield from _assignment(step.changed, array, "" if tensor is None else f"{tensor} + ")
    for written in step.written:
        indices = _digits(written.indices)
        sign = "=" if written.kind == "store" else "<-"
        yield from _assignment(f"{written.tensor or 'memory'}{indices}", written.values, "", sign)


def _assignment(name: str, array: Any, before: str, sign: str = "=") -> Iterator[str]:
    head = f"      |   {name} {sign} {before}"
    first, *others = _digits(array).split("\n")
    yield head + first
    yield from (f"      |{' ' * (len(head) - 7)}{line}" for line in others)


def _digits(array: Any) -> str:
    with numpy.printoptions(threshold=16, edgeitems=3, linewidth=WIDTH, precision=6):
        return str(array)
