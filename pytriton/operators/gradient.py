"""The autograd formula of an operator, as a node of torch's graph.

``torch.library.custom_op`` goes through ``torch.autograd.Function.apply``, whose Python half finds out whether a
transform of ``torch.func`` is active, and then refuses. The two places that ask for a gradient know that already,
so they call its C++ half:

    eager        from the shortcut (``shortcut.py``): no transform is active, and the kernel is known
    dispatched   at the dispatcher's autograd key, below which may be anything: other operators of torch have a
                 kernel there too, one level of ``torch.func`` at a time, and so do ours
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch.autograd import forward_ad

from pytriton.compat import torch_names

_Function: Final[Any] = torch.autograd.Function
_unpack_dual: Final[Any] = forward_ad.unpack_dual


class AutogradFormula:
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
        schema = torch_names.schema_of(overload)
        self._keywords = any(argument.kwarg_only for argument in schema.arguments)
        self._lists = any(
            torch_names.is_tensorlist_like_type(value.type) for value in (*schema.arguments, *schema.returns)
        )
        self._written = [at for at, argument in enumerate(schema.arguments) if argument.is_write]
        name = f"{torch_names.name_of(overload)}_backward"
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
        lists = torch_names.make_autograd_impl(overload, self) if self._lists else None

        def autograd(keys: Any, *args: Any, **kwargs: Any) -> Any:
            if torch_names.forward_mode_active():
                self._refuse_tangents(args, kwargs)
            if not (torch.is_grad_enabled() and torch_names.any_requires_grad(*args)):
                with torch_names.below_autograd():
                    return overload.redispatch(keys & torch_names.AFTER_AUTOGRAD, *args, **kwargs)
            self._refuse_written(args)
            if lists is not None:
                if torch_names.transforms_active():
                    raise NotImplementedError(
                        f"torch.func has no gradients of lists, as {overload} takes them"
                    )
                return lists(keys, *args, **kwargs)
            if not torch_names.transforms_active():
                return apply(*args, (keys, kwargs))
            before = torch_names.single_level_allowed()
            torch_names.allow_single_level(True)
            try:
                return apply(*args, (keys, kwargs))
            finally:
                torch_names.allow_single_level(before)

        return autograd

    def _forward_below(self, ctx: Any, *given: Any) -> Any:
        *args, (keys, kwargs) = given
        # A level of torch.func below this one has a graph of its own, which needs its gradients.
        with torch_names.below_autograd(), torch.set_grad_enabled(torch_names.transforms_active()):
            given = (keys & torch_names.AFTER_AUTOGRAD, *args)
            run = self.overload.redispatch
            result = run(*given, **kwargs) if self.record is None else self.record(run, *given, **kwargs)
        setup = self._setup_context_fn
        if setup is not None:
            inputs, keywords = torch_names.fill_defaults(torch_names.schema_of(self.overload), args, kwargs)
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
            if at < len(args) and torch_names.any_requires_grad(args[at]):
                schema = torch_names.schema_of(self.overload)
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
                        f"{torch_names.schema_of(self.overload).name} has no formula for forward-mode derivatives"
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
