"""``triton.function``, the autograd base class of 2019, on top of torch's.

A subclass has static ``forward(ctx, *args, **kwargs)`` and ``backward(ctx, *grads)``. Other than torch's, its
``apply`` takes keywords, which are not inputs for autograd: ``backward`` gives one gradient for each positional
argument.
"""

from __future__ import annotations

from typing import Any

import torch

from pytriton.runtime.tensors import ctx_registry


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
        contexts: list[Any] = []
        result = _bridge(cls).apply(*args, kwargs, contexts)
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, torch.Tensor):
                ctx_registry[tensor] = contexts[0]
        return result


def _bridge(cls: type[function]) -> Any:
    """The torch.autograd.Function of a subclass, cached."""
    existing = cls.__dict__.get("_bridge")
    if existing is not None:
        return existing

    def forward(ctx: Any, *passed: Any) -> Any:
        *args, keywords, contexts = passed
        contexts.append(ctx)
        return cls.forward(ctx, *args, **keywords)

    def backward(ctx: Any, *grads: Any) -> Any:
        gradients = cls.backward(ctx, *grads)
        return *(gradients if isinstance(gradients, tuple) else (gradients,)), None, None

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    bridge = type(cls.__name__, (torch.autograd.Function,), members)
    cls._bridge = bridge  # type: ignore[attr-defined]
    return bridge
