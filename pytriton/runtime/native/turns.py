"""The tails of programs that may wait for each other run one by one (native/waits.py).

Input: a module with such loops. Output: what the threads of a launch share (``struct wait`` of
templates/native_library.c.j2); after the launch, the error of a program that waits forever.
"""

from __future__ import annotations

import ctypes

import numpy

from pytriton.emit.element_types import byte_count
from pytriton.native.c_module import NativeModule
from pytriton.runtime.checks.diagnostics import Stuck, program_of
from pytriton.runtime.launch.extents import Memory
from pytriton.runtime.native.checks import values_of
from pytriton.source import Span


class Turns(ctypes.Structure):
    """One launch: whose turn it is, and which program waits forever."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("turn", "changes", "program", "loop")),
        ("address", ctypes.c_void_p),
        ("type", ctypes.c_int64),
    ]

    def __init__(self) -> None:
        super().__init__(program=-1)

    def end(self) -> None:
        """No tail begins any more, and those that wait end."""
        self.turn = -1

    def check(self, module: NativeModule, grid: tuple[int, int, int], memory: Memory | None) -> None:
        """Raise LaunchError for a program that waits forever; memory is still what it read."""
        if self.program < 0:
            return
        element, address = module.reads[self.type], self.address or 0
        width = byte_count(element)
        bits = int.from_bytes(ctypes.string_at(address, width), "little")
        value = values_of(numpy.array([bits], numpy.uint64), element, width)[0]
        raise Stuck(program_of(self.program, grid), address, value, width).error(
            _line_of(module.loops[self.loop]), memory
        )


def _line_of(span: Span) -> Span:
    """The line on which a loop begins."""
    row = span.source.line(span.line)
    start = span.start - (span.source.position(span.start)[1] - 1)
    return Span(span.source, start + len(row) - len(row.lstrip()), start + len(row.rstrip()))
