"""A translation as it is launched: compiled for a GPU, C or interpreted on the CPU, or checked on either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch

from pytriton.compat.triton_names import Absent, InterpreterError, OutOfResources, driver, triton
from pytriton.errors import PytritonError
from pytriton.pipeline import Translation
from pytriton.runtime.checks.diagnostics import tell, tell_of_overlaps, tell_of_short_grid
from pytriton.runtime.checks.memory import (
    bounds,
    filled,
    found_in,
    inspectable,
    known_blocks,
)
from pytriton.runtime.checks.shadow import tell_of_written
from pytriton.runtime.compile.compiler import compile_kernel, usable_cache
from pytriton.runtime.compile.failures import Generated, does_not_fit
from pytriton.runtime.compile.load import load
from pytriton.runtime.errors import refusal, remark, warn_once
from pytriton.runtime.interpret.accesses import CheckedAccesses
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.launch.arguments import BY_16
from pytriton.runtime.launch.candidate import Prepared
from pytriton.runtime.launch.device import DeviceKernel, Grid
from pytriton.runtime.launch.extents import Memory
from pytriton.runtime.locks import Lock, check_not_forked, renew_in_children
from pytriton.runtime.native.c_compiler import NoLibrary
from pytriton.runtime.native.checks import NativeChecks
from pytriton.runtime.native.native_kernel import native_of
from pytriton.runtime.native.processor import Native
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText
from pytriton.source import Source


def compiled_on(
    translation: Translation, specialization: tuple[int, ...], config: Config, device: int, source: Source
) -> DeviceKernel:
    """The kernel on a device; raises UnsupportedError or LaunchError where there can be none."""
    check_not_forked(translation.kernel)
    usable_cache()
    with torch.cuda.device(device):
        target = driver.active.get_current_target()
        compiled = compile_kernel(translation, specialization, config, target, source)
    constexprs = translation.constexprs
    names = compiled.src.fn.arg_names[len(translation.parameters) :]
    try:
        return DeviceKernel(compiled, device, translation.parameters, [constexprs[name] for name in names])
    except OutOfResources as error:
        raise does_not_fit(error, translation.kernel) from error


# A translation that the interpreter runs on CPU memory; an error there is reported at the user's line.


class OnCpu:
    """``translation`` is that of ``source``; ``native``: it in C, or the reason why C does not run it. Raises
    LaunchError (TC565) where Triton is not installed."""

    def __init__(self, translation: Translation, source: Source, native: Native | NoLibrary) -> None:
        self.translation, self._source = translation, source
        self._why = native.reason if isinstance(native, NoLibrary) else ""
        if triton is Absent:
            message = (
                f"{translation.kernel}: this launch needs Triton's interpreter, and Triton is not installed"
            )
            raise refusal(message, "TC565", self._why)
        self._module = load(translation.function, translation.text)
        unused = {} if translation.table is None else {translation.table.identifier: 0}
        self._interpreted = Interpreted(
            self._module,
            translation.parameters,
            {**translation.constexprs, **unused},
            prints=translation.prints,
        )

    def run(
        self,
        grid: Grid,
        values: Sequence[Any],
        accesses: CheckedAccesses | None = None,
        numbers: Sequence[int] = (),
    ) -> None:
        """Run the programs of these numbers, as ``Interpreted.run`` does; raises PytritonError where it stops."""
        try:
            self._interpreted.run(grid, values, accesses, numbers, why=self._why)
        except InterpreterError as error:
            memory = None if accesses is None else accesses.memory
            raise Generated(self.translation, self._module.path, self._source).stopped(
                error, memory
            ) from error


# One config of a sweep with memory checks: translated again, with sites, and launched next to the plain one.
#
# Input: launches as for a ``Candidate``, and the memory that they may reach. Output: those launches, in which
# no access outside was made; warnings of loads, and a LaunchError where a store or an atomic was outside. On a
# GPU an *inspector* runs first, a kernel that only computes where the accesses of the launch go. If all of them
# are inside, the plain code does the work, or the *executor*, in which those accesses are checked of which the
# inspector cannot decide; else the code in which all are. What that finds lies in a table, which is read after
# the launch: that waits for it. While a CUDA graph is captured no launch can be waited for: all accesses are
# checked, and the table of such a launch is read by the next launch of the kernel that is not captured.


MAX_ELEMENTS_PER_WARP = 1024  # of a block of an inspector


class Checked:
    """The checked code of one config."""

    def __init__(self, text: KernelText, config: Config) -> None:
        self._text = text
        self._config = config
        self._lock = Lock()
        self._kernels: dict[tuple[str, int, tuple[int, ...]], DeviceKernel] = {}
        self._captured: list[tuple[torch.Tensor, torch.Tensor, Memory, Grid]] = []
        renew_in_children(self)

    def renew(self) -> None:
        """Drop objects on GPUs of the process that forked this one."""
        self._kernels, self._captured = {}, []

    def run(self, launch: Prepared, memory: Memory, plain: Callable[[], None]) -> None:
        """Run all programs of the grid, and report accesses out of bounds; raises LaunchError. ``plain`` is the
        same launch unchecked."""
        if launch.device < 0:
            return self._run_on_cpu(launch.grid, launch.values, memory)
        tell_of_overlaps(self._whole, memory)
        if torch.cuda.is_current_stream_capturing():
            return self._capture(launch, memory)
        translation = self._executor if self._is_inside(launch, memory) else self._whole
        if translation.sites:
            table = self._table(translation, launch, memory).to(f"cuda:{launch.device}")
            self._start(translation, launch, table)
            tell(
                found_in(table.tolist(), translation.sites), memory, launch.grid
            )  # this waits for the launch
        else:
            plain()
        return self._tell_of_captured()

    def _run_on_cpu(self, grid: Grid, values: Sequence[Any], memory: Memory) -> None:
        """The same in C; if unavailable, by the interpreter."""
        native = self._native
        checks: NativeChecks | CheckedAccesses
        if isinstance(native, Native):
            sites = native.module.sites
            checks = NativeChecks(sites, native.module.elements, memory, grid)
            run = partial(native.run, grid, values, checks if sites else None)
        else:
            sites = self._on_cpu.translation.sites
            checks = CheckedAccesses(sites, memory)
            run = partial(self._on_cpu.run, grid, values, checks)
        tell_of_overlaps(self._unchecked, memory)
        try:
            run()
        except PytritonError:
            tell(checks.violations, memory, grid)  # the cause, if there was one
            raise
        tell(checks.violations, memory, grid)
        tell_of_short_grid(sites, checks.last, memory, grid)
        if isinstance(checks, NativeChecks):
            tell_of_written(checks.written, sites, checks.last, memory, grid)

    @cached_property
    def _on_cpu(self) -> OnCpu:
        """The code in which all accesses are checked; the interpreter formats its prints."""
        translation = self._text.translate(self._config, checked=True, on_cpu=True)
        return OnCpu(translation, self._text.source, self._native)

    @cached_property
    def _native(self) -> Native | NoLibrary:
        """The same in C."""
        return native_of(self._text, self._config, checked=True)

    @cached_property
    def _unchecked(self) -> Translation:
        return self._text.translate(self._config)

    @cached_property
    def _whole(self) -> Translation:
        """The same for a GPU."""
        return self._text.translate(self._config, checked=True)

    @cached_property
    def _inspector(self) -> Translation:
        return self._text.translate(self._config, checked=True, part="inspector")

    @cached_property
    def _executor(self) -> Translation:
        return self._text.translate(self._config, checked=True, part="executor")

    def _is_inside(self, launch: Prepared, memory: Memory) -> bool:
        """Whether the inspector finds all accesses that it looks at to be inside; this waits for it."""
        translation = self._inspector
        if translation.inspected is None or not inspectable(translation.inspected, translation.sites, memory):
            return False
        limits = torch.tensor(bounds(translation.inspected, memory), dtype=torch.int64)
        table = limits.to(f"cuda:{launch.device}")
        self._start(translation, launch, table)
        return not table[0].item()

    def _capture(self, launch: Prepared, memory: Memory) -> None:
        """A launch that becomes part of a graph: each replay fills the table anew."""
        warn_once(remark(_CAPTURED, "TC559"))
        pinned = self._table(self._whole, launch, memory).pin_memory()
        table = torch.empty_like(pinned, device=f"cuda:{launch.device}")
        table.copy_(pinned, non_blocking=True)
        self._start(self._whole, launch, table)
        with self._lock:
            self._captured.append((table, pinned, memory.outlived(), launch.grid))

    def _table(self, translation: Translation, launch: Prepared, memory: Memory) -> torch.Tensor:
        rows = filled(translation.sites, memory, partial(known_blocks, launch.device))
        return torch.tensor(rows, dtype=torch.int64)

    def _start(self, translation: Translation, launch: Prepared, table: torch.Tensor) -> None:
        kernel = self._kernel_of(translation, launch.device, launch.specialization)
        kernel(launch.grid, [*launch.values, table.data_ptr()])

    def _tell_of_captured(self) -> None:
        """Report violations of the last replay of each graph; raises LaunchError."""
        sites = self._whole.sites
        for table, empty, memory, grid in tuple(self._captured):
            violations = found_in(table.tolist(), sites)
            table.copy_(empty)  # reported once a replay
            tell(violations, memory, grid)

    def _kernel_of(
        self, translation: Translation, device: int, specialization: tuple[int, ...]
    ) -> DeviceKernel:
        """One of the translations, compiled; an inspector takes no more warps than its blocks fill."""
        key = (translation.text, device, specialization)
        with self._lock:
            if key not in self._kernels:
                config = self._config
                if translation is self._inspector:
                    size = max([size for site in translation.sites for size in site.shape], default=1)
                    config = replace(config, num_warps=max(1, min(8, size // MAX_ELEMENTS_PER_WARP)))
                checked, kinds = with_table(translation, specialization)
                self._kernels[key] = compiled_on(checked, kinds, config, device, self._text.source)
            return self._kernels[key]


def with_table(
    translation: Translation, specialization: tuple[int, ...]
) -> tuple[Translation, tuple[int, ...]]:
    """Checked code as it is compiled: its table is one more parameter, which is aligned."""
    if translation.table is None:
        return translation, specialization
    parameters = (*translation.parameters, translation.table)
    return replace(translation, parameters=parameters), (*specialization, BY_16)


_CAPTURED = (
    "memory checks of launches in a CUDA graph are read by the next launch of the kernel outside of a graph, "
    "as a launch cannot be waited for while a graph is captured"
)
