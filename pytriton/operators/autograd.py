"""``triton.function``, the autograd base class of 2019, on top of torch's.

A subclass has static ``forward(ctx, *args, **kwargs)`` and ``backward(ctx, *grads)``. Other than torch's, its
``apply`` takes keywords, which are not inputs for autograd: ``backward`` gives one gradient for each positional
argument.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import torch

from pytriton.runtime.tensors import ctx_registry


class _Calls(threading.local):
    """The call of ``apply`` that is under way in this thread: its keywords, and where the ctx is put."""

    def __init__(self) -> None:
        self.keywords: Mapping[str, Any] = {}
        self.contexts: list[Any] = []


_calls: Final = _Calls()


class function:
    """Base class of differentiable operators: ``class _dot(triton.function)``, used as ``_dot.apply``."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """The result, a tensor or a tuple of tensors; ``ctx.save_for_backward`` keeps tensors."""
        raise NotImplementedError("a triton.function needs a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The gradient of each positional argument of ``forward``; None where there is none."""
        raise NotImplementedError("a triton.function needs a static method backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` and record it for autograd; the ctx is found as ``ctx_registry[result]``."""
        outer = _calls.keywords, _calls.contexts
        contexts: list[Any] = []
        _calls.keywords, _calls.contexts = kwargs, contexts
        try:
            result = _bridge(cls).apply(*args)
        finally:
            _calls.keywords, _calls.contexts = outer
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, torch.Tensor):
                ctx_registry[tensor] = contexts[0]
        return result


def _bridge(cls: type[function]) -> Any:
    """The torch.autograd.Function of a subclass, cached."""
    existing = cls.__dict__.get("_bridge")
    if existing is not None:
        return existing

    def forward(ctx: Any, *args: Any) -> Any:
        _calls.contexts.append(ctx)
        return cls.forward(ctx, *args, **_calls.keywords)

    def backward(ctx: Any, *grads: Any) -> Any:
        return cls.backward(ctx, *grads)

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    bridge = type(cls.__name__, (torch.autograd.Function,), members)
    cls._bridge = bridge  # type: ignore[attr-defined]
    return bridge
