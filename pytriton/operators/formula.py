"""``pytriton.op(..., gradient=True)``: the formula of an operator, derived from the kernels in its body.

The backward is an operator of torch, too, so that ``torch.compile`` keeps it whole and ``torch.func`` can batch it.
It takes the arguments of the forward, what flows into each result (or None), which arguments a gradient is asked
for, and what the body did in the forward (``body.py``). It tapes the body (``tape.py``), computes again what lies
between the launches, and walks back through them with ``pytriton.gradient``. Gradients are kept by memory: a result
that is a view of what a kernel wrote, or an argument that reaches a kernel as two views, is added up where it lies.
Arguments that overlap themselves or each other are copied first, in a forward with a gradient, too.

What that does is allocations, views, copies and launches again, so the formula of the backward is derived in the
same way: it gives the second derivative, of all arguments and of what flows into the results. There is no third
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import torch

from pytriton.compat.torch_names import schema_of
from pytriton.errors import PytritonError
from pytriton.gradient.backward import Gradient
from pytriton.gradient.laid_out import apart, elements, flat, key_of, overlaps_itself, placed
from pytriton.operators.body import Recording
from pytriton.operators.gradient import AutogradFormula
from pytriton.operators.tape import CURE, Copy, Launch, difference, replayed, taped
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch.fast_path import key_of as key_of_defines
from pytriton.runtime.trace.frames import INSIDE, Shapes, unseen

_library: Final[Any] = torch.library
_FLOATING: Final = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_gradients: Final[dict[Any, Gradient]] = {}


class DerivedFormula:
    """Of one operator. ``lib`` is the library in which its backward is defined, beside it. ``recording``: of its
    body; None where the operator is itself a derived backward.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        schema: Any,
        lib: Any,
        scratch_bytes: int | None,
        recording: Recording | None = None,
    ) -> None:
        self.name, self.function, self.recording = name, function, recording
        self.scratch_bytes = scratch_bytes
        self.count = len(schema.arguments)
        self.positions = [at for at, each in enumerate(schema.arguments) if "Tensor" in str(each.type)]
        types = [str(each.type) for each in (*schema.arguments, *schema.returns)]
        lists = any("List" in type_ and "Tensor" in type_ for type_ in types)
        if lists or any(each.kwarg_only for each in schema.arguments):
            raise refusal(
                f"{name}: no gradient is derived for lists of tensors, or with arguments by keyword only",
                "TC540",
                "give the formula with register_autograd",
            )
        arguments = [f"{_schema_type(schema, at)} a{at}" for at in range(self.count)]
        flowing = [f"Tensor? f{at}" for at in range(len(schema.returns))]
        made = ["Tensor"] * len(self.positions)
        results = "Tensor" if len(made) == 1 else f"({', '.join(made)})"
        space, _, short = schema.name.partition("::")
        own = f"{short}_derived_backward"
        tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)
        given = ", ".join((*arguments, *flowing, "bool[] needed", "str recorded"))
        lib.define(f"{own}({given}) -> {results}", tags=tags)
        lib.impl(own, self._run, "CompositeExplicitAutograd")
        _library.register_fake(f"{space}::{own}", self._shapes, lib=lib)
        self.overload = getattr(getattr(torch.ops, space), own).default
        self._gradient = AutogradFormula(self.overload, self._run)
        lib.impl(own, self._gradient.dispatched(), "Autograd", with_keyset=True)
        if recording is None:
            self._gradient.formula(self._third, lambda ctx, inputs, output: None)
        else:
            again = DerivedFormula(name, self._run, schema_of(self.overload), lib, scratch_bytes)
            self._gradient.formula(again.backward, again.setup_context)

    def setup_context(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        """All tensors are saved, so that a later change of one raises."""
        ctx.save_for_backward(*(inputs[at] for at in self.positions))
        ctx.rest = [None if at in self.positions else value for at, value in enumerate(inputs)]
        ctx.recorded = self.recording and self.recording.last

    def backward(self, ctx: Any, *flowing: Any) -> Any:
        """The gradients of all arguments; None where none is asked for, or there is none."""
        recorded = ctx.recorded.text(self.name) if ctx.recorded else ""
        arguments = list(ctx.rest)
        for at, tensor in zip(self.positions, ctx.saved_tensors, strict=True):
            arguments[at] = tensor
        needed = [bool(ctx.needs_input_grad[at]) for at in self.positions]
        made = self.overload(*arguments, *flowing, needed, recorded)
        gradients: list[Any] = [None] * len(arguments)
        for at, wanted, each in zip(self.positions, needed, _listed(made), strict=True):
            gradients[at] = each if wanted else None
        return tuple(gradients)

    def _third(self, ctx: Any, *flowing: Any) -> NoReturn:
        raise refusal(f"{self.name}: a third derivative is not derived", "TC758")

    def _shapes(self, *given: Any) -> Any:
        made = [
            torch.empty_like(given[at]) if wanted else _nothing(given)
            for at, wanted in zip(self.positions, given[-2], strict=True)
        ]
        return tuple(made) if len(made) > 1 else made[0]

    def _run(self, *given: Any) -> Any:
        *arguments, needed, recorded = given
        try:
            made = iter(self._derived(arguments[: self.count], arguments[self.count :], needed, recorded))
        except PytritonError as error:
            if self.recording is not None:
                raise
            reason = str(error).partition("\n")[0]
            raise refusal(
                f"{self.name}: its derived backward is not derived again: {reason}",
                "TC758",
                "give both formulas with register_autograd",
            ) from None
        results = tuple(next(made) if wanted else _nothing(given) for wanted in needed)
        return results if len(results) > 1 else results[0]

    def _derived(
        self, arguments: Sequence[Any], flowing: Sequence[Any], needed: Sequence[bool], recorded: str
    ) -> list[torch.Tensor]:
        """The gradients that are needed."""
        own = apart(arguments)
        wanted = [at for at, asked in zip(self.positions, needed, strict=True) if asked]
        tensors = [own[at] for at in wanted]
        how = self.recording is None, recorded, self.scratch_bytes
        made = _walked_back(self.name, self.function, own, flowing, tensors, *how)
        return [_laid_out(each, arguments[at]) for each, at in zip(made, wanted, strict=True)]


def _listed(made: Any) -> Sequence[Any]:
    return made if isinstance(made, tuple | list) else (made,)


def _nothing(given: Sequence[Any]) -> torch.Tensor:
    """In place of a gradient that is not asked for."""
    return next(each for each in given if isinstance(each, torch.Tensor)).new_empty(0)


def _schema_type(schema: Any, at: int) -> str:
    """The type of an argument as a schema writes it, without alias and default."""
    text = str(schema).partition("(")[2].rpartition(") ->")[0].split(", ")[at]
    return text.strip().rpartition(" ")[0]


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
        self._pieces.setdefault(key_of(tensor), []).append((tensor, flowing.to(tensor.dtype)))

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """What flows into a tensor, all pieces added up."""
        pieces = self._pieces.get(key_of(tensor), [])
        if not pieces:
            return torch.zeros_like(tensor)
        if len(pieces) == 1 and _same_place(pieces[0][0], tensor):
            return pieces[0][1]
        return placed(self._memory(tensor), tensor)

    def in_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same, with what flows into the memory around a view around it."""
        return self.of(tensor) if tensor.numel() == elements(tensor) else placed(self._memory(tensor), tensor)

    def beside(self, tensor: torch.Tensor) -> bool:
        """Whether anything but zero flows into the memory around a tensor."""
        pieces = self._pieces.get(key_of(tensor), [])
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
        for of, flowing in self._pieces[key_of(tensor)]:
            if overlaps_itself(of):
                places = placed(torch.arange(count, device=tensor.device), of).reshape(-1)
                memory.index_add_(0, places, flowing.reshape(-1).to(exact))
            else:
                placed(memory, of).add_(flowing)
        return memory.to(tensor.dtype)


def _same_place(left: torch.Tensor, right: torch.Tensor) -> bool:
    places = [(t.size(), t.stride(), t.storage_offset()) for t in (left, right)]
    return places[0] == places[1]


def _walked_back(
    name: str,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    flowing: Sequence[torch.Tensor | None],
    wanted: Sequence[torch.Tensor],
    twice: bool,
    recorded: str,
    scratch_bytes: int | None,
) -> list[torch.Tensor]:
    """The gradients of the wanted arguments; ``twice``: the function is a derived backward."""
    result, tape = taped(name, function, arguments, twice)
    different = difference(recorded, tape) if recorded else None
    if different:
        raise refusal(
            f"{name}: its body does something different in the backward than in the forward: {different}",
            "TC756",
            CURE,
        )
    entries = tape.entries
    replayed(entries[:-1], unseen())
    reached = {key_of(tensor) for tensor in wanted}
    for entry in entries:
        reads = [entry.source] if isinstance(entry, Copy) else list(entry.reads.values())
        writes = [entry.result] if isinstance(entry, Copy) else list(entry.writes.values())
        if any(key_of(tensor) in reached and tensor.dtype in _FLOATING for tensor in reads):
            reached |= {key_of(tensor) for tensor in writes if tensor.dtype in _FLOATING}
    flow = _Flow()
    for tensor, grad in zip(_listed(result), flowing, strict=True):
        if grad is not None and key_of(tensor) in reached:
            flow.add(tensor, grad)
    for entry in reversed(entries):
        if isinstance(entry, Copy):
            if entry.result in flow and key_of(entry.source) in reached:
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


def _launch_back(entry: Launch, flow: _Flow, reached: set[int], scratch_bytes: int | None) -> None:
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
    derived = _gradient_of(entry.kernel, entry, outputs, inputs, scratch_bytes)
    given = derived._named(entry.call.arguments)
    for name in inputs:
        if overlaps_itself(given[name]):  # all elements from its first one on, each of them once
            rest = elements(given[name]) - given[name].storage_offset()
            given[name] = given[name].as_strided((rest,), (1,), given[name].storage_offset())
    flowing = {name: flow.in_memory(entry.writes[name]) for name in outputs}
    for name, made in derived.in_memory(given, entry.call.grid, flowing).items():
        if elements(made) > made.numel():
            flow.add(flat(given[name]), flat(made))
        else:
            flow.add(given[name], made)


def _gradient_of(
    of: Kernel,
    entry: Launch,
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
