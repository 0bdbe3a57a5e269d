"""Points of a sweep by the settings in which they differ: ``TM=128 num_warps=8``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Final

from pytriton.runtime.options.defines import Config

__all__ = ["UNNAMED", "labels", "settings_of", "varied_in"]

UNNAMED: Final = "<kernel>"  # what a text is called that has no name


def labels(points: Iterable[Config]) -> dict[Config, str]:
    """A name for each point, no two alike; a single point is called by its defines."""
    settings = {point: settings_of(point) for point in points}
    varied = varied_in(settings.values())
    return {
        point: " ".join(
            f"{name}={each[name]}" for name in varied or point.defines if each.get(name) is not None
        )
        or "the only config"
        for point, each in settings.items()
    }


def varied_in(settings: Collection[Mapping[str, object]]) -> list[str]:
    """The names by which these differ."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if len({repr(each.get(name)) for each in settings}) > 1]


def settings_of(point: Config) -> dict[str, object]:
    """All that a point says, by name."""
    own = {field.name: getattr(point, field.name) for field in fields(point) if field.name != "defines"}
    return {**point.defines, **own}
