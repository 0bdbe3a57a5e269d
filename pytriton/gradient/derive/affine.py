"""Offsets in numbers: sums of multiples of places, programs and iterations, each from 0 to a known end.

Such sums differ where, taken by growing step, each step is larger than the range of all before it, as digits are.
They are just 0 to n - 1 where each step is the number of all sums before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytriton.frozen import record, replace
from pytriton.gradient.derive.graph import Loop
from pytriton.passes.analysis.affine import Affine

# ("axis", 0), ("program", 1), ("iteration", loop), ("quotient" or "rest", axis, divisor)
Key = tuple[Any, ...]


@record
class Touched:
    """One access: where, under which conditions (each affine is at most 0), in which loops. ``exact``: whether
    these conditions are all that there are.
    """

    offset: Affine | None
    shape: tuple[int, ...]
    bounds: tuple[Affine, ...]
    loops: tuple[Loop, ...]
    exact: bool


def moved(affine: Affine, axes: Mapping[int, int | None]) -> Affine:
    """Axes numbered anew; what goes to None has size 1."""
    terms = {key: step for key, step in affine.terms.items() if key[0] != "axis"}
    for key, step in affine.terms.items():
        to = axes[key[1]] if key[0] == "axis" else None
        if to is not None:
            terms["axis", to] = step
    return replace(affine, terms=terms)


def shorten(ranges: dict[Key, int], bound: Affine) -> None:
    """Ranges as a bound allows them: what is beyond is not touched."""
    if not bound.terms.keys() <= ranges.keys():
        return
    least = {key: min(0, step * (ranges[key] - 1)) for key, step in bound.terms.items()}
    for key, step in bound.terms.items():
        if step > 0:
            rest = bound.low + sum(least.values()) - least[key]
            ranges[key] = min(ranges[key], max(0, -rest // step + 1))


def distinct(steps: Mapping[Key, int], ranges: Mapping[Key, int], bounds: Sequence[Affine]) -> bool:
    """Whether the sums differ: each step is larger than the range of all smaller ones."""
    extents = _extents(steps, ranges, bounds)
    return all(step > extent for step, extent in zip(sorted(map(abs, steps.values())), extents, strict=False))


def reach(steps: Mapping[Key, int], ranges: Mapping[Key, int], bounds: Sequence[Affine]) -> int | None:
    """The largest sum; None if some are negative."""
    return None if any(step < 0 for step in steps.values()) else _extents(steps, ranges, bounds)[-1]


def _extents(steps: Mapping[Key, int], ranges: Mapping[Key, int], bounds: Sequence[Affine]) -> list[int]:
    """The ranges of no step, of the smallest, of the two smallest, ..."""
    done: list[Key] = []
    extents = [0]
    for key in sorted(steps, key=lambda key: abs(steps[key])):
        done.append(key)
        extent = extents[-1] + abs(steps[key]) * (ranges[key] - 1)
        for bound in bounds:
            limited = _limited(bound, {key: steps[key] for key in done}, ranges)
            extent = extent if limited is None else min(extent, limited)
        extents.append(extent)
    return extents


def within(bound: Affine, ranges: Mapping[Key, int]) -> Affine | None:
    """A bound as far as it limits these ranges; None where all is inside."""
    steps = {key: step for key, step in bound.terms.items() if key in ranges}
    largest = bound.low + sum(max(0, step * (ranges[key] - 1)) for key, step in steps.items())
    return replace(bound, terms=steps) if largest > 0 else None


def dense(steps: Mapping[Key, int], ranges: Mapping[Key, int], bounds: list[Affine]) -> int | None:
    """Each step begins where all smaller ones end, and a bound ends a run of them."""
    extent, run = 1, []
    for key in sorted(ranges, key=lambda key: steps.get(key, 0)):
        if steps.get(key, 0) != extent:
            return None
        run.append(key)
        extent *= ranges[key]
        for bound in list(bounds):
            at = len(run) - len(bound.terms)
            unit = steps[run[at]] if bound.terms and at >= 0 else 0
            if unit and bound.terms == {each: steps[each] // unit for each in run[at:]}:
                extent = min(extent, unit * max(0, 1 - bound.low))
                bounds.remove(bound)
                run = []
                break
    return None if bounds else extent


def _limited(bound: Affine, steps: Mapping[Key, int], ranges: Mapping[Key, int]) -> int | None:
    """The range of a sum that is a multiple of what a bound bounds."""
    inside = {key: step for key, step in bound.terms.items() if ranges.get(key, 2) > 1}
    if inside.keys() != steps.keys():
        return None
    factors = {steps[key] / inside[key] for key in steps}
    if len(factors) != 1 or (factor := factors.pop()) <= 0 or factor != int(factor):
        return None
    least = sum(min(0, step * (ranges[key] - 1)) for key, step in steps.items())
    return max(0, int(factor) * -bound.low - least)
