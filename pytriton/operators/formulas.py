"""The autograd formula of an operator: given by ``register_autograd``, or derived from the kernels in its body.

``AutogradFormula`` is a node of torch's graph. ``torch.library.custom_op`` goes through
``torch.autograd.Function.apply``, whose Python half tests whether a transform of ``torch.func`` is active, and
then refuses. The two callers here know that already, so they call its C++ half:

    eager        from the shortcut (``shortcut.py``): no transform is active, and the kernel is known
    dispatched   at the dispatcher's autograd key, below which may be anything: other operators of torch have a
                 kernel there too, one level of ``torch.func`` at a time, and so do ours

``DerivedFormula`` is that of ``pytriton.op(..., gradient=True)``. Its backward is an operator of torch, too, so
that ``torch.compile`` keeps it whole and ``torch.func`` can batch it. It takes the arguments of the forward, the
cotangent of each result (or None), which gradients are needed, and what the body did in the forward
(``body.py``). It tapes the body (``tape.py``), recomputes what is between the launches, and goes back through
them with ``pytriton.gradient``. Gradients are kept by memory: a result that is a view of what a kernel wrote, or
an argument that reaches a kernel as two views, is accumulated where it is stored. Arguments that overlap
themselves or each other are copied first, in a forward with a gradient, too. All that is allocations, views,
copies and launches again, so the formula of the backward is derived in the same way: it gives the second
derivative. A third derivative does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import torch
from torch.autograd import forward_ad

from pytriton.compat import torch_names
from pytriton.compat.torch_names import storage_identity
from pytriton.errors import PytritonError
from pytriton.gradient.backward import Gradient
from pytriton.gradient.laid_out import elements, flat, overlaps_itself, placed
from pytriton.operators.body import Recording
from pytriton.operators.tape import (
    CURE,
    ChangedError,
    Copy,
    RecordedLaunch,
    difference,
    replayed,
    taped,
    without_sharing,
)
from pytriton.runtime.errors import refusal, remark, warn_once
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch.fast_path import key_of as key_of_defines
from pytriton.runtime.trace.frames import INSIDE, Shapes, unseen
from pytriton.runtime.trace.recorded import define

_Function: Final[Any] = torch.autograd.Function
_unpack_dual: Final[Any] = forward_ad.unpack_dual
_library: Final[Any] = torch.library
_FLOATING: Final = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_gradients: Final[dict[Any, Gradient]] = {}
_backwards: Final[dict[tuple[str, str], int]] = {}  # how many derived backwards of a name were defined


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
        schema = self.declared = torch_names.schema_of(overload)
        self._count = sum(not argument.kwarg_only for argument in schema.arguments)
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
        return self._set_up(ctx, args, {}, self._computed(self.run, *args))

    def _computed(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result; refuses one of inference mode, which no graph can contain."""
        result = run(*args, **kwargs) if self.record is None else self.record(run, *args, **kwargs)
        if any(isinstance(value, torch.Tensor) and value.is_inference() for value in _listed(result)):
            raise refusal(
                f"{self.declared.name}: its result is a tensor of inference mode, which has no gradient",
                "TC756",
                "leave torch.inference_mode() out of the body",
            )
        return result

    def _set_up(self, ctx: Any, inputs: Any, more: dict[str, Any], result: Any) -> Any:
        """The result, once the user's ``setup_context`` knows it."""
        if self._setup_context_fn is not None:
            self._setup_context_fn(ctx=ctx, inputs=inputs, output=result, **more)
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

    def _forward_below(self, ctx: Any, *arguments: Any) -> Any:
        *args, (keys, kwargs) = arguments
        # A level of torch.func below this one has a graph of its own, which needs its gradients.
        with torch_names.below_autograd(), torch.set_grad_enabled(torch_names.transforms_active()):
            keys &= torch_names.AFTER_AUTOGRAD
            result = self._computed(self.overload.redispatch, keys, *args, **kwargs)
        inputs, keywords = torch_names.fill_defaults(self.declared, args, kwargs)
        return self._set_up(ctx, inputs, {"keyword_only_inputs": keywords} if self._keywords else {}, result)

    def _backward_of_dispatched(self, ctx: Any, *grads: Any) -> Any:
        needs = ctx.needs_input_grad
        present = needs[:-1]  # the dispatcher leaves out arguments at the end that have their defaults
        ctx.needs_input_grad = (*present, *[False] * (self._count - len(present)))
        try:
            gradients = self._backward(ctx, *grads)
        finally:
            ctx.needs_input_grad = needs
        if not isinstance(gradients, tuple):
            return gradients, None
        return *(gradients[: len(present)] if len(gradients) == self._count else gradients), None

    def _refuse_written(self, args: Any) -> None:
        """Refuse written arguments with gradients: autograd would use their old values. Others stop here
        (TC526).
        """
        for at in self._written:
            if at < len(args) and torch_names.any_requires_grad(args[at]):
                raise RuntimeError(
                    f"{self.declared.name} writes argument '{self.declared.arguments[at].name}', which requires a "
                    "gradient, and has no formula for it: call it under torch.no_grad(), or pass a copy"
                )
        if self._written and self._backward_fn is None:
            named = zip(self.declared.arguments, args, strict=False)
            wanting = next(argument.name for argument, value in named if torch_names.any_requires_grad(value))
            message = (
                f"{self.declared.name}: argument '{wanting}' requires a gradient, but "
                "gradients stop at an operator that writes its arguments"
            )
            cure = "return new tensors and give a formula, or call it under torch.no_grad()"
            warn_once(remark(message, "TC526", cure), (self, "TC526"))

    def _refuse_tangents(self, args: Any, kwargs: Any) -> None:
        """Refuse forward mode: it has no formula, and a tangent of zero would be wrong."""
        for argument in (*args, *kwargs.values()):
            for tensor in argument if isinstance(argument, (list, tuple)) else (argument,):
                if isinstance(tensor, torch.Tensor) and _unpack_dual(tensor).tangent is not None:
                    raise NotImplementedError(
                        f"{self.declared.name} has no formula for forward-mode derivatives"
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


# ---------------------------------------------------------------- derived


class DerivedFormula:
    """The derived formula of one operator. Its backward is defined in a library of its own, under a name that is
    never reused: graphs hold it, also after the operator has been redefined. ``recording``: of its body; None
    where the operator is itself a derived backward.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        schema: Any,
        scratch_bytes: int | None,
        recording: Recording | None = None,
    ) -> None:
        self.name, self.function, self.recording = name, function, recording
        self.scratch_bytes = scratch_bytes
        self.count = len(schema.arguments)
        self.positions = [
            at for at, argument in enumerate(schema.arguments) if "Tensor" in str(argument.type)
        ]
        types = [str(argument.type) for argument in (*schema.arguments, *schema.returns)]
        lists = any("List" in type_ and "Tensor" in type_ for type_ in types)
        if lists or any(argument.kwarg_only for argument in schema.arguments):
            raise refusal(
                f"{name}: no gradient is derived for lists of tensors, or with arguments by keyword only",
                "TC540",
                "give the formula with register_autograd",
            )
        arguments = [f"{_schema_type(argument)} a{at}" for at, argument in enumerate(schema.arguments)]
        cotangents = [f"Tensor? f{at}" for at in range(len(schema.returns))]
        gradients = ["Tensor"] * len(self.positions)
        results = "Tensor" if len(gradients) == 1 else f"({', '.join(gradients)})"
        space, _, short = schema.name.partition("::")
        own = _unused_name(space, f"{short}_derived_backward")
        self._lib = lib = _library.Library(space, "FRAGMENT")
        signature = ", ".join((*arguments, *cotangents, "bool[] needed", "str recorded"))
        self.overload = define(lib, f"{own}({signature}) -> {results}", self._run, self._shapes)
        self._gradient = AutogradFormula(self.overload, self._run)
        lib.impl(own, self._gradient.dispatched(), "Autograd", with_keyset=True)
        if recording is None:
            self._gradient.formula(self._third, lambda ctx, inputs, output: None)
        else:
            second = DerivedFormula(name, self._run, torch_names.schema_of(self.overload), scratch_bytes)
            self._gradient.formula(second.backward, second.setup_context)

    def setup_context(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        """All tensors are saved, so that a later change of one raises."""
        ctx.save_for_backward(*(inputs[at] for at in self.positions))
        ctx.rest = [None if at in self.positions else value for at, value in enumerate(inputs)]
        ctx.recorded = self.recording and self.recording.last

    def backward(self, ctx: Any, *cotangents: Any) -> Any:
        """The gradients of all arguments; None where none is needed or exists."""
        recorded = ctx.recorded.text(self.name) if ctx.recorded else ""
        arguments = list(ctx.rest)
        for at, tensor in zip(self.positions, ctx.saved_tensors, strict=True):
            arguments[at] = tensor
        needed = [bool(ctx.needs_input_grad[at]) for at in self.positions]
        results = self.overload(*arguments, *cotangents, needed, recorded)
        gradients: list[Any] = [None] * len(arguments)
        for at, wanted, gradient in zip(self.positions, needed, _listed(results), strict=True):
            gradients[at] = gradient if wanted else None
        return tuple(gradients)

    def _third(self, ctx: Any, *cotangents: Any) -> NoReturn:
        raise refusal(f"{self.name}: a third derivative is not derived", "TC758")

    def _shapes(self, *arguments: Any) -> Any:
        shapes = [
            torch.empty_like(arguments[at]) if wanted else _nothing(arguments)
            for at, wanted in zip(self.positions, arguments[-2], strict=True)
        ]
        return tuple(shapes) if len(shapes) > 1 else shapes[0]

    def _run(self, *passed: Any) -> Any:
        *arguments, needed, recorded = passed
        try:
            gradients = iter(
                self._derived(arguments[: self.count], arguments[self.count :], needed, recorded)
            )
        except ChangedError:
            raise
        except PytritonError as error:
            if self.recording is not None:
                raise
            reason = str(error).partition("\n")[0]
            raise refusal(
                f"{self.name}: its derived backward is not derived again: {reason}",
                "TC758",
                "give both formulas with register_autograd",
            ) from None
        results = tuple(next(gradients) if wanted else _nothing(passed) for wanted in needed)
        return results if len(results) > 1 else results[0]

    def _derived(
        self, arguments: Sequence[Any], cotangents: Sequence[Any], needed: Sequence[bool], recorded: str
    ) -> list[torch.Tensor]:
        """The required gradients."""
        own = without_sharing(arguments)
        wanted = [at for at, asked in zip(self.positions, needed, strict=True) if asked]
        tensors = [own[at] for at in wanted]
        how = self.recording is None, recorded, self.scratch_bytes
        gradients = _walked_back(self.name, self.function, own, cotangents, tensors, *how)
        return [_laid_out(gradient, arguments[at]) for gradient, at in zip(gradients, wanted, strict=True)]


def _listed(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple | list) else (result,)


def _nothing(arguments: Sequence[Any]) -> torch.Tensor:
    """The placeholder of a gradient that is not needed."""
    return next(argument for argument in arguments if isinstance(argument, torch.Tensor)).new_empty(0)


def _unused_name(space: str, name: str) -> str:
    """The name, with a number if an operator of it was defined before in this process."""
    count = _backwards[space, name] = _backwards.get((space, name), 0) + 1
    return name if count == 1 else f"{name}_{count}"


def _schema_type(argument: Any) -> str:
    """The type of an argument as a schema writes it, without alias and default."""
    text = str(argument.real_type).replace("number", "Scalar")
    while (match := re.fullmatch(r"(.*)\b(Optional|List)\[([^][]*)\](.*)", text)) is not None:
        before, kind, inner, after = match.groups()
        text = f"{before}{inner}{'?' if kind == 'Optional' else '[]'}{after}"
    return text


def _laid_out(gradient: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    like = torch.empty_like(tensor)
    return gradient if gradient.stride() == like.stride() else like.copy_(gradient)


# ---------------------------------------------------------------- walking back


class _Flow:
    """Cotangents of memory: pieces, each with its tensor."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return storage_identity(tensor) in self._pieces

    def add(self, tensor: torch.Tensor, cotangent: torch.Tensor) -> None:
        self._pieces.setdefault(storage_identity(tensor), []).append((tensor, cotangent.to(tensor.dtype)))

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The cotangent of a tensor, all pieces added up."""
        pieces = self._pieces.get(storage_identity(tensor), [])
        if not pieces:
            return torch.zeros_like(tensor)
        if len(pieces) == 1 and _same_place(pieces[0][0], tensor):
            return pieces[0][1]
        return placed(self._memory(tensor), tensor)

    def in_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same, with the cotangents of the memory around a view."""
        return self.of(tensor) if tensor.numel() == elements(tensor) else placed(self._memory(tensor), tensor)

    def beside(self, tensor: torch.Tensor) -> bool:
        """Whether the cotangent of the memory around a tensor is not zero."""
        pieces = self._pieces.get(storage_identity(tensor), [])
        if tensor.numel() == elements(tensor) or all(_same_place(of, tensor) for of, _ in pieces):
            return False
        memory = self._memory(tensor)
        placed(memory, tensor).zero_()
        return bool(memory.any())

    def _memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """All pieces, added up in memory like that of a tensor."""
        count = elements(tensor)
        exact = torch.promote_types(tensor.dtype, torch.float32)
        memory = torch.zeros(count, dtype=exact, device=tensor.device)
        for of, cotangent in self._pieces[storage_identity(tensor)]:
            if overlaps_itself(of):
                places = placed(torch.arange(count, device=tensor.device), of).reshape(-1)
                memory.index_add_(0, places, cotangent.reshape(-1).to(exact))
            else:
                placed(memory, of).add_(cotangent)
        return memory.to(tensor.dtype)


def _same_place(left: torch.Tensor, right: torch.Tensor) -> bool:
    places = [(t.size(), t.stride(), t.storage_offset()) for t in (left, right)]
    return places[0] == places[1]


def _walked_back(
    name: str,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    cotangents: Sequence[torch.Tensor | None],
    wanted: Sequence[torch.Tensor],
    twice: bool,
    recorded: str,
    scratch_bytes: int | None,
) -> list[torch.Tensor]:
    """The gradients of the wanted arguments; ``twice``: the function is a derived backward."""
    result, tape = taped(name, function, arguments, twice)
    different = difference(recorded, tape) if recorded else None
    if different:
        what = f"{name}: its body does something different in the backward than in the forward: {different}"
        raise refusal(what, "TC756", CURE, ChangedError)
    entries = tape.entries
    replayed(entries[:-1], unseen())
    reached = {storage_identity(tensor) for tensor in wanted}
    for entry in entries:
        read, written = entry.reads.values(), entry.writes.values()
        if any(storage_identity(tensor) in reached and tensor.dtype in _FLOATING for tensor in read):
            reached |= {storage_identity(tensor) for tensor in written if tensor.dtype in _FLOATING}
    flow = _Flow()
    for tensor, grad in zip(_listed(result), cotangents, strict=True):
        if grad is not None and storage_identity(tensor) in reached:
            flow.add(tensor, grad)
    for entry in reversed(entries):
        if isinstance(entry, Copy):
            if entry.result in flow and storage_identity(entry.source) in reached:
                flow.add(entry.source, flow.of(entry.result))
        else:
            _launch_back(entry, flow, reached, scratch_bytes)
    if not isinstance(INSIDE.frame, Shapes) and any(map(flow.beside, wanted)):
        raise refusal(
            f"{name}: a kernel reads memory outside an argument that is a view, and its gradient would be lost",
            "TC756",
            "pass the tensor that holds all that is read",
        )
    return [flow.of(tensor) for tensor in wanted]


def _launch_back(entry: RecordedLaunch, flow: _Flow, reached: set[int], scratch_bytes: int | None) -> None:
    outputs = tuple(
        name for name, tensor in entry.writes.items() if tensor.dtype in _FLOATING and tensor in flow
    )
    inputs = tuple(
        name
        for name, tensor in entry.reads.items()
        if tensor.dtype in _FLOATING and storage_identity(tensor) in reached and name not in entry.writes
    )
    if not outputs or not inputs:
        return
    derived = _gradient_of(entry.kernel, entry, outputs, inputs, scratch_bytes)
    named = derived._named(entry.call.arguments)
    for name in inputs:
        if overlaps_itself(named[name]):  # all elements from its first one on, each of them once
            rest = elements(named[name]) - named[name].storage_offset()
            named[name] = named[name].as_strided((rest,), (1,), named[name].storage_offset())
    cotangents = {name: flow.in_memory(entry.writes[name]) for name in outputs}
    for name, gradient in derived.in_memory(named, entry.call.grid, cotangents).items():
        if elements(gradient) > gradient.numel():
            flow.add(flat(named[name]), flat(gradient))
        else:
            flow.add(named[name], gradient)


def _gradient_of(
    of: Kernel,
    entry: RecordedLaunch,
    outputs: tuple[str, ...],
    inputs: tuple[str, ...],
    scratch_bytes: int | None,
) -> Gradient:
    """Derived once for each set of defines and options of a call."""
    call = entry.call
    options = key_of_defines(call.defines, call.num_warps, call.num_stages)
    key = (of.token, options, outputs, inputs, scratch_bytes)
    if key not in _gradients:
        _gradients[key] = Gradient(
            *(of, outputs, inputs, call.defines, call.num_warps, call.num_stages),
            reads_outputs=False,
            scratch_bytes=scratch_bytes,
        )
    return _gradients[key]
