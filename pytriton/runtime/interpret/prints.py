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

_BASES: Final = {"o": "o", "x": "x", "X": "X", "p": "x"}


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
    """One value as C prints it. Python's ``%`` is C's for characters and finite floats."""
    letter, flags = conversion.letter, conversion.flags
    if letter in FLOATS or letter == "c":
        shown = float(value) if letter in FLOATS else int(value) & 255
        kept = flags if numpy.isfinite(shown) else flags.replace("0", "")
        return f"%{kept}{conversion.width}{conversion.precision}{letter}" % shown
    number, sign = int(value), ""
    if letter in "di":
        sign = "-" if number < 0 else "+" if "+" in flags else " " * (" " in flags)
    else:
        number &= (1 << 8 * value.dtype.itemsize) - 1
    least = int(conversion.precision[1:] or 0) if conversion.precision else 1
    digits = format(abs(number), _BASES.get(letter, "d")).zfill(least) if number or least else ""
    if letter == "o" and "#" in flags and digits[:1] != "0":
        digits = "0" + digits
    if letter == "p" or (letter in "xX" and "#" in flags and number):
        sign = "0X" if letter == "X" else "0x"
    width = int(conversion.width or 0)
    if "0" in flags and "-" not in flags and not conversion.precision:
        digits = digits.zfill(width - len(sign))
    return (sign + digits).ljust(width) if "-" in flags else (sign + digits).rjust(width)
