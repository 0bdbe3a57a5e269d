"""One config of a sweep: translated once, loaded once, compiled once a device and specialization.

Input: a text and a config; then launches, all decided: device, grid, values and their specialization (a kind for
each parameter, ``launch/arguments.py``). Output: those launches, on a GPU, in C, or by the interpreter.
Invariants: of threads that want the same code one compiles and the others wait, but not those whose code is there;
a forked child forgets what its parent loaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any

import torch

from pytriton.compat.triton_names import InterpreterError
from pytriton.errors import LaunchError
from pytriton.pipeline import Translation
from pytriton.runtime.checks.diagnostics import Stuck, findings, number_of, tell, tell_of_races
from pytriton.runtime.checks.observers import Racing
from pytriton.runtime.compile.compiler import compile_kernel
from pytriton.runtime.interpret.accesses import CheckedAccesses
from pytriton.runtime.launch.arguments import BY_16, Binder
from pytriton.runtime.launch.buffers import CPU
from pytriton.runtime.launch.candidate import Launch, Prepared
from pytriton.runtime.launch.device import (
    MOST_PROGRAMS,
    DeviceKernel,
    Direct,
    Grid,
    fits_of,
    refuse_count,
)
from pytriton.runtime.launch.extents import Memory
from pytriton.runtime.locks import Lock, renew_in_children
from pytriton.runtime.native.c_compiler import NoLibrary
from pytriton.runtime.native.native_kernel import inspected, native_of
from pytriton.runtime.native.processor import Native
from pytriton.runtime.options.defines import Config, Options
from pytriton.runtime.options.definition import KernelText
from pytriton.runtime.traced import Trace, Tracing
from pytriton.tuning.compiled import Checked, OnCpu, compiled_on
from pytriton.tuning.copies import Copies, copying

BinderFor = Callable[[Translation], Binder]


class TranslatedConfig:
    """A translated kernel for one config."""

    def __init__(self, text: KernelText, config: Config, binder_for: BinderFor) -> None:
        """Translates; raises CompileError."""
        self.config = config
        self.options = Options(config)
        self.translation = text.translate(config)
        self._fits = fits_of(self.translation)
        packing = self.translation.traits.packing if config.packed else None
        self._copies = None if packing is None else Copies(packing, _copier)
        self.binder = binder_for(self.translation)
        self._text = text
        self._lock = Lock()
        self._kernels: dict[tuple[int, tuple[int, ...]], DeviceKernel] = {}
        renew_in_children(self)

    def renew(self) -> None:
        """Forget what was loaded onto GPUs by the process that forked this one."""
        self._kernels = {}

    @cached_property
    def written(self) -> tuple[int, ...]:
        """The positions of the arguments through which it writes."""
        own = self.binder.own.parameters
        return tuple(at for at, parameter in enumerate(own) if parameter.name in self.translation.writes)

    def launch(self, asked: Prepared) -> None:
        """Run it once; raises LaunchError for a store outside, where accesses are checked."""
        memory, copies, run = asked.memory, self._copies, partial(self._run, asked)
        on_cpu = asked.device == CPU
        if on_cpu and math.prod(asked.grid) > MOST_PROGRAMS:
            refuse_count(self.translation.kernel, asked.grid)
        if on_cpu and memory is None and isinstance(self._native, Native):
            return self._native.run(asked.grid, asked.values)  # it suits every launch
        holds = self._fits is None or self._fits(asked.grid, asked.values)
        if not holds or (memory is not None and copies is not None):
            self._plain.launch(asked)
        elif memory is not None:
            self._checked.run(asked, memory, partial(run, asked.values))
        elif copies is None:
            run(asked.values)
        elif not copies.launch(asked.device, asked.grid, asked.values, run):
            self._plain.launch(asked)
        return None

    def _run(self, asked: Prepared, values: Sequence[Any]) -> None:
        if asked.device == CPU:
            self._on_cpu.run(asked.grid, values)
        else:
            self.kernel_on(asked.device, asked.specialization)(asked.grid, values)

    def copied(self, grid: Grid, values: Sequence[Any]) -> int:
        """How many bytes of copies it makes for such a launch; 0 where it makes none."""
        copies = None if self._copies is None else self._copies.of(grid, values)
        return sum(copy.bytes for copy in copies or ())

    def suits(self, grid: Grid, values: Sequence[Any]) -> bool:
        """Whether its code holds for such a launch: descriptors and copies reach what the source does, scales
        are positive."""
        if self._copies is not None and not self.copied(grid, values):
            return False
        return self._fits is None or self._fits(grid, values)

    @cached_property
    def _checked(self) -> Checked:
        """The same config with memory checks."""
        return Checked(self._text, self.config)

    @cached_property
    def _plain(self) -> TranslatedConfig:
        """The same config for launches that its code does not suit: without descriptors and copies, else without
        fast_math."""
        fast = self.config.fast_math and (self.config.descriptors or self.config.packed)
        config = replace(self.config, descriptors=False, packed=False, fast_math=fast)
        return TranslatedConfig(self._text, config, lambda _: self.binder)

    def _compiled_for(self, specialization: tuple[int, ...]) -> tuple[int, ...]:
        """For which specialization its code is compiled: copies are aligned."""
        if self._copies is None:
            return specialization
        copied = self._copies.positions
        return tuple([BY_16 if at in copied else kind for at, kind in enumerate(specialization)])

    def kernel_on(self, device: int, specialization: tuple[int, ...]) -> DeviceKernel:
        """The compiled kernel; raises UnsupportedError or LaunchError where there can be none."""
        specialization = self._compiled_for(specialization)
        kernel = self._kernels.get((device, specialization))
        if kernel is not None:
            return kernel
        with self._lock:
            if (device, specialization) not in self._kernels:
                self._kernels[device, specialization] = compiled_on(
                    self.translation, specialization, self.config, device, self._text.source
                )
            return self._kernels[device, specialization]

    def direct_on(self, device: int, specialization: tuple[int, ...]) -> Direct | None:
        """The C function of a kernel that was launched there; None where it cannot be called directly."""
        kernel = self._kernels.get((device, self._compiled_for(specialization)))
        if kernel is None or kernel.direct is None:
            return None
        if self._copies is not None:
            return self._direct_with_copies(kernel.direct, device, specialization)
        if self._fits is None:
            return kernel.direct

        def otherwise(grid: Grid, values: Sequence[Any]) -> None:
            self._plain.launch(Prepared(device, grid, values, specialization))

        return replace(kernel.direct, fits=self._fits, otherwise=otherwise)

    def _direct_with_copies(self, direct: Direct, device: int, specialization: tuple[int, ...]) -> Direct:
        """The same for a kernel that runs on copies."""
        self._plain.kernel_on(device, specialization)  # loading is not allowed while a graph is captured
        count = len(self.translation.parameters)

        def launched(*passed: Any) -> None:
            grid, values = direct.asked(passed, count)
            self.launch(Prepared(device, grid, values, specialization))

        return replace(direct, launch=launched)

    def compile_for(self, specialization: tuple[int, ...], target: Any) -> Any:
        """Triton's ``CompiledKernel`` for a target; raises UnsupportedError."""
        kinds = self._compiled_for(specialization)
        return compile_kernel(self.translation, kinds, self.config, target, self._text.source)

    def shared_memory(self, device: int) -> int | None:
        """Bytes that a kernel needs which was compiled for a device; None where none was."""
        needs = [kernel.compiled.metadata.shared for (on, _), kernel in self._kernels.items() if on == device]
        return max(needs, default=None)

    def last_compiled(self) -> Any:
        """The kernel that was compiled last by a call, None if there is none."""
        kernels = list(self._kernels.values())
        return kernels[-1].compiled if kernels else None

    @cached_property
    def _on_cpu(self) -> OnCpu:
        """The code that the interpreter runs: the same, except for printing."""
        translation, text = self.translation, self._text
        printing = text.translate(self.config, on_cpu=True) if translation.prints else translation
        return OnCpu(printing, text.source, self._native)

    @cached_property
    def _native(self) -> Native | NoLibrary:
        """The same in C."""
        return native_of(self._text, self.config, checked=False)


@cache
def _copier(width: int) -> TranslatedConfig:
    """The kernel that copies elements of so many bytes, one for all."""
    return TranslatedConfig(
        *copying(width), lambda translation: Binder(translation.kernel, translation.parameters)
    )


# A launch that is inspected: on the CPU, on copies of the tensors.
#
# Input: a source, one config of its sweep, and a launch. Output: the trace of one of its programs, or nothing, and
# LaunchError for its races.


def copies(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with new tensors on the CPU, which share memory among each other as these do."""
    storages: dict[int, torch.Tensor] = {}

    def copied(argument: Any) -> Any:
        if not isinstance(argument, torch.Tensor) or argument.is_neg():  # which no launch takes
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
    and for accesses outside. Returns whether another order may find more.

    A program may wait for an earlier one: the reverse order ends at the first that does."""
    translation, grid = text.translate(launch.candidate.config, checked=True, on_cpu=True), launch.grid
    racing = Racing(translation.sites, grid)
    accesses = CheckedAccesses(translation.sites, memory, racing)
    try:
        numbers = range(math.prod(grid))[:: -1 if turned else 1]
        OnCpu(translation, text.source, inspected()).run(grid, launch.values, accesses, numbers)
    except LaunchError as error:
        waits = isinstance(error.__cause__, InterpreterError) and isinstance(error.__cause__.__cause__, Stuck)
        if not (turned and waits):  # it may wait for an earlier program, which runs later in this order
            raise
    tell(accesses.violations, memory, grid)
    tell_of_races(racing.races.values(), racing.doubles.values(), memory, grid)
    return racing.shadow.atomics


def traced(text: KernelText, launch: Launch, memory: Memory, program: Grid) -> Trace:
    """Run one program of a launch on CPU memory; raises the interpreter's errors."""
    translation = text.translate(launch.candidate.config, checked=True, on_cpu=True, traced=True)
    tracing = Tracing(translation.sites, memory, translation.steps)
    accesses = CheckedAccesses(translation.sites, memory, tracing)
    numbers = [number_of(program, launch.grid)]
    OnCpu(translation, text.source, inspected()).run(launch.grid, launch.values, accesses, numbers)
    notes = tuple(findings(accesses.violations, memory, launch.grid))
    return Trace(translation.kernel, program, launch.grid, tuple(tracing.taken), notes)
