"""The passes of a backward: one or several kernels, chosen by what a launch reads once.

How the gradient of a load gets to memory:

    store    if each element is read once: stored. Further loads of the same elements, in the same program, are
             added to what it has stored
    add      added to what an earlier pass stored, if each element is read once by this load
    sum      if many programs read the same elements: added up by a loop over these programs, then stored
    atomic   else: added by atomics, after what other passes stored

So an input that is read at two places, as a row and at one index, gets a row stored in the first pass and one
element added in the second.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from typing import Literal as Choice

from pytriton.frozen import record, replace
from pytriton.gradient.derive.access import Accesses, Touched
from pytriton.gradient.derive.forward import Forward
from pytriton.gradient.derive.graph import every
from pytriton.gradient.derive.loops import loops_of
from pytriton.lang.tree.typed import Symbol

Sizes = tuple[int, int, int]
Way = Choice["store", "add", "sum", "atomic"]
MAX_PLAIN_PASSES: Final = 3  # for one input; beyond, atomics cost less than computing all again


class Unwalkable(Exception):
    """No loop can run over the programs that read by the loads whose gradients are sums."""

    def __init__(self, ways: Iterable[tuple[int, Way]]) -> None:
        self.loads = [number for number, way in ways if way == "sum"]
        assert self.loads


@record
class BackwardPass:
    """One kernel. ``ways``: of loads, by number.

    ``axis``: a loop runs over the forward's programs along it. Then ``loop`` is the number of the forward's
    loop whose iterations are programs along this axis; or, if there is none, fewer programs share the walk, and
    each program along the axis and along ``others`` leaves its own part of the sums. ``grows``: not all programs
    run all iterations of the loop.
    """

    ways: tuple[tuple[int, Way], ...]
    axis: int | None = None
    others: tuple[int, ...] = ()
    loop: int | None = None
    grows: bool = False

    @property
    def has_parts(self) -> bool:
        """Whether its sums are in parts, which another kernel adds up."""
        return self.axis is not None and self.loop is None


@record
class Point:
    """A config of a sweep in one launch: its kernel, its accesses, and the forward's grid."""

    forward: Forward
    accesses: Accesses
    grid: Sizes

    def touched(self, number: int) -> Touched:
        """Where a load reads."""
        return self.accesses.loads[self.forward.loads[number]]

    def loop(self, number: int) -> int | None:
        """The number of the only loop that a load is in, if its iterations may be programs."""
        loops, outer = self.touched(number).loops, loops_of(self.forward.items)
        single = len(loops) == 1 and loops[0] in outer and self.accesses.at_most(loops[0]) is not None
        return outer.index(loops[0]) if single else None

    def grows(self, number: int) -> bool:
        """Whether not all programs run the loop that a load is in as often."""
        return any(self.accesses.count(loop) is None for loop in self.touched(number).loops)

    def iterations(self, loop: int) -> int | None:
        """How often one of all loops, by number, runs at most; None if unknown."""
        return self.accesses.at_most(loops_of(every(self.forward.items))[loop])

    def programs(self, at: BackwardPass, sharing: int) -> Sizes:
        """The grid of a pass; ``sharing``: how many programs share a walk over the forward's."""
        sizes = list(self.grid)
        if at.axis is not None and at.loop is not None:
            sizes[at.axis] = self.accesses.at_most(loops_of(self.forward.items)[at.loop]) or 0
        elif at.axis is not None:
            beside = math.prod(sizes) // sizes[at.axis]
            sizes[at.axis] = min(sizes[at.axis], -(-sharing // beside))
        x, y, z = sizes
        return x, y, z

    def parts(self, at: BackwardPass, sharing: int) -> int:
        """The number of parts of a sum."""
        sizes = self.programs(at, sharing)
        return math.prod(sizes[axis] for axis in (at.axis, *at.others) if axis is not None)

    def kept_otherwise(self) -> Point:
        """The same, with carried values saved for segments of iterations instead of for all, or the reverse."""
        return replace(self, forward=replace(self.forward, checkpoints=not self.forward.checkpoints))


@record
class ReadOnce:
    """Proof that no two programs, nor two iterations, read the same element by these loads."""

    numbers: tuple[int, ...]


def planned(
    points: Sequence[Point], whole: Collection[str], never: Collection[int]
) -> tuple[BackwardPass, ...]:
    """The passes for a launch, valid for every config of a sweep (with its grid).

    ``whole``: inputs that are dense, so that parts of their gradients can be stored side by side; ``never``:
    loads whose programs cannot be looped over.
    """
    forward = points[0].forward
    plain: list[dict[int, Way]] = []
    walks: dict[BackwardPass, dict[int, Way]] = {}  # by passes without ways
    for symbol in forward.inputs:
        numbers = forward.loads_of(symbol)
        groups, rest = _groups(points, numbers)
        walk = None
        if len(numbers) == len(rest) == 1 and rest[0] not in never:
            walk = _walk(points, rest[0])
        if walk is not None and (not walk.has_parts or symbol.name in whole):
            walks.setdefault(walk, {})[rest[0]] = "sum"
            continue
        ways = [_stored(group, at) for at, group in enumerate(groups)]
        ways += [dict.fromkeys(rest, "atomic")] if rest else []
        for at, way in enumerate(ways):
            plain += [{}] * (at + 1 - len(plain))
            plain[at] = {**plain[at], **way}
    shared = [walk for walk in walks if walk.has_parts]
    first = plainly = BackwardPass(())
    if shared and plain:  # computed in the first pass
        first = max(shared, key=lambda walk: len(walks[walk]))
        plain[0] = plain[0] | walks.pop(first)
    passes = [(plainly if at else first, ways) for at, ways in enumerate(plain)]
    passes += walks.items()
    return tuple(replace(plan, ways=tuple(sorted(ways.items()))) for plan, ways in passes)


def _stored(proof: ReadOnce, at: int) -> dict[int, Way]:
    """The gradients of loads are stored in the first pass, and added to that in others."""
    return dict.fromkeys(proof.numbers, "store" if at == 0 else "add")


def read_once(
    points: Sequence[Point], numbers: Sequence[int], without: Collection[int] = ()
) -> ReadOnce | None:
    """Proof for loads, by number: in every launch each reads an element once, and several read the same ones in the
    same program, or others. ``without``: axes that are looped over.
    """
    for point in points:
        touched = [*map(point.touched, numbers)]
        once = all(point.accesses.once(access, without) for access in touched)
        if not once or not point.accesses.meet_in_place(touched):
            return None
    return ReadOnce(tuple(numbers))


def _groups(points: Sequence[Point], numbers: Sequence[int]) -> tuple[list[ReadOnce], list[int]]:
    """Loads that read each element once, those of the same elements together; and the rest."""
    groups: list[ReadOnce] = []
    rest: list[int] = []
    for number in numbers:
        alone = read_once(points, [number])
        if alone is None:
            rest.append(number)
            continue
        for at, group in enumerate(groups):
            joined = read_once(points, [*group.numbers, number])
            if joined is not None:
                groups[at] = joined
                break
        else:
            groups.append(alone)
    return (groups, rest) if len(groups) <= MAX_PLAIN_PASSES else ([], list(numbers))


def _walk(points: Sequence[Point], number: int) -> BackwardPass | None:
    """How a loop can run over the programs that read the same elements: a pass without ways."""
    largest = [max(sizes) for sizes in zip(*(point.grid for point in points), strict=True)]
    everywhere = (point.accesses.absent(point.touched(number)) for point in points)
    absent = {axis for axis in frozenset.intersection(*everywhere) if largest[axis] > 1}
    if not absent or read_once(points, [number], absent) is None:
        return None
    axis = max(absent, key=lambda axis: (largest[axis], -axis))
    others = tuple(sorted(absent - {axis}))
    loops = {point.loop(number) for point in points}
    if not points[0].touched(number).loops:
        return BackwardPass((), axis, others)
    if others or len(loops) != 1 or None in loops:
        return None
    return BackwardPass((), axis, (), loops.pop(), any(point.grows(number) for point in points))


def added(forward: Forward, passes: Iterable[BackwardPass]) -> frozenset[Symbol]:
    """The inputs whose gradients are added up in memory, by several puts: in float, if they are half."""
    result: set[Symbol] = set()
    seen: set[Symbol] = set()
    for plan in passes:
        for number, way in plan.ways:
            symbol = forward.input_of(forward.loads[number])
            if symbol in seen or way == "atomic" or (way == "sum" and plan.has_parts):
                result.add(symbol)
            seen.add(symbol)
    return frozenset(result)


def cost(passes: Sequence[BackwardPass]) -> tuple[int, int, int]:
    """The sort key of plans: atomics, passes, sums."""
    ways = [way for plan in passes for _, way in plan.ways]
    return ways.count("atomic"), len(passes), ways.count("sum")
