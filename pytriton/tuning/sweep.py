"""The candidates that one set of defines means: each translated when it is first needed, and kept.

A config that cannot be translated, compiled or launched is *dropped*, with its reason; only if none is left
is that an error. Points that pytriton adds of its own become candidates like the user's,
but a grid is shown the user's config from which they come.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, NoReturn, TypeVar

from pytriton.errors import CompileError, PytritonError, TuneError
from pytriton.passes.speed.swizzle import GROUP
from pytriton.pipeline import Translation
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.arguments import Binder
from pytriton.runtime.options.defines import Config, Options
from pytriton.runtime.options.definition import KernelText
from pytriton.source import Span
from pytriton.tuning.translated_config import TranslatedConfig

# Points that tuning adds to a user's sweep of its own accord.
#
# What the source leaves open and what changes no result: how many stages a loop is pipelined in, the order in which
# the programs of a launch start, whether tiles are loaded through tensor descriptors, and whether operands are
# copied first. They never show in ``opt``.
#
# Copies are tried of all of the user's configs, where rows are ragged and operands large: other tiles are good
# then. The rest is tried one after the other. First stages, on the best six of the user's configs: how many are
# good depends on the tile, and a config that is 10 % behind with Triton's three may be the best with five. Then
# orders and descriptors, on the best three of all these.


_T = TypeVar("_T")

STAGED: Final = 6  # so many of the user's configs are tried with other stages
BEST_FEW: Final = 3  # so many of these, and of what their stages made of them, in other orders
# Bytes: the host needs 60 us to launch copies, in which small products are done.
LEAST_COPIED: Final = 1 << 23
HOPELESS: Final = 1.3  # times the best: no variant makes up for that
_LONGEST_FIRST: Final = -16  # programs along axis 1 that do so where those at the end of axis 0 come first


def copied(config: Config, translation: Translation) -> list[Config]:
    """The same config on copies of its operands (for which launches: tuning/copies.py)."""
    return [replace(config, packed=True)] if translation.traits.packing is not None else []


def staged(config: Config, translation: Translation) -> list[Config]:
    """The same config with other stages, if the user left them open."""
    counts = translation.traits.stages
    return [replace(config, num_stages=count) for count in counts] if config.num_stages is None else []


def ordered(config: Config, translation: Translation, describes: bool) -> list[Config]:
    """The same config with its programs in another order, and with descriptors.

    ``describes``: whether the GPU has them (which: launch/device.py).
    """
    traits = translation.traits
    groups = (0, *([GROUP] if traits.swizzles else []), *([_LONGEST_FIRST] if traits.grows else []))
    points = [replace(config, swizzle=group) for group in groups[1:]]
    if describes and traits.pipelined and not config.packed:
        points += [replace(config, swizzle=group, descriptors=True) for group in groups]
    return points


def own_points(config: Config, translation: Translation, describes: bool = False) -> list[Config]:
    """All that may be tried of one config of the user's sweep, less the config itself."""
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
    """The config of the user's sweep of which one of these is a variant."""
    plain = replace(config, swizzle=0, descriptors=False, packed=False)
    return plain if plain in users else replace(plain, num_stages=None)


class Sweep:
    """``first`` is the first config that can be translated; ``configs`` are the user's, each meaning once."""

    def __init__(self, text: KernelText, configs: Sequence[Config]) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can."""
        self.text = text
        self.dropped: dict[Config, PytritonError] = {}
        self._binders: dict[tuple[object, ...], Binder] = {}
        self._candidates: dict[Config, TranslatedConfig] = {}
        self.configs = tuple(configs)
        self.first = self._first_legal()
        self.configs = _distinct(configs, self.first)

    def candidate(self, config: Config) -> TranslatedConfig:
        """The candidate of a config; raises CompileError. A grid sees one of pytriton's own as the user's."""
        if config not in self._candidates:
            candidate = TranslatedConfig(self.text, config, self._binder_for)
            if config not in self.configs:
                candidate.options = Options(users_point(config, self.configs))
            self._candidates[config] = candidate
        return self._candidates[config]

    def candidate_or_drop(self, config: Config) -> TranslatedConfig | None:
        """The candidate of a config; None if it cannot be translated, so that it is dropped."""
        try:
            return self.candidate(config)
        except CompileError as error:
            self.dropped[config] = error
            return None

    def translated(self) -> list[TranslatedConfig]:
        """Every candidate of the user's that can be translated; the others are dropped."""
        for config in self.configs:
            if config not in self._candidates and config not in self.dropped:
                self.candidate_or_drop(config)
        return [self._candidates[config] for config in self.configs if config in self._candidates]

    def all_translated(self) -> list[TranslatedConfig]:
        """The same; raises CompileError if one cannot be translated."""
        candidates = self.translated()
        if len(candidates) < len(self.configs):
            raise next(error for error in self.dropped.values() if isinstance(error, CompileError))
        return candidates

    def every_point(self) -> list[Config]:
        """The configs of the user's sweep, and those that tuning may add on some GPU."""
        shape = self.first.translation  # if descriptors can be tried depends on the tiles, too
        own = (point for config in self.configs for point in own_points(config, shape, describes=True))
        return [*self.configs, *own]

    def reasons(self) -> dict[Config, float | str]:
        """Why each dropped config was dropped, in a line."""
        return {config: str(error).split("\n")[0] for config, error in self.dropped.items()}

    def is_lasting(self, config: Config) -> bool:
        """Whether a config was dropped for a reason that holds in the next process, too: not a full disk."""
        error = self.dropped.get(config)
        return error is not None and not isinstance(error.__cause__, (OSError, MemoryError))

    def refuse_all(self) -> NoReturn:
        """Raise TuneError: nothing is left."""
        listed = "\n".join(f"  {config}: {why}" for config, why in self.reasons().items())
        message = f"no variant of the sweep is left\n{listed}"
        raise refusal(message, "TC601", _cure(self.dropped.values()), TuneError)

    def _first_legal(self) -> TranslatedConfig:
        for config in self.configs:
            candidate = self.candidate_or_drop(config)
            if candidate is not None:
                return candidate
        if len({str(error) for error in self.dropped.values()}) == 1:
            raise self.dropped[self.configs[0]]  # what is wrong is not the sweep
        self.refuse_all()

    def _binder_for(self, translation: Translation) -> Binder:
        key = (translation.kernel, translation.parameters)
        if key not in self._binders:
            self._binders[key] = Binder(translation.kernel, translation.parameters)
        return self._binders[key]


def _distinct(configs: Sequence[Config], first: TranslatedConfig) -> tuple[Config, ...]:
    """The configs less those that differ only in defines that the text does not mention."""
    mentioned = first.translation.mentioned
    seen: dict[Config, Config] = {}
    for config in (first.config, *configs):
        shown = {name: value for name, value in config.defines.items() if name in mentioned}
        seen.setdefault(replace(config, defines=shown), config)
    order = {config: index for index, config in enumerate(configs)}
    return tuple(sorted(seen.values(), key=order.__getitem__))


def _cure(errors: Collection[Exception]) -> str:
    """What to do where all configs were dropped: assertions of the source do not depend on size."""
    first = [error.diagnostics[0] for error in errors if isinstance(error, CompileError)]
    if len(first) < len(errors) or any(diagnostic.code != "TC316" for diagnostic in first):
        return "try smaller tiles"
    conditions = dict.fromkeys(where.text for d in first if isinstance(where := d.where, Span))
    return f"give values for which the source's own {' and '.join(map(repr, conditions))} holds"
