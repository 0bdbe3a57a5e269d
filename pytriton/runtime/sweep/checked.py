"""One point of a sweep with memory checks: translated once more, with sites, and launched beside the plain one.

Input: launches as for a ``Candidate``, and the memory that they may reach. Output: those launches, in which no
access outside was made; warnings of loads, and a LaunchError where a store or an atomic was outside. On a GPU what
was found lies in a table, which is read after the launch: that waits for it. While a CUDA graph is captured nobody
can wait; the table of such a launch is read by the next launch of the kernel that is not captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch
from triton.runtime.errors import InterpreterError

from pytriton.pipeline import Translation
from pytriton.runtime.checks.blocks import known_blocks
from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.checks.report import tell, tell_of_overlaps
from pytriton.runtime.checks.table import filled, found_in
from pytriton.runtime.checks.violation import Violation
from pytriton.runtime.compile.failures import Generated
from pytriton.runtime.compile.load import load
from pytriton.runtime.errors import warn_once
from pytriton.runtime.interpret.checked import CheckedAccesses, Launched
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.launch.arguments import BY_16
from pytriton.runtime.launch.device import DeviceKernel, Grid
from pytriton.runtime.locks import Lock, renew_in_children
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.source_text import KernelText
from pytriton.runtime.sweep.compiled import compiled_on

__all__ = ["Checked", "with_table"]


class Checked:
    """The checked code of one config."""

    def __init__(self, text: KernelText, config: Config) -> None:
        self._text = text
        self._config = config
        self._lock = Lock()
        self._kernels: dict[tuple[int, tuple[int, ...]], DeviceKernel] = {}
        self._captured: list[tuple[torch.Tensor, Memory, Grid]] = []
        renew_in_children(self)

    def renew(self) -> None:
        """Forget what lies on GPUs of the process that forked this one."""
        self._kernels, self._captured = {}, []

    def run(
        self,
        device: int,
        grid: Grid,
        values: Sequence[Any],
        specialization: tuple[int, ...],
        memory: Memory,
    ) -> None:
        """Run all programs of the grid, and tell what was outside; raises LaunchError. Device -1 is the CPU."""
        if device < 0:
            self._interpret(grid, values, memory)
        else:
            self._launch(device, grid, values, specialization, memory)

    def _interpret(self, grid: Grid, values: Sequence[Any], memory: Memory) -> None:
        made = self._for_cpu
        tell_of_overlaps(made, memory)
        found: dict[int, Violation] = {}
        try:
            self._interpreted.run(grid, values, Launched(memory, found))
        except InterpreterError as error:
            tell(found, memory, grid)  # the cause, if there was one
            path = load(made.function, made.text).path
            raise Generated(made, path, self._text.source).stopped(error, memory) from error
        tell(found, memory, grid)

    @cached_property
    def _for_cpu(self) -> Translation:
        return self._text.translate(self._config, checked=True, on_cpu=True)

    @cached_property
    def _for_gpu(self) -> Translation:
        return self._text.translate(self._config, checked=True, versioned=True)

    @cached_property
    def _interpreted(self) -> Interpreted:
        made = self._for_cpu
        accesses = CheckedAccesses(made.sites) if made.sites else None
        module = load(made.function, made.text)
        return Interpreted(module, made.parameters, made.constexprs, accesses=accesses, prints=made.prints)

    def _launch(
        self,
        device: int,
        grid: Grid,
        values: Sequence[Any],
        specialization: tuple[int, ...],
        memory: Memory,
    ) -> None:
        sites = self._for_gpu.sites
        tell_of_overlaps(self._for_gpu, memory)
        kernel = self._kernel_on(device, specialization)
        if not sites:
            return kernel(grid, values)
        words = torch.tensor(filled(sites, memory, partial(known_blocks, device)), dtype=torch.int64)
        if torch.cuda.is_current_stream_capturing():
            return self._capture(device, kernel, grid, values, memory, words)
        table = words.to(f"cuda:{device}")
        kernel(grid, [*values, table.data_ptr()])
        found = found_in(table[: 8 * (1 + len(sites))].tolist(), sites)  # this waits for the launch
        self._tell_of_captured()
        return tell(found, memory, grid)

    def _capture(
        self,
        device: int,
        kernel: DeviceKernel,
        grid: Grid,
        values: Sequence[Any],
        memory: Memory,
        words: torch.Tensor,
    ) -> None:
        """A launch that becomes part of a graph: each replay fills the table anew."""
        warn_once(_CAPTURED)
        pinned = words.pin_memory()
        table = torch.empty_like(words, device=f"cuda:{device}")
        table.copy_(pinned, non_blocking=True)
        kernel(grid, [*values, table.data_ptr()])
        with self._lock:
            self._captured.append((table, memory.outlived(pinned), grid))

    def _tell_of_captured(self) -> None:
        """What the last replay of each graph left; raises LaunchError."""
        sites = self._for_gpu.sites
        for table, memory, grid in tuple(self._captured):
            words = table[: 8 * (1 + len(sites))]
            found = found_in(words.tolist(), sites)
            words.view(-1, 8)[1:, 2] = 0  # told once a replay
            tell(found, memory, grid)

    def _kernel_on(self, device: int, specialization: tuple[int, ...]) -> DeviceKernel:
        with self._lock:
            kernel = self._kernels.get((device, specialization))
            if kernel is None:
                made, kinds = with_table(self._for_gpu, specialization)
                kernel = compiled_on(made, kinds, self._config, device, self._text.source)
                self._kernels[device, specialization] = kernel
            return kernel


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
    "as nobody can wait for a launch while a graph is captured"
)
