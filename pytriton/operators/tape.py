"""What the body of an operator does: its launches, and the tensors that it makes.

The body runs once without launching anything. Each launch is noted, and so is each copy (``contiguous``). It may
allocate (``empty``, ``zeros``, ``*_like`` and the like) and view (``expand``, ``transpose``, slices); any other
operation of torch is refused by name, as nobody would derive it. A launch that writes what an earlier one wrote or
read is refused: the backward would read what it left there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.trace.frames import Call, Shapes, inside

__all__ = ["Copy", "Launch", "key_of", "replayed", "taped"]

_ALLOCATIONS: Final = frozenset(
    f"aten::{name}"
    for name in (
        "empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros "
        "ones ones_like new_ones full full_like new_full"
    ).split()
)


@dataclass(frozen=True, eq=False)
class Launch:
    """``reads``, ``writes``: the tensors among the arguments, by name of the parameter."""

    kernel: Kernel
    call: Call
    reads: dict[str, torch.Tensor]
    writes: dict[str, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Copy:
    result: torch.Tensor
    source: torch.Tensor


Entry = Launch | Copy


class _Tape(Shapes):
    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []

    def note(self, kernel: Any, call: Call) -> None:
        """Keep a launch, with what it reads and writes."""
        translation = kernel.translation(call.defines)
        given = {
            parameter.name: value
            for parameter, value in zip(translation.parameters, call.arguments, strict=False)
            if isinstance(value, torch.Tensor) and value.dim() + value.numel() > 0
        }
        reads = {name: given[name] for name in translation.reads if name in given}
        writes = {name: given[name] for name in translation.writes if name in given}
        self.entries.append(Launch(kernel, call, reads, writes))


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Lets allocations and views pass, notes copies, refuses the rest."""

    def __init__(self, name: str, tape: _Tape) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name, self.tape = name, tape

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        schema = func._schema
        result = func(*args, **(kwargs or {}))
        if schema.name in _ALLOCATIONS or _is_view(schema):
            return result
        if schema.name == "aten::clone":
            self.tape.entries.append(Copy(result, args[0]))
            return result
        raise refusal(
            f"{self.name}: its body calls {schema.name.replace('aten::', 'torch.')}, which has no gradient here",
            "TC756",
            "a body with gradient=True allocates, views and launches, and nothing else: do this outside, or give "
            "the formula with register_autograd",
        )


def _is_view(schema: Any) -> bool:
    aliases = [value.alias_info for value in schema.returns]
    written = any(value.alias_info is not None and value.alias_info.is_write for value in schema.arguments)
    return bool(aliases) and None not in aliases and not written


def taped(name: str, function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, list[Entry]]:
    """The result of a body whose launches are left out, and what it does; raises LaunchError (TC756, TC757)."""
    tape = _Tape()
    with inside(tape), _Watch(name, tape), torch.no_grad():
        result = function(*args)
    _check_order(name, tape.entries)
    return result, tape.entries


def _check_order(name: str, entries: Iterable[Entry]) -> None:
    touched: set[int] = set()
    for entry in entries:
        if isinstance(entry, Copy):
            touched |= {key_of(entry.source), key_of(entry.result)}
            continue
        written = list(map(key_of, entry.writes.values()))
        if len(set(written)) < len(written) or touched & set(written):
            raise refusal(
                f"{name}: kernel '{entry.kernel.name}' writes what was written or read before",
                "TC757",
                "let each launch write to tensors of its own",
            )
        touched |= {*written, *map(key_of, entry.reads.values())}


def replayed(entries: Iterable[Entry]) -> None:
    """Do it: the launches and copies, in order."""
    with inside([]), torch.no_grad():
        for entry in entries:
            if isinstance(entry, Copy):
                entry.result.copy_(entry.source)
            else:
                call = entry.call
                options = {"num_warps": call.num_warps, "num_stages": call.num_stages}
                entry.kernel(*call.arguments, grid=call.grid, defines=call.defines, **options)


def key_of(tensor: torch.Tensor) -> int:
    """The memory that a tensor lies in."""
    return int(tensor.untyped_storage()._cdata)
