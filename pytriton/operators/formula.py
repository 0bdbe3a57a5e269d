"""``pytriton.op(..., gradient=True)``: the formula of an operator, derived from the kernels in its body.

The backward is an operator of torch, too, so that ``torch.compile`` keeps it whole: it takes the arguments of the
forward, what flows into each result (or None), and which arguments a gradient is asked for. It tapes the body
(``tape.py``), computes again what lies between the launches, and walks back through them with
``pytriton.gradient``. Gradients are kept by memory: a result that is a view of what a kernel wrote, or an argument
that reaches a kernel as two views, is added up where it lies. Arguments that overlap themselves or each other are
copied first.

What that does is allocations, views, copies and launches again, so the same walk back through it gives the second
derivative: of all arguments, and of what flows into the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from pytriton.errors import PytritonError
from pytriton.operators.derived import Gradient
from pytriton.operators.laid_out import overlaps_itself
from pytriton.operators.tape import Copy, Launch, key_of, replayed, taped
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch.recent import key_of as key_of_defines

__all__ = ["DerivedFormula"]

_library: Final[Any] = torch.library
_FLOATING: Final = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_gradients: Final[dict[Any, Gradient]] = {}


class DerivedFormula:
    """Of one operator. ``lib`` is the library in which its backward is defined, beside it."""

    def __init__(self, name: str, function: Callable[..., Any], schema: Any, lib: Any) -> None:
        self.name, self.function = name, function
        self.positions = [at for at, each in enumerate(schema.arguments) if "Tensor" in str(each.type)]
        types = [str(each.type) for each in (*schema.arguments, *schema.returns)]
        lists = any("List" in type_ and "Tensor" in type_ for type_ in types)
        if lists or any(each.kwarg_only for each in schema.arguments):
            raise refusal(
                f"{name}: no gradient is derived for lists of tensors, or with arguments by keyword only",
                "TC540",
                "give the formula with register_autograd",
            )
        types = [_schema_type(schema, at) for at in range(len(schema.arguments))]
        arguments = ", ".join(f"{type_} a{at}" for at, type_ in enumerate(types))
        space, _, short = name.partition("::")
        own = f"{short}_derived_backward"
        lib.define(f"{own}({arguments}, Tensor?[] flowing, bool[] needed) -> Tensor[]")
        lib.impl(own, self._run, "CompositeExplicitAutograd")
        _library.register_fake(f"{space}::{own}", self._shapes, lib=lib)
        self.overload = getattr(getattr(torch.ops, space), own).default
        _library.register_autograd(f"{space}::{own}", self._twice, setup_context=_keep, lib=lib)

    def setup_context(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        """All tensors are saved, so that a later change of one raises."""
        ctx.save_for_backward(*(inputs[at] for at in self.positions))
        ctx.rest = [None if at in self.positions else value for at, value in enumerate(inputs)]

    def backward(self, ctx: Any, *flowing: Any) -> Any:
        """The gradients of all arguments; None where nobody asks, or where there is none."""
        arguments = list(ctx.rest)
        for at, tensor in zip(self.positions, ctx.saved_tensors, strict=True):
            arguments[at] = tensor
        needed = [bool(ctx.needs_input_grad[at]) for at in self.positions]
        made = iter(self.overload(*arguments, list(flowing), needed))
        gradients: list[Any] = [None] * len(arguments)
        for at, wanted in zip(self.positions, needed, strict=True):
            gradients[at] = next(made) if wanted else None
        return tuple(gradients) if len(gradients) > 1 else gradients[0]

    def _twice(self, ctx: Any, flowing: Sequence[torch.Tensor]) -> Any:
        """The gradients of what the backward was given."""
        saved = iter(ctx.saved_tensors)
        given = [next(saved) if value is _SAVED else value for value in ctx.given]
        *asked, asked_of_coming, _ = ctx.needs_input_grad
        flags = [*asked, *asked_of_coming] if isinstance(asked_of_coming, list) else []
        try:
            if not flags:
                raise refusal(f"{self.name}: nothing flows into one of its results", "TC758")
            made = iter(self._derived_again(given, len(asked), ctx.needed, flowing, flags))
        except PytritonError as error:
            reason = str(error).partition("\n")[0]
            raise refusal(
                f"{self.name}: its derived backward is not derived again: {reason}",
                "TC758",
                "give both formulas with register_autograd",
            ) from None
        gradients = [next(made) if flag else None for flag in flags]
        return *gradients[: len(asked)], gradients[len(asked) :], None

    def _derived_again(
        self,
        given: Sequence[Any],
        count: int,
        needed: Sequence[bool],
        flowing: Sequence[torch.Tensor],
        flags: Sequence[bool],
    ) -> Sequence[torch.Tensor]:
        """``given``: the ``count`` arguments, and what flows into the results; ``flags``: by which of these."""

        def backward(*own: Any) -> list[torch.Tensor]:
            return self._run(*own[:count], own[count:], needed)

        own = list(given)
        places = [at for at, value in enumerate(given) if isinstance(value, torch.Tensor)]
        for at, tensor in zip(places, _apart([given[at] for at in places]), strict=True):
            own[at] = tensor
        wanted = [at for at, flag in enumerate(flags) if flag]
        made = _walked_back(self.name, backward, own, flowing, [own[at] for at in wanted], True)
        if torch.is_grad_enabled():
            last: Any = _Last
            made = last.apply(self.name, *made, *(given[at] for at in wanted))[: len(made)]
        return [_laid_out(each, given[at]) for each, at in zip(made, wanted, strict=True)]

    def _shapes(self, *given: Any) -> list[torch.Tensor]:
        *arguments, _, needed = given
        tensors = [arguments[at] for at in self.positions]
        return [torch.empty_like(tensor) for tensor, wanted in zip(tensors, needed, strict=True) if wanted]

    def _run(self, *given: Any) -> list[torch.Tensor]:
        *arguments, flowing, needed = given
        tensors = [arguments[at] for at in self.positions]
        own = _apart(tensors)
        for at, tensor in zip(self.positions, own, strict=True):
            arguments[at] = tensor
        wanted = [tensor for tensor, asked in zip(own, needed, strict=True) if asked and tensor is not None]
        made = _walked_back(self.name, self.function, arguments, flowing, wanted)
        like = [tensor for tensor, asked in zip(tensors, needed, strict=True) if asked]
        return [_laid_out(each, tensor) for each, tensor in zip(made, like, strict=True)]


_SAVED: Final = object()  # stands for a tensor that autograd keeps


def _keep(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    """What the second derivative needs: all that the first one was given."""
    *arguments, flowing, needed = inputs
    ctx.save_for_backward(*(value for value in (*arguments, *flowing) if isinstance(value, torch.Tensor)))
    ctx.given = [_SAVED if isinstance(value, torch.Tensor) else value for value in (*arguments, *flowing)]
    ctx.needed = needed


class _Last(torch.autograd.Function):
    """Second derivatives, which have no derivative: ``tensors`` are they, and then what they depend on."""

    @staticmethod
    def forward(ctx: Any, name: str, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.name = name
        return tensors

    @staticmethod
    def backward(ctx: Any, *flowing: torch.Tensor) -> Any:
        raise refusal(f"{ctx.name}: a third derivative is not derived", "TC758")


def _schema_type(schema: Any, at: int) -> str:
    """The type of an argument as a schema writes it, without alias and default."""
    text = str(schema).partition("(")[2].rpartition(") ->")[0].split(", ")[at]
    return text.strip().rpartition(" ")[0]


def _apart(tensors: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """The same tensors, none of which shares memory with itself or another one."""
    seen: set[int] = set()
    result: list[torch.Tensor | None] = []
    for tensor in tensors:
        if tensor is not None:
            tensor = tensor.detach()
            if overlaps_itself(tensor):
                tensor = tensor.contiguous().clone()
            elif key_of(tensor) in seen:
                tensor = tensor.clone()
            seen.add(key_of(tensor))
        result.append(tensor)
    return result


def _laid_out(made: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    like = torch.empty_like(tensor)
    return made if made.stride() == like.stride() else like.copy_(made)


# ---------------------------------------------------------------- walking back


class _Flow:
    """What flows into memory: pieces, each with the tensor that it is the gradient of."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return key_of(tensor) in self._pieces

    def add(self, tensor: torch.Tensor, flowing: torch.Tensor) -> None:
        self._pieces.setdefault(key_of(tensor), []).append((tensor, flowing))

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """What flows into a tensor, all pieces added up."""
        pieces = self._pieces.get(key_of(tensor), [])
        if not pieces:
            return torch.zeros_like(tensor)
        if len(pieces) == 1 and _same_place(pieces[0][0], tensor):
            return pieces[0][1]
        exact = torch.promote_types(tensor.dtype, torch.float32)
        count = tensor.untyped_storage().nbytes() // tensor.element_size()
        memory = torch.zeros(count, dtype=exact, device=tensor.device)
        for of, flowing in pieces:
            memory.as_strided(of.size(), of.stride(), of.storage_offset()).add_(flowing)
        return memory.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).to(tensor.dtype)


def _same_place(left: torch.Tensor, right: torch.Tensor) -> bool:
    places = [(t.size(), t.stride(), t.storage_offset()) for t in (left, right)]
    return places[0] == places[1]


def _walked_back(
    name: str,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    flowing: Sequence[torch.Tensor | None],
    wanted: Sequence[torch.Tensor],
    twice: bool = False,
) -> list[torch.Tensor]:
    """The gradients of the wanted arguments; ``twice``: the function is a derived backward."""
    result, entries = taped(name, function, arguments, twice)
    replayed(entries[:-1])
    reached = {key_of(tensor) for tensor in wanted}
    for entry in entries:
        reads = [entry.source] if isinstance(entry, Copy) else list(entry.reads.values())
        writes = [entry.result] if isinstance(entry, Copy) else list(entry.writes.values())
        if any(key_of(tensor) in reached and tensor.dtype in _FLOATING for tensor in reads):
            reached |= {key_of(tensor) for tensor in writes if tensor.dtype in _FLOATING}
    flow = _Flow()
    results = result if isinstance(result, tuple | list) else (result,)
    for tensor, grad in zip(results, flowing, strict=True):
        if grad is not None and key_of(tensor) in reached:
            flow.add(tensor, grad)
    for entry in reversed(entries):
        if isinstance(entry, Copy):
            if entry.result in flow and key_of(entry.source) in reached:
                flow.add(entry.source, flow.of(entry.result))
        else:
            _launch_back(entry, flow, reached)
    return [flow.of(tensor) for tensor in wanted]


def _launch_back(entry: Launch, flow: _Flow, reached: set[int]) -> None:
    outputs = tuple(
        name for name, tensor in entry.writes.items() if tensor.dtype in _FLOATING and tensor in flow
    )
    inputs = tuple(
        name
        for name, tensor in entry.reads.items()
        if tensor.dtype in _FLOATING and key_of(tensor) in reached and name not in entry.writes
    )
    if not outputs or not inputs:
        return
    derived = _gradient_of(entry.kernel, entry, outputs, inputs)
    flowing = {name: flow.of(entry.writes[name]) for name in outputs}
    for name, made in derived(*entry.call.arguments, grid=entry.call.grid, d_outputs=flowing).items():
        flow.add(entry.reads[name], made)


def _gradient_of(of: Kernel, entry: Launch, outputs: tuple[str, ...], inputs: tuple[str, ...]) -> Gradient:
    """Derived once for each set of defines and options of a call."""
    call = entry.call
    key = (of.token, key_of_defines(call.defines, call.num_warps, call.num_stages), outputs, inputs)
    if key not in _gradients:
        options = call.defines, call.num_warps, call.num_stages
        _gradients[key] = Gradient(of, outputs, inputs, *options, reads_outputs=False)
    return _gradients[key]
