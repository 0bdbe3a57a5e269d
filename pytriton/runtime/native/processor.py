"""A kernel in C on CPU memory: its programs, spread over threads.

Input: a ``NativeModule`` that was compiled; then a grid, and the values of a launch (addresses and numbers), as for
``Interpreted.run``.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy
import torch

from pytriton.lang.tree.types import BFLOAT16, PointerType, ScalarType
from pytriton.native.c_module import NativeModule
from pytriton.runtime.bfloat16 import bits_of
from pytriton.runtime.locks import Lock
from pytriton.runtime.native.c_compiler import FAST, NoLibrary, build, is_built
from pytriton.runtime.native.checks import NativeChecks
from pytriton.runtime.native.spread import spread
from pytriton.runtime.native.turns import Turns

THREADS_VARIABLE: Final = "PYTRITON_THREADS"
MIN_PROGRAMS: Final = 4  # of a thread
COMPILATION: Final = 0.2  # seconds, about, of fast code

# Launches of several threads run one after another, as on the default stream of a GPU: old programs share locks and
# counters between launches.
_ONE_AT_A_TIME: Final = Lock()


def thread_count() -> int:
    """How many threads a launch uses."""
    named = os.environ.get(THREADS_VARIABLE, "")
    return max(1, int(named)) if named.isdecimal() else torch.get_num_threads()


class Native:
    """One kernel, ready to run on CPU memory: at first quickly compiled code, and fast code once launches took as
    long as it takes to compile that. Both give the same bits, so they may change in the middle of a launch."""

    def __init__(self, module: NativeModule, library: ctypes.CDLL, *, is_fast: bool = True) -> None:
        self.module = module
        self._entry = self._entry_of(library)
        self._is_fast = is_fast
        self._seconds = 0.0  # of all launches, in quickly compiled code
        self._lock = Lock()
        fields = [(f"v{place}", _field(type_)) for place, type_ in enumerate(module.parameters)]
        self._arguments = numpy.dtype([*fields, ("end", "u1")], align=True)

    def _entry_of(self, library: ctypes.CDLL) -> Any:
        entry = library[self.module.entry]
        entry.restype = None
        more = [ctypes.c_void_p] * (bool(self.module.sites) + bool(self.module.loops))
        entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, *more]
        return entry

    def run(
        self, grid: tuple[int, int, int], values: Sequence[Any], checks: NativeChecks | None = None
    ) -> None:
        """Run all programs of the grid; raises LaunchError where one waits forever. ``checks``: of checked code."""
        rows = zip(self.module.parameters, values, strict=True)
        packed = [bits_of([value])[0] if type_ == BFLOAT16 else value for type_, value in rows]
        with numpy.errstate(over="ignore"):
            arguments = numpy.array((*packed, 0), self._arguments)
        counts = (ctypes.c_int32 * 3)(*grid)
        total = math.prod(grid)
        blocks: dict[int, list[int]] = {}  # of checked code, what each thread is given
        turns = Turns() if self.module.loops else None
        shared = [] if turns is None else [ctypes.addressof(turns)]

        def run(first: int, last: int) -> None:
            thread, start = threading.get_ident(), time.perf_counter()
            if thread not in blocks:
                blocks[thread] = [] if checks is None else [checks.thread()]
            own = [*blocks[thread], *shared]
            self._entry(arguments.ctypes.data, ctypes.addressof(counts), first, last, *own)
            if not self._is_fast:
                self._took(time.perf_counter() - start)

        threads = min(thread_count(), -(-total // MIN_PROGRAMS))
        name = self.module.entry.removesuffix("_programs")
        with _ONE_AT_A_TIME:
            try:
                spread(
                    run, name, total, threads, self.module.stack_bytes, None if turns is None else turns.end
                )
            finally:
                if checks is not None:
                    checks.collect()
        if turns is not None:
            turns.check(self.module, grid, None if checks is None else checks.memory)

    def _took(self, seconds: float) -> None:
        """Count the time of quickly compiled code, and replace it once that is worth a compilation."""
        with self._lock:
            self._seconds += seconds
            if self._is_fast or self._seconds < COMPILATION:
                return
            self._is_fast = True
        library = build(self.module.entry, self.module.text, FAST)
        if isinstance(library, ctypes.CDLL):
            self._entry = self._entry_of(library)


def native(module: NativeModule, *flags: str) -> Native | NoLibrary:
    """A module, compiled and loaded; with ``flags``, always by these."""
    chosen_flags = flags or (FAST,) * is_built(module.entry, module.text, FAST)
    library = build(module.entry, module.text, *chosen_flags)
    return library if isinstance(library, NoLibrary) else Native(module, library, is_fast=bool(chosen_flags))


def _field(type_: ScalarType | PointerType) -> str:
    """The type of a field in NumPy."""
    if isinstance(type_, PointerType):
        return "uint64"
    return "uint16" if type_ == BFLOAT16 else type_.torch
