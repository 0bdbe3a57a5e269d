"""A launch that is looked at instead of made: on the CPU, on copies of the tensors.

Input: a text, one point of its sweep, and a launch. Output: the trace of one of its programs, or nothing, and
LaunchError for its races.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from triton.runtime.errors import InterpreterError

from pytriton.errors import LaunchError
from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.checks.races import tell_of_races
from pytriton.runtime.checks.report import findings, tell
from pytriton.runtime.checks.stuck import Stuck
from pytriton.runtime.interpret.checked import Launched
from pytriton.runtime.interpret.order import ONE, in_order, only
from pytriton.runtime.interpret.racing import Racing
from pytriton.runtime.interpret.traced import Recorded, Trace
from pytriton.runtime.launch.device import Grid
from pytriton.runtime.options.source_text import KernelText
from pytriton.runtime.sweep.candidate import Launch
from pytriton.runtime.sweep.on_cpu import OnCpu

__all__ = ["copies", "raced", "traced"]


def copies(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with new tensors on the CPU, which share memory among each other as these do."""
    storages: dict[int, torch.Tensor] = {}

    def copied(argument: Any) -> Any:
        if not isinstance(argument, torch.Tensor):
            return argument
        argument = argument.detach()
        storage = argument.untyped_storage()
        if storage.data_ptr() not in storages:
            whole = torch.empty(0, dtype=torch.uint8, device=argument.device).set_(storage)
            storages[storage.data_ptr()] = whole.to("cpu", copy=True)
        memory = storages[storage.data_ptr()].untyped_storage()
        place = argument.storage_offset(), argument.shape, argument.stride()
        return torch.empty(0, dtype=argument.dtype).set_(memory, *place)

    return [copied(argument) for argument in arguments]


def raced(text: KernelText, launch: Launch, memory: Memory, *, turned: bool) -> bool:
    """Run all programs of a launch on CPU memory, the last one first if ``turned``; raises LaunchError for races,
    and for accesses outside. Whether another order may show more.

    A program may wait for an earlier one: the reverse order ends at the first that does."""
    made, grid = text.translate(launch.candidate.config, checked=True, on_cpu=True), launch.grid
    racing, launched = Racing(made.sites, grid), Launched(memory, {})
    try:
        OnCpu(made, text.source, racing).run(grid, launch.values, launched, in_order(grid, backwards=turned))
    except LaunchError as error:
        waits = isinstance(error.__cause__, InterpreterError) and isinstance(error.__cause__.__cause__, Stuck)
        if not (turned and waits):  # it may wait for an earlier program, which runs later in this order
            raise
    tell(launched.found, memory, grid)
    tell_of_races(racing.races.values(), racing.doubles.values(), memory, grid)
    return racing.atomics


def traced(text: KernelText, launch: Launch, memory: Memory, program: Grid) -> Trace:
    """Run one program of a launch on CPU memory; raises what its interpretation raises."""
    made = text.translate(launch.candidate.config, checked=True, on_cpu=True, traced=True)
    recorded, launched = Recorded(made.sites, made.steps), Launched(memory, {})
    OnCpu(made, text.source, recorded).run(ONE, launch.values, launched, only(program, launch.grid))
    notes = tuple(findings(launched.found, memory, launch.grid))
    return Trace(made.kernel, program, launch.grid, tuple(recorded.taken), notes)
