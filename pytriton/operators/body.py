"""The body of an operator: the user's function, and the checks that its schema holds.

A schema makes two promises: only the arguments that it marks are written, and no result shares memory with
an argument or with another result. Both are checked at every run, after the function: the results, and what
its kernels wrote, are compared with the arguments by storage. In the common case that is one call of C++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import FakeTensor

from pytriton.runtime.errors import refusal
from pytriton.runtime.trace.frames import INSIDE, Frame, Shapes, inside

__all__ = ["Body"]

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
