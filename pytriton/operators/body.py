"""The body of an operator: the user's function, and the checks that its schema holds.

A schema makes two promises: only the arguments that it marks are written, and no result shares memory with
an argument or with another result. Both are checked at every run, after the function: the results, and what
its kernels wrote, are compared with the arguments by storage. In the common case that is one call of C++.

Of an operator with a derived gradient, the function is a ``Recorder``. Where a gradient is asked for, it runs on a
tape (``tape.py``), and then the launches of the tape are made. The backward gets the text of the tape and compares
what the body does then. Under a tracer the function runs as it is, and the constants of its launches are recorded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import FakeTensor

from pytriton.errors import PytritonError
from pytriton.operators.laid_out import apart, overlaps_itself
from pytriton.operators.tape import CURE, calls_of, replayed, taped
from pytriton.runtime.errors import refusal
from pytriton.runtime.trace.dynamo import is_traced
from pytriton.runtime.trace.frames import INSIDE, Frame, Noted, RequestedLaunch, Shapes, inside

__all__ = ["Body", "Recorder", "Recording"]

_C: Final[Any] = torch._C  # parts of it have no stubs
_share_any: Final = _C._any_output_is_alias_to_input_or_output
_share: Final = _C._is_alias_of
_NO_KEYWORDS: Final[dict[str, Any]] = {}


class Body:
    """A function, the names of its parameters, those that the schema marks as written, and whether some are
    taken by keyword only.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        parameters: Sequence[str],
        written: frozenset[str],
        keywords: bool,
    ) -> None:
        self.name = name
        self.function = function
        self.parameters = tuple(parameters)
        self.written = written
        self.written_positions = tuple(
            at for at, parameter in enumerate(self.parameters) if parameter in written
        )
        self.keywords = keywords
        self.launch = self._launch()

    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The results on fake tensors; nothing is launched."""
        return self._run(Shapes(), args, kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """The results under a tracer; its tensors hide their memory, so nothing can be compared."""
        with inside(None):
            return self.function(*args, **kwargs)

    def _launch(self) -> Callable[..., Any]:
        """The function with its checks, for real tensors: the eager path, so every line of it counts."""
        function, thread, run, check = self.function, INSIDE, self._run, self._check
        if self.keywords:
            return lambda *args, **kwargs: run([], args, kwargs)
        marked = self.written_positions

        def launch(*args: Any) -> Any:
            outer = thread.frame
            written: Frame = []
            thread.frame = written
            try:
                result = function(*args)
            finally:
                thread.frame = outer
            # The common cases: nothing was written but new tensors that are the results, or the marked
            # arguments themselves.
            if outer is None:
                if marked:
                    if result is None and _among(written, [args[at] for at in marked]):
                        return None
                elif result.__class__ is tuple:
                    if _among(written, result) and not _share_any(args, _NO_KEYWORDS, result):
                        return result
                elif (
                    len(written) == 1
                    and written[0] is result
                    and not _share_any(args, _NO_KEYWORDS, (result,))
                ):
                    return result
            check(written, args, {}, result, outer)
            return result

        return launch

    def _run(self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with inside(frame) as outer:
            result = self.function(*args, **kwargs)
        self._check(frame, args, kwargs, result, outer)
        return result

    def given(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
        """The tensors among the arguments, each with the name of its parameter."""
        for name, value in (*zip(self.parameters, args, strict=False), *kwargs.items()):
            if isinstance(value, torch.Tensor):
                yield name, value
            elif isinstance(value, (list, tuple)):
                yield from ((name, item) for item in value if isinstance(item, torch.Tensor))

    def _check(
        self, frame: Frame, args: Sequence[Any], kwargs: dict[str, Any], result: Any, outer: Frame | None
    ) -> None:
        """Raise LaunchError (TC541, TC542) if a promise of the schema is broken."""
        tensors = list(self.given(args, kwargs))
        allowed = [tensor for name, tensor in tensors if name in self.written]
        for tensor in frame:
            if not any(tensor is one for one in allowed):
                self._check_written(tensor, tensors, allowed)
        if outer is not None:
            outer.extend(frame)
        results = result if isinstance(result, (list, tuple)) else (result,)
        for at, one in enumerate(results):
            others = [tensor for _, tensor in tensors] + list(results[:at])
            if isinstance(one, torch.Tensor) and any(_share(one, other) for other in others):
                raise refusal(
                    f"{self.name}: a result shares memory with an argument or with another result",
                    "TC542",
                    "return x.clone(), or write to an argument and return nothing",
                )

    def _check_written(
        self,
        written: Any,
        tensors: Sequence[tuple[str, torch.Tensor]],
        allowed: Sequence[torch.Tensor],
    ) -> None:
        touched = sorted(
            {name for name, tensor in tensors if name not in self.written and _meet(tensor, written)}
        )
        if touched and not any(_meet(tensor, written) for tensor in allowed):
            raise refusal(
                f"{self.name}: a kernel wrote argument '{touched[0]}', which the operator's schema "
                "calls unwritten",
                "TC541",
                f"define it with pytriton.op(..., mutates_args={touched}), or write to a copy",
            )


def _among(written: Frame, known: Sequence[Any]) -> bool:
    """Whether each written object is one of the known ones."""
    for tensor in written:
        for other in known:
            if tensor is other:
                break
        else:
            return False
    return True


def _meet(tensor: torch.Tensor, written: Any) -> bool:
    """Whether a tensor lies in memory that a kernel wrote through a tensor or an address."""
    if isinstance(written, torch.Tensor):
        return bool(_share(tensor, written))
    if not written or isinstance(tensor, FakeTensor):
        return False
    storage = tensor.untyped_storage()
    return storage.data_ptr() <= int(written) < storage.data_ptr() + storage.nbytes()


class _Heard(Noted):
    """A frame of a traced body, which notes the constants of launches."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def note(self, kernel: Any, call: RequestedLaunch) -> None:
        self.calls += calls_of(kernel, call)


class _HeardShapes(_Heard, Shapes):
    """The same, where launches are skipped."""


class _Recorded:
    """The runs of a body in one forward: one, or one for each sample of a batch."""

    def __init__(self) -> None:
        self.runs: set[str] = set()
        self.kept: list[torch.Tensor] = []  # tensors from outside, whose memory a text names
        self.error: PytritonError | None = None

    def text(self, name: str) -> str:
        """For the backward; empty where another function computed the result. Raises LaunchError (TC756)."""
        if self.error is not None:
            raise self.error
        if len(self.runs) > 1:
            raise refusal(f"{name}: its body does something else for each sample of a batch", "TC756", CURE)
        return next(iter(self.runs), "")


class Recording(threading.local):
    """Of one operator, in this thread: the forward that is recorded now, and the last one."""

    now: _Recorded | None = None
    last: _Recorded | None = None

    def of(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a forward; what its body did is ``last``."""
        outer, made = self.now, self.now or _Recorded()
        self.now = made
        try:
            return forward(*args, **kwargs)
        finally:
            self.now, self.last = outer, made


class Recorder:
    """A function that is recorded while its ``recording`` runs a forward."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function, self.recording = name, function, Recording()

    def __call__(self, *args: Any) -> Any:
        recorded, outer = self.recording.now, INSIDE.frame
        if recorded is None:
            return self.function(*args)
        if isinstance(outer, Shapes) or is_traced(args):
            heard = _HeardShapes() if isinstance(outer, Shapes) else _Heard()
            with inside(heard):
                result = self.function(*map(_spread, args))
            if outer is not None:
                outer.extend(heard)
            recorded.runs.add(json.dumps([heard.calls, None]))
            return result
        try:
            result, tape = taped(self.name, self.function, apart(args))
        except PytritonError as error:  # there is no gradient, but a result
            recorded.error = error
            return self.function(*args)
        replayed(tape.entries, outer)
        recorded.runs.add(json.dumps([tape.calls, tape.places]))
        recorded.kept += tape.outside
        return result


def _spread(value: Any) -> Any:
    """What ``apart`` does with an expanded tensor, for a tracer's."""
    expanded = isinstance(value, torch.Tensor) and any(
        type(step) is int and step == 0 for step in value.stride()
    )
    return value.contiguous().clone() if expanded and overlaps_itself(value) else value
