"""The candidates that one set of defines means: each translated when it is first needed, and kept.

A point that cannot be translated, compiled or launched is *dropped*, with its reason; only if none is left
is that an error. Points that pytriton adds of its own (``variants.py``) become candidates like the user's,
but a grid is shown the user's point from which they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from pytriton.errors import CompileError, PytritonError, TuneError
from pytriton.pipeline import Translation
from pytriton.runtime.errors import headline
from pytriton.runtime.launch.arguments import Binder
from pytriton.runtime.options.defines import Config, Options
from pytriton.runtime.options.source_text import KernelText
from pytriton.runtime.sweep.candidate import Candidate
from pytriton.runtime.sweep.variants import own_points, users_point

__all__ = ["Sweep"]


class Sweep:
    """``first`` is the first point that can be translated; ``configs`` are the user's, each meaning once."""

    def __init__(self, text: KernelText, configs: Sequence[Config]) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can."""
        self.text = text
        self.dropped: dict[Config, PytritonError] = {}
        self._binders: dict[tuple[object, ...], Binder] = {}
        self._candidates: dict[Config, Candidate] = {}
        self.first = self._first_legal(configs)
        self.configs = _distinct(configs, self.first)
        self._candidates[self.first.config] = self.first

    def made(self, config: Config) -> Candidate:
        """The candidate of a point; raises CompileError. A grid sees one of pytriton's own as the user's."""
        if config not in self._candidates:
            made = Candidate(self.text, config, self._binder_for)
            if config not in self.configs:
                made.options = Options(users_point(config, self.configs))
            self._candidates[config] = made
        return self._candidates[config]

    def candidate(self, config: Config) -> Candidate | None:
        """The candidate of a point; None if it cannot be translated, so that it is dropped."""
        try:
            return self.made(config)
        except CompileError as error:
            self.dropped[config] = error
            return None

    def translated(self) -> list[Candidate]:
        """Every candidate of the user's that can be translated; the others are dropped."""
        for config in self.configs:
            if config not in self._candidates and config not in self.dropped:
                self.candidate(config)
        return [self._candidates[config] for config in self.configs if config in self._candidates]

    def all_translated(self) -> list[Candidate]:
        """The same; raises CompileError if one cannot be translated."""
        found = self.translated()
        if len(found) < len(self.configs):
            raise next(error for error in self.dropped.values() if isinstance(error, CompileError))
        return found

    def every_point(self) -> list[Config]:
        """The points of the user's sweep, and those that tuning may add on some GPU."""
        shape = self.first.translation
        describes = shape.traits.pipelined  # if they can be tried depends on the tiles, too
        every = (point for config in self.configs for point in own_points(config, shape, describes))
        return [*self.configs, *every]

    def shared_memory(self, device: int) -> dict[Config, int]:
        """Bytes of shared memory of those points that were compiled for a device."""
        found = {config: candidate.shared_memory(device) for config, candidate in self._candidates.items()}
        return {config: shared for config, shared in found.items() if shared is not None}

    def reasons(self) -> dict[Config, float | str]:
        """Why each dropped point was dropped, in a line."""
        return {config: str(error).split("\n")[0] for config, error in self.dropped.items()}

    def is_lasting(self, config: Config) -> bool:
        """Whether a point was dropped for a reason that holds in the next process, too: not a full disk."""
        error = self.dropped.get(config)
        return error is not None and not isinstance(error.__cause__, (OSError, MemoryError))

    def refuse_all(self) -> NoReturn:
        """Raise TuneError: nothing is left."""
        listed = "\n".join(f"  {config}: {why}" for config, why in self.reasons().items())
        raise TuneError(
            headline(f"no candidate of the sweep is left\n{listed}", "TC601", "try smaller tiles")
        )

    def _first_legal(self, configs: Sequence[Config]) -> Candidate:
        for config in configs:
            try:
                return Candidate(self.text, config, self._binder_for)
            except CompileError as error:
                self.dropped[config] = error
        if len({str(error) for error in self.dropped.values()}) == 1:
            raise self.dropped[configs[0]]  # what is wrong is not the sweep
        self.refuse_all()

    def _binder_for(self, translation: Translation) -> Binder:
        key = (translation.kernel, translation.parameters)
        if key not in self._binders:
            self._binders[key] = Binder(translation.kernel, translation.parameters)
        return self._binders[key]


def _distinct(configs: Sequence[Config], first: Candidate) -> tuple[Config, ...]:
    """The configs less those that differ only in defines that the text does not mention."""
    mentioned = first.translation.mentioned
    seen: dict[Config, Config] = {}
    for config in (first.config, *configs):
        shown = {name: value for name, value in config.defines.items() if name in mentioned}
        seen.setdefault(replace(config, defines=shown), config)
    order = {config: index for index, config in enumerate(configs)}
    return tuple(sorted(seen.values(), key=order.__getitem__))
