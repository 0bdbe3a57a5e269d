"""Points that tuning adds to a user's sweep of its own accord (python-api.md, section 1).

What a text leaves open and what changes no result: how many stages a loop is pipelined in, the order in which the
programs of a launch start, and whether tiles are loaded through tensor descriptors. They are tried on the best few
of the user's points, and never show in ``opt``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from pytriton.pipeline import Translation
from pytriton.runtime.options.defines import Config

__all__ = ["best_few", "own_points", "users_point"]

_T = TypeVar("_T")

_REFINED: Final = 3  # so many of the user's points
_STAGES: Final = (2, 4, 5)  # Triton's default is 3, where it pipelines a loop of its own accord
_STREAM_STAGES: Final = (3, 4)  # and none where it does not: a loop without a product
_GROUP: Final = 8  # programs along axis 0 that start together


def own_points(config: Config, translation: Translation, describes: bool = False) -> tuple[Config, ...]:
    """The variants of one point of the user's sweep, less the point itself.

    ``describes``: whether tensor descriptors are to be tried (launch/descriptors.py says on which GPUs).
    """
    stages: tuple[int | None, ...] = (config.num_stages,)
    if config.num_stages is None and translation.traits.pipelined:
        stages += _STAGES
    elif config.num_stages is None and translation.traits.streams:
        stages += _STREAM_STAGES
    groups = (0, _GROUP) if translation.traits.swizzles else (0,)
    points = [replace(config, num_stages=count, swizzle=group) for group in groups for count in stages]
    if describes:
        points += [replace(config, swizzle=group, descriptors=True) for group in groups]
    return tuple(point for point in points if point != config)


def best_few(times: Mapping[_T, float]) -> Sequence[_T]:
    """The fastest of what was measured (milliseconds)."""
    return sorted(times, key=times.__getitem__)[:_REFINED]


def users_point(config: Config, users: Sequence[Config]) -> Config:
    """The point of the user's sweep of which one of these is a variant."""
    plain = replace(config, swizzle=0, descriptors=False)
    return plain if plain in users else replace(plain, num_stages=None)
