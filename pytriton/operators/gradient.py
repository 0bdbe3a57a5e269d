"""The autograd formula of an operator, as a node of torch's graph.

``torch.library.custom_op`` goes through ``torch.autograd.Function.apply``, whose Python half finds out whether a
transform of ``torch.func`` is active, and then refuses. The two places that ask for a gradient know that already,
so they call its C++ half:

    Gradient.eager        from the short way (``shortcut.py``): no transform is active, and the kernel is known
    Gradient.dispatched   at the dispatcher's autograd key, where below may be anything: other operators of torch
                          stand there too, one level of ``torch.func`` at a time, and so does ours
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch.autograd import forward_ad

from pytriton.compat.torch_names import (
    AFTER_AUTOGRAD,
    allow_single_level,
    any_requires_grad,
    below_autograd,
    fill_defaults,
    forward_mode_active,
    is_tensorlist_like_type,
    make_autograd_impl,
    name_of,
    schema_of,
    single_level_allowed,
    transforms_active,
)

_Function: Final[Any] = torch.autograd.Function
_unpack_dual: Final[Any] = forward_ad.unpack_dual


class Gradient:
    """The formula of one operator: what ``register_autograd`` was given, if anything.

    ``run`` is what computes the result in an eager call: it is called with the arguments, and no gradient is
    asked for meanwhile.
    """

    def __init__(self, overload: Any, run: Callable[..., Any]) -> None:
        self.overload = overload
        self.run = run
        self.record: Callable[..., Any] | None = None  # runs the forward for a derived formula
        self._backward_fn: Callable[..., Any] | None = None  # the names that torch's autograd kernel reads
        self._setup_context_fn: Callable[..., Any] | None = None
        schema = schema_of(overload)
        self._keywords = any(argument.kwarg_only for argument in schema.arguments)
        self._lists = any(
            is_tensorlist_like_type(value.type) for value in (*schema.arguments, *schema.returns)
        )
        self._written = [at for at, argument in enumerate(schema.arguments) if argument.is_write]
        name = f"{name_of(overload)}_backward"
        applied = _applied(name, self._forward, self._backward)
        self.eager: Callable[..., Any] = overload if self._lists else applied
        self._apply = _applied(name, self._forward_below, self._backward_of_dispatched)

    def formula(self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None) -> None:
        """What ``register_autograd`` gives."""
        self._backward_fn, self._setup_context_fn = backward, setup_context

    # Eager calls.

    def _forward(self, ctx: Any, *args: Any) -> Any:
        result = self.run(*args) if self.record is None else self.record(self.run, *args)
        setup = self._setup_context_fn
        if setup is not None:
            setup(ctx=ctx, inputs=args, output=result)
        return result

    def _backward(self, ctx: Any, *grads: Any) -> Any:
        backward = self._backward_fn
        if backward is None:
            raise RuntimeError(
                f"Trying to backward through {self.overload} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        return backward(ctx, *grads)

    # The dispatcher's autograd key. The last argument is the keys and the keyword arguments.

    def dispatched(self) -> Callable[..., Any]:
        """The kernel for the autograd key; it is called with the keys of the call."""
        overload, apply = self.overload, self._apply
        lists = make_autograd_impl(overload, self) if self._lists else None

        def autograd(keys: Any, *args: Any, **kwargs: Any) -> Any:
            if forward_mode_active():
                self._refuse_tangents(args, kwargs)
            if not (torch.is_grad_enabled() and any_requires_grad(*args)):
                with below_autograd():
                    return overload.redispatch(keys & AFTER_AUTOGRAD, *args, **kwargs)
            self._refuse_written(args)
            if lists is not None:
                if transforms_active():
                    raise NotImplementedError(
                        f"torch.func has no gradients of lists, as {overload} takes them"
                    )
                return lists(keys, *args, **kwargs)
            if not transforms_active():
                return apply(*args, (keys, kwargs))
            before = single_level_allowed()
            allow_single_level(True)
            try:
                return apply(*args, (keys, kwargs))
            finally:
                allow_single_level(before)

        return autograd

    def _forward_below(self, ctx: Any, *given: Any) -> Any:
        *args, (keys, kwargs) = given
        # A level of torch.func below this one has a graph of its own, which needs its gradients.
        with below_autograd(), torch.set_grad_enabled(transforms_active()):
            given = (keys & AFTER_AUTOGRAD, *args)
            run = self.overload.redispatch
            result = run(*given, **kwargs) if self.record is None else self.record(run, *given, **kwargs)
        setup = self._setup_context_fn
        if setup is not None:
            inputs, keywords = fill_defaults(schema_of(self.overload), args, kwargs)
            more = {"keyword_only_inputs": keywords} if self._keywords else {}
            setup(ctx=ctx, inputs=inputs, output=result, **more)
        return result

    def _backward_of_dispatched(self, ctx: Any, *grads: Any) -> Any:
        needs = ctx.needs_input_grad
        ctx.needs_input_grad = needs[:-1]
        try:
            gradients = self._backward(ctx, *grads)
        finally:
            ctx.needs_input_grad = needs
        return (*gradients, None) if isinstance(gradients, tuple) else (gradients, None)

    def _refuse_written(self, args: Any) -> None:
        """Autograd would keep the gradient of the values before."""
        for at in self._written:
            if at < len(args) and any_requires_grad(args[at]):
                schema = schema_of(self.overload)
                raise RuntimeError(
                    f"{schema.name} writes argument '{schema.arguments[at].name}', which requires a gradient, and "
                    "has no formula for it: call it under torch.no_grad(), or pass a copy"
                )

    def _refuse_tangents(self, args: Any, kwargs: Any) -> None:
        """There is no formula for forward mode to register, and a tangent of zero would be wrong."""
        for argument in (*args, *kwargs.values()):
            for tensor in argument if isinstance(argument, (list, tuple)) else (argument,):
                if isinstance(tensor, torch.Tensor) and _unpack_dual(tensor).tangent is not None:
                    raise NotImplementedError(
                        f"{schema_of(self.overload).name} has no formula for forward-mode derivatives"
                    )


def _applied(name: str, forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """The C++ half of ``apply`` of an autograd.Function made of these."""
    # Compiled autograd walks into plain functions only.
    members = {
        "forward": staticmethod(lambda ctx, *args: forward(ctx, *args)),
        "backward": staticmethod(lambda ctx, *grads: backward(ctx, *grads)),
    }
    class_ = type(name, (_Function,), members)
    applied: Callable[..., Any] = super(_Function, class_).apply
    return applied
