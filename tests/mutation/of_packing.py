"""Mutants of products on packed copies: what may be copied, what a launch is asked, what the copy holds."""

from __future__ import annotations

from tests.mutation.mutant import Mutant

__all__ = ["PACKING"]

_TEXT = "pytriton/passes/speed/packing.py"
_LAUNCH = "pytriton/runtime/sweep/copies.py"

PACKING = (
    Mutant(
        "copy-whatever-else-is-loaded",
        _TEXT,
        "an operand whose mask gives another number than 0 is read from a copy that ends in zeros",
        "if load.mask is None or not _is_zero(load.other):",
        "if load.mask is None:",
    ),
    Mutant(
        "copy-minus-zero",
        _TEXT,
        "an operand whose mask gives -0 is read from a copy that ends in 0",
        "return value is not None and value == 0 and math.copysign(1, value) == 1",
        "return value is not None and value == 0",
    ),
    Mutant(
        "copy-of-what-others-read",
        _TEXT,
        "a parameter that is used twice becomes a copy for both",
        "if tile is None or not _copied(tile.base.type) or self._uses[tile.base] != 1:",
        "if tile is None or not _copied(tile.base.type):",
    ),
    Mutant(
        "copy-read-after-its-loop",
        _TEXT,
        "pointers that are used again after the loop point into a copy",
        "if self._uses[symbol] != len(loads) + 1 or self._pointers.assignments[symbol] != 2:",
        "if self._pointers.assignments[symbol] != 2:",
    ),
    Mutant(
        "copy-under-another-bound",
        _TEXT,
        "the mask along the loop's axis need not end where the loop does",
        "if set(first) != {0, 1} or not _equal(first[along], limit):",
        "if set(first) != {0, 1}:",
    ),
    Mutant(
        "copy-by-the-first-mask",
        _TEXT,
        "a second load under other bounds reads the copy of the first",
        "if first is None or any(each is None or not _alike(each, first) for each in bounds):",
        "if first is None:",
    ),
    Mutant(
        "copy-of-the-last-bound",
        _TEXT,
        "of two bounds on one axis only the last counts",
        "if bound is None or bound[0] in found:",
        "if bound is None:",
    ),
    Mutant(
        "copy-a-row-too-narrow",
        _TEXT,
        "rows of a copy end within a step of the loop",
        "return max(ROW, abs(integer(operand.loop.step)) if operand.along else 0)",
        "return ROW",
    ),
    Mutant(
        "copy-despite-a-store",
        _LAUNCH,
        "an operand that the launch also writes is read from a copy",
        "return copies if apart and ragged and all(start > 0 for start, _ in reads) else None",
        "return copies if ragged and all(start > 0 for start, _ in reads) else None",
    ),
    Mutant(
        "copy-what-is-aligned",
        _LAUNCH,
        "operands are copied although all their rows begin at 16 bytes",
        "return copies if apart and ragged and all(start > 0 for start, _ in reads) else None",
        "return copies if apart and all(start > 0 for start, _ in reads) else None",
    ),
    Mutant(
        "copy-negative-indices",
        _LAUNCH,
        "indices below 0 are taken to lie in the copy",
        "if interval is None or interval[0] < 0:",
        "if interval is None:",
    ),
    Mutant(
        "copy-though-it-wraps",
        _LAUNCH,
        "a launch whose offsets wrap, which reads elsewhere, reads a copy",
        "fits = min(counts) > 0 <= min(strides) and reach.bytes // reach.width <= _MAX_INT",
        "fits = min(counts) > 0 <= min(strides)",
    ),
    Mutant(
        "copy-lower-than-a-step",
        _LAUNCH,
        "a copy ends within the last step of a loop along its rows",
        "height = reach.rows if not rows.step else _raised(reach.rows, rows.step)",
        "height = reach.rows",
    ),
)
