"""A kernel in C on CPU memory: its programs, spread over threads.

Input: a ``NativeModule`` that was compiled; then a grid, and the values of a launch (addresses and numbers), as for
``Interpreted.run``. Chunks of programs are taken in order, so that a program may wait for one with a lower number.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy
import torch

from pytriton.lang.tree.types import BFLOAT16, BOOL, HALF, PointerType, ScalarType
from pytriton.native.c_module import NativeModule
from pytriton.runtime.interpret.patches import bits_of
from pytriton.runtime.native.c_compiler import NoLibrary, build
from pytriton.runtime.native.checks import NativeChecks

THREADS_VARIABLE: Final = "PYTRITON_THREADS"
MAX_OWN_STACK: Final = 1 << 18  # bytes of arrays for which the caller's own thread is large enough
MIN_PROGRAMS: Final = 4  # of a thread
_SPARE_STACK: Final = 1 << 20
_CHUNKS_A_THREAD: Final = 8


def thread_count() -> int:
    """How many threads a launch uses."""
    named = os.environ.get(THREADS_VARIABLE, "")
    return max(1, int(named)) if named.isdecimal() else torch.get_num_threads()


class Native:
    """One kernel, ready to run on CPU memory."""

    def __init__(self, module: NativeModule, library: ctypes.CDLL) -> None:
        self.module = module
        self._entry = library[module.entry]
        self._entry.restype = None
        checks = [ctypes.c_void_p] if module.sites else []
        self._entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, *checks]
        fields = [(f"v{place}", _field(type_)) for place, type_ in enumerate(module.parameters)]
        self._arguments = type(
            "_Arguments", (ctypes.Structure,), {"_fields_": [*fields, ("end", ctypes.c_char)]}
        )

    def run(
        self, grid: tuple[int, int, int], values: Sequence[Any], checks: NativeChecks | None = None
    ) -> None:
        """Run all programs of the grid. ``checks``: of checked code."""
        types = self.module.parameters
        packed = [_packed(type_, value) for type_, value in zip(types, values, strict=True)]
        arguments = self._arguments(*packed)
        counts = (ctypes.c_int32 * 3)(*grid)
        total = grid[0] * grid[1] * grid[2]
        threads = min(thread_count(), -(-total // MIN_PROGRAMS))
        small = self.module.stack_bytes <= MAX_OWN_STACK
        size = max(1, -(-total // (threads * _CHUNKS_A_THREAD)))
        starts = iter(range(0, total, size))
        lock = threading.Lock()

        def work() -> None:
            more = [] if checks is None else [checks.thread()]
            while True:
                with lock:
                    start = next(starts, None)
                if start is None:
                    return
                end = min(start + size, total)
                self._entry(ctypes.addressof(arguments), ctypes.addressof(counts), start, end, *more)

        if threads <= 1 and small:
            work()
            return
        helpers = list(_threads(work, threads - 1 if small else max(1, threads), self.module.stack_bytes))
        if small:
            work()
        for helper in helpers:
            helper.join()


_starting: Final = threading.Lock()


def _threads(work: Any, number: int, stack_bytes: int) -> Iterator[threading.Thread]:
    """Started threads with a stack of that size and some more."""
    with _starting:
        page = 1 << 16
        before = threading.stack_size((stack_bytes + _SPARE_STACK + page - 1) // page * page)
        try:
            for _ in itertools.repeat(None, number):
                thread = threading.Thread(target=work, daemon=True)
                thread.start()
                yield thread
        finally:
            threading.stack_size(before)


def native(module: NativeModule, *flags: str) -> Native | NoLibrary:
    """A module, compiled and loaded."""
    library = build(module.entry, module.text, *flags)
    return library if isinstance(library, NoLibrary) else Native(module, library)


_INTEGERS: Final = {
    **{("int", bits): getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
    **{("uint", bits): getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
}


def _field(type_: ScalarType | PointerType) -> Any:
    if isinstance(type_, PointerType):
        return ctypes.c_void_p
    if type_ == BOOL:
        return ctypes.c_uint8
    if type_.is_float:
        return {16: ctypes.c_uint16, 32: ctypes.c_float, 64: ctypes.c_double}[type_.bits]
    return _INTEGERS[type_.kind, type_.bits]


def _packed(type_: ScalarType | PointerType, value: Any) -> Any:
    """The value of a field."""
    if isinstance(type_, PointerType):
        return int(value) or None
    if type_ == HALF:
        return int(numpy.array([value], numpy.float16).view(numpy.uint16)[0])
    if type_ == BFLOAT16:
        return int(bits_of([value])[0])
    if type_ == BOOL:
        return int(bool(value))
    return float(value) if type_.is_float else int(value)
