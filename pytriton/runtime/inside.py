"""Inside an operator: what its schema promises about the launches of its body.

The schema of an operator says which arguments it writes; torch orders, copies and caches by it, so a write
that it does not mention would be a silent wrong result. While a body runs, its thread holds a ``Frame``, and
``Kernel.__call__`` asks it before each launch. The frame refuses a kernel that writes memory of an argument
that the schema calls unwritten. It also knows when nothing is to be launched at all: a body that runs on
fake tensors, to learn the shapes of its results.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, Protocol

import torch

from pytriton.runtime.refusals import refusal

__all__ = ["INSIDE", "Frame", "Promise", "Purpose", "aliases"]

# Whether two tensors share a storage. One call of C++; there is no public name for it.
aliases: Final[Any] = torch._C._is_alias_of  # type: ignore[attr-defined]


class Purpose(Enum):
    """Why a body runs."""

    LAUNCH = "launch"
    SHAPES = "shapes"  # on fake tensors: launches are skipped
    TRACE = "trace"  # under a tracer: launches become nodes of its graph


class Promise(Protocol):
    """What a frame asks of its operator."""

    @property
    def name(self) -> str: ...

    def split(self, arguments: Sequence[Any]) -> tuple[list[tuple[str, Any]], list[Any]]:
        """The tensors that stay as they are, with their names, and those that may be written."""


class Planned(Protocol):
    """What a frame asks of the plan of a launch."""

    def written_by_any(self, arguments: Sequence[Any]) -> list[Any]: ...


class Frame:
    """One run of an operator's body on some arguments."""

    __slots__ = ("_arguments", "_promise", "_readonly", "_written", "outer", "purpose")

    def __init__(
        self, promise: Promise, arguments: Sequence[Any], purpose: Purpose, outer: Frame | None
    ) -> None:
        self._promise = promise
        self._arguments = arguments
        self.purpose = purpose
        self.outer = outer
        self._readonly: list[tuple[str, Any]] | None = None
        self._written: list[Any] = []

    def check(self, kernel: str, plan: Planned, arguments: Sequence[Any]) -> None:
        """Raise LaunchError (TC541) if a launch would write what this operator or one around it may not."""
        if self.purpose is Purpose.TRACE:
            return  # a wrapper of a tracer tells nothing; the same call was checked on fake tensors
        for tensor in plan.written_by_any(arguments):
            if isinstance(tensor, torch.Tensor):
                frame: Frame | None = self
                while frame is not None:
                    frame._check(tensor, kernel)
                    frame = frame.outer

    def _check(self, tensor: torch.Tensor, kernel: str) -> None:
        if self._readonly is None:
            self._readonly, self._written = self._promise.split(self._arguments)
        for name, argument in self._readonly:
            if argument is tensor or aliases(argument, tensor):
                if any(aliases(tensor, allowed) for allowed in self._written):
                    return
                raise refusal(
                    f"{self._promise.name}: kernel '{kernel}' writes argument '{name}', "
                    "which the operator's schema calls unwritten",
                    "TC541",
                    f"define it with pytriton.op(..., mutates_args=['{name}']), or write to a copy",
                )


class _Thread(threading.local):
    frame: Frame | None = None


INSIDE: Final = _Thread()
"""The frame of the operator that this thread is running the body of; None outside."""
