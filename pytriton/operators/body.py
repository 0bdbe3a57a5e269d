"""The body of an operator: the user's function, and the checks that its schema holds.

A schema makes two promises: only the arguments that ``mutates_args`` names are written, and no result shares
memory with an argument or with another result. Both are checked at every run, on fake tensors as well, after the
function: the results, and what its kernels and functions of torch wrote, are compared with the arguments by
storage. In the common case that is one call of C++ and a comparison of versions, which torch counts for each
tensor. ``x.data`` has a version of its own, and tensors of inference mode have none: in the first run, and on fake
tensors, ``Writes`` reads the schema of each function of torch. A tensor without memory has no address, and a body
that requests one would take another path than with real tensors: ``NoAddresses`` refuses it.

Of an operator with a derived gradient, the function is a ``Recorder``. Where a gradient is asked for, it runs on
a tape (``tape.py``), and then the launches of the tape are made. The backward gets the text of the tape and
compares what the body does then. Under a tracer the function runs as it is, and the constants of its launches
are recorded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import Any, Final, NoReturn

import torch
from torch.overrides import TorchFunctionMode

from pytriton.compat.torch_names import (
    DispatchKey,
    FakeTensor,
    FunctionalTensor,
    TorchDispatchMode,
    exclude_key,
    is_key_excluded,
    result_shares_memory,
    schema_of,
    shares_memory,
    version_of,
)
from pytriton.errors import PytritonError
from pytriton.gradient.laid_out import overlaps_itself
from pytriton.operators.tape import CURE, calls_of, in_thread, replayed, taped, without_sharing
from pytriton.runtime.errors import refusal
from pytriton.runtime.trace.dynamo import is_traced
from pytriton.runtime.trace.frames import (
    INSIDE,
    Frame,
    Noted,
    RequestedLaunch,
    Shapes,
    inside,
    recording_elsewhere,
)

_NO_KEYWORDS: Final[dict[str, Any]] = {}
_VERSIONS: Final = DispatchKey.ADInplaceOrView
_Tensor: Final[Any] = torch.Tensor
_ADDRESSES: Final = frozenset(
    {_Tensor.data_ptr, _Tensor.__dlpack__, _Tensor.__cuda_array_interface__.__get__}
)
_STORAGES: Final = frozenset({_Tensor.untyped_storage, _Tensor.storage})


class Body:
    """A function, and its declared ``arguments``."""

    def __init__(self, name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        self.name = name
        self.function = function
        self.parameters = tuple(argument.name for argument in arguments)
        self.written = frozenset(argument.name for argument in arguments if argument.is_write)
        self._watched = False  # whether a run has passed in which each function of torch was watched
        types = [str(argument.type) for argument in arguments]
        self._optional = any(type_.startswith("Optional[") for type_ in types)
        plain = not any(argument.kwarg_only for argument in arguments) and not any(
            type_.startswith("List[") and "Tensor" in type_ for type_ in types
        )
        unmarked = ["Tensor" in t and not a.is_write for t, a in zip(types, arguments, strict=True)]
        self.launch = self._launch(unmarked) if plain else lambda *args, **kwargs: self._run([], args, kwargs)

    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The results on fake tensors; nothing is launched."""
        with NoAddresses(self.name), self._in_this_thread():
            return self._run(Shapes(), args, kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """The results under a tracer; its tensors hide their memory, so nothing can be compared."""
        with NoAddresses(self.name), self._in_this_thread(), inside(None):
            return self.function(*args, **kwargs)

    @contextmanager
    def _in_this_thread(self) -> Iterator[None]:
        """Raise LaunchError (TC756) for launches in other threads, where no tracer sees them."""
        with recording_elsewhere() as elsewhere:
            yield
        if is_traced(elsewhere.written):
            raise in_thread(self.name)

    def _launch(self, unmarked: Sequence[bool]) -> Callable[..., Any]:
        """The function with its checks, for real tensors: the eager path, so every line of it counts."""
        function, thread, check = self.function, INSIDE, self._check
        marked = [at for at, parameter in enumerate(self.parameters) if parameter in self.written]
        everything, optional = all(unmarked), self._optional
        in_inference_mode = torch.is_inference_mode_enabled

        def launch(*args: Any) -> Any:
            if is_key_excluded(_VERSIONS):
                with exclude_key(_VERSIONS, False):
                    return launch(*args)
            compared = args if everything else [*compress(args, unmarked)]
            if optional:
                compared = [tensor for tensor in compared if tensor is not None]
            watched = self._watched
            if in_inference_mode():
                compared = [tensor for tensor in compared if not tensor.is_inference()]
            before: list[int] = []
            try:
                for tensor in compared:  # a comprehension would cost a call
                    before.append(version_of(tensor))
            except RuntimeError:  # a tensor of inference mode, outside of it
                pass
            outer = thread.frame
            written: Frame = []
            thread.frame = written
            try:
                result = function(*args) if watched else self._watching(written, args)
            finally:
                thread.frame = outer
            for tensor, version in zip(compared, before):  # noqa: B905
                if version_of(tensor) != version:
                    written.append(tensor)
            # The common cases: nothing was written but new tensors that are the results, or the marked
            # arguments themselves.
            if outer is None and watched:
                if marked:
                    if result is None and _among(written, [args[at] for at in marked]):
                        return None
                elif result.__class__ is tuple:
                    if _among(written, result) and not result_shares_memory(args, _NO_KEYWORDS, result):
                        return result
                elif (
                    len(written) == 1
                    and written[0] is result
                    and not result_shares_memory(args, _NO_KEYWORDS, (result,))
                ):
                    return result
            check(written, args, {}, result, outer)
            self._watched = True
            return result

        return launch

    def _watching(self, written: Frame, args: tuple[Any, ...]) -> Any:
        """The function in its first run, in which ``written`` gets what versions do not show, too."""
        with Writes(written):
            return self.function(*args)

    def _run(self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function with its checks, where torch may count no versions."""
        with inside(frame) as outer, Writes(frame):
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
        self._check_written(frame, tensors)
        if outer is not None:
            outer.extend(frame)
        results = result if isinstance(result, (list, tuple)) else (result,)
        for at, output in enumerate(results):
            others = [tensor for _, tensor in tensors] + list(results[:at])
            if isinstance(output, torch.Tensor) and any(shares_memory(output, other) for other in others):
                raise refusal(
                    f"{self.name}: a result shares memory with an argument or with another result",
                    "TC542",
                    "return x.clone(), or write to an argument and return nothing",
                )

    def _check_written(self, frame: Frame, tensors: Sequence[tuple[str, torch.Tensor]]) -> None:
        """Raise LaunchError (TC541) if other arguments than the marked ones were written."""
        allowed = [tensor for name, tensor in tensors if name in self.written]
        undeclared = set[str]()
        for written in frame:
            if not any(tensor is written or _meet(tensor, written) for tensor in allowed):
                itself = {name for name, tensor in tensors if tensor is written}
                undeclared |= itself or {name for name, tensor in tensors if _meet(tensor, written)}
        if undeclared:
            names = tuple(name for name in self.parameters if name in undeclared)
            needed = tuple(name for name in self.parameters if name in undeclared | self.written)
            raise refusal(
                f"{self.name}: its body writes {', '.join(map(repr, names))}, which mutates_args does not name",
                "TC541",
                f"define it with pytriton.op(..., mutates_args={needed}), or write to a copy",
            )


def _among(written: Frame, allowed: Sequence[Any]) -> bool:
    """Whether each written object is among the allowed ones."""
    for tensor in written:
        for other in allowed:
            if tensor is other:
                break
        else:
            return False
    return True


def _meet(tensor: torch.Tensor, written: Any) -> bool:
    """Whether a tensor lies in memory that a kernel wrote through a tensor or an address."""
    if isinstance(written, torch.Tensor):
        return bool(shares_memory(tensor, written))
    if not written or isinstance(tensor, FakeTensor):
        return False
    storage = tensor.untyped_storage()
    return storage.data_ptr() <= int(written) < storage.data_ptr() + storage.nbytes()


class _Heard(Noted):
    """A frame of a traced body, which notes the constants of launches."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def note(self, kernel: Any, plan: Any, call: RequestedLaunch) -> None:
        self.calls += calls_of(kernel, plan, call)


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
            raise refusal(
                f"{name}: its body does something different for each sample of a batch", "TC756", CURE
            )
        return next(iter(self.runs), "")


class Recording(threading.local):
    """The forwards of one operator in this thread: the one being recorded, and the last one."""

    now: _Recorded | None = None
    last: _Recorded | None = None

    def of(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a forward; its record is ``last``."""
        outer, recorded = self.now, self.now or _Recorded()
        self.now = recorded
        try:
            return forward(*args, **kwargs)
        finally:
            self.now, self.last = outer, recorded


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
            result, tape = taped(self.name, self.function, without_sharing(args))
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


# ---------------------------------------------------------------- what a body does beside launches


class Writes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Appends each tensor that a function of torch writes to ``written``."""

    def __init__(self, written: list[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.written = written

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        schema = schema_of(func)
        if schema.is_mutable and func.overloadpacket is not torch.ops.aten.set_:  # which writes no memory
            for at, argument in enumerate(schema.arguments):
                if argument.is_write:
                    value = args[at] if at < len(args) else keywords.get(argument.name)
                    self.written += value if isinstance(value, (list, tuple)) else [value]
        return func(*args, **keywords)


class NoAddresses(TorchFunctionMode):
    """Refuses to give the address of a tensor without memory, raising LaunchError (TC543)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _ADDRESSES and _has_no_memory(args[0]):
            self.refuse()
        result = func(*args, **(kwargs or {}))
        return _Storage(result, self) if func in _STORAGES and _has_no_memory(args[0]) else result

    def refuse(self) -> NoReturn:
        raise refusal(
            f"{self.name}: its body requests the address of a tensor that has no memory",
            "TC543",
            "pass the tensor to the kernel, or give the operator a fake kernel by register_fake",
        )


class _Storage:
    """The storage of a tensor without memory: everything but an address."""

    def __init__(self, storage: Any, mode: NoAddresses) -> None:
        self._storage, self._mode = storage, mode

    def __getattr__(self, name: str) -> Any:
        if name == "data_ptr":
            self._mode.refuse()
        return getattr(self._storage, name)


def _has_no_memory(tensor: Any) -> bool:
    return isinstance(tensor, (FakeTensor, FunctionalTensor)) or bool(tensor.is_meta)
