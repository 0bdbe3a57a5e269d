"""What the body of an operator does: its launches, and the tensors that it makes.

The body runs once without launching anything. Each launch is noted, and so is each copy (``contiguous``). It may
allocate (``empty``, ``zeros``, ``*_like`` and the like) and view (``expand``, ``transpose``, slices); any other
operation of torch is refused by name, as nobody would derive it. A launch that writes what an earlier one wrote or
read is refused: the backward would read what it left there.

A derived backward is such a body, too: that is how it is derived again. It also copies to another layout or type,
and adds gradients up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pytriton.adjoint.forward import forward_of
from pytriton.errors import CompileError
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import defines_of
from pytriton.runtime.trace.frames import INSIDE, Call, Shapes, inside, unseen

__all__ = ["Copy", "Launch", "key_of", "replayed", "taped"]

_ALLOCATIONS: Final = frozenset(
    f"aten::{name}"
    for name in (
        "empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros "
        "ones ones_like new_ones full full_like new_full promote_types"
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
    """``adds``: to what is there."""

    result: torch.Tensor
    source: torch.Tensor
    adds: bool = False


Entry = Launch | Copy
_COPIES: Final = frozenset(("aten::clone", "aten::_to_copy"))
_INTO: Final = frozenset(("aten::copy_", "aten::add_"))  # of a backward


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

    def __init__(self, name: str, tape: _Tape, backward: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name, self.tape, self.backward = name, tape, backward

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        schema = func._schema
        if INSIDE.frame is not self.tape:  # an inner body, which has a tape of its own
            return func(*args, **(kwargs or {}))
        if self.backward and schema.name in _INTO and args[0].shape == args[1].shape and len(args) == 2:
            self.tape.entries.append(Copy(args[0], args[1], schema.name == "aten::add_"))
            return args[0]
        if (
            schema.name in _ALLOCATIONS
            or _is_view(schema)
            or (self.backward and schema.name == "aten::zero_")
        ):
            return func(*args, **(kwargs or {}))
        if schema.name == "aten::clone" or (self.backward and schema.name in _COPIES):
            result = func(*args, **(kwargs or {}))
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


def taped(
    name: str, function: Callable[..., Any], args: Sequence[Any], backward: bool = False
) -> tuple[Any, list[Entry]]:
    """The result of a body whose launches are left out, and what it does; ``backward``: it is one that was derived.
    Raises LaunchError (TC756, TC757).
    """
    tape = _Tape()
    with inside(tape), _Watch(name, tape, backward), torch.no_grad():
        result = function(*args)
    _check_order(name, tape.entries)
    return result, tape.entries


def _check_order(name: str, entries: Iterable[Entry]) -> None:
    changed: set[int] = set()
    read: set[int] = set()
    for entry in entries:
        if isinstance(entry, Copy):
            what, reads = "a copy", [key_of(entry.source)]
            writes = {key_of(entry.result): entry.adds}
        else:
            what, reads = f"kernel '{entry.kernel.name}'", list(map(key_of, entry.reads.values()))
            writes = {
                key: key in changed and _only_adds(entry, parameter)
                for parameter, key in zip(entry.writes, map(key_of, entry.writes.values()), strict=True)
            }
        again = any(key in read or (key in changed and not adds) for key, adds in writes.items())
        if again or (isinstance(entry, Launch) and len(writes) < len(entry.writes)):
            raise refusal(
                f"{name}: {what} writes what was written or read before",
                "TC757",
                "let each launch write to tensors of its own",
            )
        changed.update(writes)
        read.update(reads)


def _only_adds(entry: Launch, parameter: str) -> bool:
    """Whether a launch leaves what was there, and adds to it by atomics."""
    definition = entry.kernel._definition
    defines = definition.configs(defines_of(entry.call.defines))[0].defines
    try:
        forward = forward_of(definition.text.source, defines, definition.text.settings, None, [parameter])
    except CompileError:
        return False
    written = (
        write for write in forward.flow.writes() if set(forward.outputs) & forward.flow.roots(write.pointer)
    )
    return all(write.atomic for write in written)


def replayed(entries: Iterable[Entry]) -> None:
    """Do it: the launches and copies, in order."""
    with inside(unseen()), torch.no_grad():
        for entry in entries:
            if isinstance(entry, Copy):
                (entry.result.add_ if entry.adds else entry.result.copy_)(entry.source)
            else:
                call = entry.call
                options = {"num_warps": call.num_warps, "num_stages": call.num_stages}
                entry.kernel(*call.arguments, grid=call.grid, defines=call.defines, **options)


def key_of(tensor: torch.Tensor) -> int:
    """The memory that a tensor lies in."""
    return int(tensor.untyped_storage()._cdata)
