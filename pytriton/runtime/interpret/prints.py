"""``printf`` on the CPU: C's text on Python's standard output, program after program.

A block prints element after element, row by row; what else the call prints is broadcast to it, as operands are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy

from pytriton.lang.tree.formats import FLOATS, Conversion, Printed, pieces
from pytriton.runtime.interpret.arrays import array_of

__all__ = ["Printer"]

_PYTHONS: Final = {"u": "d", "i": "d"}  # conversions that Python spells otherwise


class Printer:
    """The calls of ``printf`` of one kernel; ``functions`` stand in for its generated code's."""

    def __init__(self, prints: Sequence[Printed]) -> None:
        self._prints = [(*pieces(printed.text), tuple(map(int, printed.shape))) for printed in prints]
        self.functions: Mapping[str, Callable[..., Any]] = {"printed": self._print}

    def _print(self, number: int, *values: Any) -> None:
        conversions, after, shape = self._prints[number]
        columns = [numpy.broadcast_to(array_of(value, shape), shape).reshape(-1) for value in values]
        rows = zip(*columns, strict=True) if columns else [()]
        for row in rows:
            parts = [
                part
                for conversion, value in zip(conversions, row, strict=True)
                for part in (conversion.before, _formatted(conversion, value))
            ]
            sys.stdout.write("".join(parts) + after)


def _formatted(conversion: Conversion, value: Any) -> str:
    """One value as C prints it."""
    letter = conversion.letter
    shown: Any = float(value) if letter in FLOATS else int(value)
    if letter in "xXo":
        shown &= (1 << 8 * value.dtype.itemsize) - 1
    if letter == "c":
        shown &= 255
    flags = conversion.flags + "#" * (letter == "p")
    python = "x" if letter == "p" else _PYTHONS.get(letter, letter)
    form = f"%{flags}{conversion.width}{conversion.precision}{python}"
    return form % shown  # type: ignore[no-any-return]
