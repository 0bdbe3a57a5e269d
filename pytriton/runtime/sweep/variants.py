"""Points that tuning adds to a user's sweep of its own accord.

What a text leaves open and what changes no result: how many stages a loop is pipelined in, the order in which the
programs of a launch start, whether tiles are loaded through tensor descriptors, and whether operands are copied
first. They never show in ``opt``.

Copies are tried of all of the user's points, where rows are ragged and operands large: other tiles are good then.
The rest is tried one after the other. First stages, on the best six of the user's points: how many are good depends
on the tile, and a point that is 10 % behind with Triton's three may be the best with five. Then orders and
descriptors, on the best three of all these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from pytriton.passes.speed.swizzle import GROUP
from pytriton.pipeline import Translation
from pytriton.runtime.options.defines import Config

__all__ = [
    *("BEST_FEW", "HOPELESS", "LEAST_COPIED", "STAGED"),
    *("copied", "fastest", "ordered", "own_points", "staged", "users_point"),
]

_T = TypeVar("_T")

STAGED: Final = 6  # so many of the user's points are tried with other stages
BEST_FEW: Final = 3  # so many of these, and of what their stages made of them, in other orders
# Bytes: the host needs 60 us to launch copies, in which small products are done.
LEAST_COPIED: Final = 1 << 23
HOPELESS: Final = 1.3  # times the best: no variant makes up for that
_LONGEST_FIRST: Final = -16  # programs along axis 1 that do so where those at the end of axis 0 come first


def copied(config: Config, translation: Translation) -> list[Config]:
    """The same point on copies of its operands (sweep/packing.py says for which launches)."""
    return [replace(config, packed=True)] if translation.traits.packing is not None else []


def staged(config: Config, translation: Translation) -> list[Config]:
    """The same point with other stages, if the user left them open."""
    counts = translation.traits.stages
    return [replace(config, num_stages=count) for count in counts] if config.num_stages is None else []


def ordered(config: Config, translation: Translation, describes: bool) -> list[Config]:
    """The same point with its programs in another order, and with descriptors.

    ``describes``: whether the GPU has them (launch/descriptors.py says which).
    """
    traits = translation.traits
    groups = (0, *([GROUP] if traits.swizzles else []), *([_LONGEST_FIRST] if traits.grows else []))
    points = [replace(config, swizzle=group) for group in groups[1:]]
    if describes and traits.pipelined and not config.packed:
        points += [replace(config, swizzle=group, descriptors=True) for group in groups]
    return points


def own_points(config: Config, translation: Translation, describes: bool = False) -> list[Config]:
    """All that may be tried of one point of the user's sweep, less the point itself."""
    copies = copied(config, translation)
    variants = [point for base in (config, *copies) for point in staged(base, translation)]
    bases = (config, *copies, *variants)
    orders = [point for base in bases for point in ordered(base, translation, describes)]
    return [*copies, *variants, *orders]


def fastest(times: Mapping[_T, float], count: int, within: float = math.inf) -> Sequence[_T]:
    """The best few of what was measured (milliseconds), those that take at most so many times the best."""
    few = sorted(times, key=times.__getitem__)[:count]
    return [point for point in few if times[point] <= within * times[few[0]]]


def users_point(config: Config, users: Sequence[Config]) -> Config:
    """The point of the user's sweep of which one of these is a variant."""
    plain = replace(config, swizzle=0, descriptors=False, packed=False)
    return plain if plain in users else replace(plain, num_stages=None)
