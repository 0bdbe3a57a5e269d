"""A launch that is looked at instead of made: on the CPU, on copies of the tensors.

Input: a text, one point of its sweep, and a launch. Output: the trace of one of its programs, or nothing, and
LaunchError for its races.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from triton.runtime.errors import InterpreterError

from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.checks.races import tell_of_races
from pytriton.runtime.checks.report import findings, tell
from pytriton.runtime.checks.violation import Violation
from pytriton.runtime.compile.failures import Generated
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.checked import Launched
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.interpret.order import ONE, backwards, only
from pytriton.runtime.interpret.racing import Racing
from pytriton.runtime.interpret.traced import Recorded, Trace
from pytriton.runtime.launch.device import Grid
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.source_text import KernelText

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


def raced(
    text: KernelText, config: Config, grid: Grid, values: Sequence[Any], memory: Memory, *, turned: bool
) -> bool:
    """Run all programs of a launch on CPU memory, the last one first if ``turned``; raises LaunchError for races,
    and for accesses outside. Whether another order may show more."""
    made = text.translate(config, checked=True, on_cpu=True)
    module = load(made.function, made.text)
    racing = Racing(made.sites, grid)
    interpreted = Interpreted(module, made.parameters, made.constexprs, accesses=racing, prints=made.prints)
    found: dict[int, Violation] = {}
    try:
        interpreted.run(grid, values, Launched(memory, found), backwards(grid) if turned else None)
    except InterpreterError as error:
        raise Generated(made, module.path, text.source).stopped(error, memory) from error
    tell(found, memory, grid)
    tell_of_races(racing.races.values(), racing.doubles.values(), memory, grid)
    return racing.atomics


def traced(
    text: KernelText, config: Config, grid: Grid, values: Sequence[Any], memory: Memory, program: Grid
) -> Trace:
    """Run one program of a launch on CPU memory; raises what its interpretation raises."""
    made = text.translate(config, checked=True, on_cpu=True, traced=True)
    module = load(made.function, made.text)
    recorded = Recorded(made.sites, made.steps)
    interpreted = Interpreted(module, made.parameters, made.constexprs, accesses=recorded, prints=made.prints)
    found: dict[int, Violation] = {}
    try:
        interpreted.run(ONE, values, Launched(memory, found), only(program, grid))
    except InterpreterError as error:
        raise Generated(made, module.path, text.source).stopped(error, memory) from error
    notes = tuple(findings(found, memory, grid))
    return Trace(made.kernel, program, grid, tuple(recorded.taken), notes)
