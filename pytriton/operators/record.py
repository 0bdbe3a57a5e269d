"""What a body did in the forward, for the backward to compare: bodies may depend on random numbers and globals.

Where a gradient is asked for, the forward runs the body on a tape (``tape.py``) and then makes the launches of that
tape. Each entry leaves a line, a list of fields: of a launch its kernel, defines, numbers, the places of its tensors
and its grid. The backward is given these lines as a text, tapes the body again, and refuses a difference. Tensors
that are not arguments are in the lines with their version.

A tracer (``torch.compile``) has no memory and may have symbols for sizes. There only launches leave lines, and a field
that is not a constant is ``name=?``, which equals anything.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from pytriton.errors import PytritonError
from pytriton.runtime.errors import refusal
from pytriton.runtime.trace.frames import Call, Noted, Shapes

__all__ = [
    "CURE",
    "Heard",
    "HeardShapes",
    "Line",
    "Recorded",
    "Recording",
    "difference",
    "is_real",
    "line_of_launch",
    "shown",
]

CURE: Final = "let the body depend on its arguments alone: pass what changes as an argument"
Line = list[str]
_SYMBOLS: Final = (torch.SymInt, torch.SymFloat, torch.SymBool, torch.Tensor)


class Recorded:
    """The runs of a body in one forward: ``text`` for the backward, or the error that it raises instead."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.kept: list[torch.Tensor] = []  # tensors from outside, whose memory the lines name
        self.error: PytritonError | None = None

    def add(self, whole: bool, lines: Sequence[Line]) -> None:
        self.runs.append(json.dumps([whole, lines]))

    def failed(self, name: str) -> PytritonError | None:
        """The error to raise instead of a backward."""
        if self.error is None and len(set(self.runs)) > 1:
            return refusal(f"{name}: its body does something else for each sample of a batch", "TC756", CURE)
        return self.error

    @property
    def text(self) -> str:
        """Empty where the body did not run, because another function computed the result."""
        return self.runs[0] if self.runs else ""


class Recording(threading.local):
    """Of one operator: what is recorded in this thread, and what was recorded last."""

    now: Recorded | None = None
    last: Recorded | None = None

    def of(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a forward; what its body did is ``last``."""
        outer, made = self.now, self.now or Recorded()
        self.now = made
        try:
            return forward(*args, **kwargs)
        finally:
            self.now, self.last = outer, made


class Heard(Noted):
    """A frame of a traced body: only launches are seen, and what is constant of them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []

    def note(self, kernel: Any, call: Call) -> None:
        parameters = kernel.translation(call.defines).parameters
        self.lines.append(line_of_launch(kernel, call, parameters, None, "?"))


class HeardShapes(Heard, Shapes):
    """The same, where launches are skipped."""


def is_real(args: Sequence[Any]) -> bool:
    """Whether no tensor is a tracer's."""
    return not any(isinstance(each, FakeTensor | FunctionalTensor) for each in args)


def shown(value: Any) -> str:
    """A value that is no tensor, as text; ``?`` for what is not a constant."""
    if isinstance(value, Mapping):
        value = [[name, value[name]] for name in sorted(value)]
    if isinstance(value, tuple | list):
        parts = [shown(each) for each in value]
        return "?" if "?" in parts else f"[{', '.join(parts)}]"
    return "?" if isinstance(value, _SYMBOLS) else repr(value)


def line_of_launch(
    kernel: Any, call: Call, parameters: Sequence[Any], places: Mapping[str, str] | None, grid: str
) -> Line:
    """``places``: of its tensors; None where these are not known."""
    definition = kernel._definition
    digest = hashlib.sha256(repr(definition).encode()).hexdigest()[:16]
    defines = {**definition.defines, **(call.defines or {})}
    line = ["launch", kernel.name, f"source={digest}"]
    line += [f"{name}={shown(defines[name])}" for name in sorted(defines)]
    line += [f"num_warps={shown(call.num_warps)}", f"num_stages={shown(call.num_stages)}"]
    for parameter, value in zip(parameters, call.arguments, strict=False):
        tensor = isinstance(value, torch.Tensor)
        place = "?" if places is None else places.get(parameter.name, "absent")
        line.append(f"{parameter.name}={place if tensor else shown(value)}")
    return [*line, f"grid={grid}"]


def difference(recorded: str, lines: Sequence[Line]) -> str | None:
    """Where lines differ from what was recorded, in words."""
    if not recorded:
        return None
    whole, before = json.loads(recorded)
    now = list(lines) if whole else [line for line in lines if line[0] == "launch"]
    for was, is_ in zip(before, now, strict=False):
        for old, new in zip(was, is_, strict=False):
            if old != new and (whole or not old.endswith("=?")):
                return f"{is_[1] if is_[0] == 'launch' else is_[0]}: {new}, was {old}"
        if len(was) != len(is_):
            return f"{is_[0]} {is_[1]}, was {was[0]} {was[1]}"
    if len(before) != len(now):
        return f"{len(now)} steps, was {len(before)}"
    return None
