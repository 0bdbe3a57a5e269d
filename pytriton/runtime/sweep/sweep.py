"""The candidates that one set of defines means: each translated when it is first needed, and kept.

A point that cannot be translated, compiled or launched is *dropped*, with its reason; only if none is left
is that an error. Points that pytriton adds of its own (``variants.py``) become candidates like the user's,
but a grid is shown the user's point from which they come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from pytriton.source import Span

__all__ = ["Sweep"]


class Sweep:
    """``first`` is the first point that can be translated; ``configs`` are the user's, each meaning once."""

    def __init__(self, text: KernelText, configs: Sequence[Config]) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can."""
        self.text = text
        self.dropped: dict[Config, PytritonError] = {}
        self._binders: dict[tuple[object, ...], Binder] = {}
        self._candidates: dict[Config, Candidate] = {}
        self.configs = tuple(configs)
        self.first = self._first_legal()
        self.configs = _distinct(configs, self.first)

    def candidate(self, config: Config) -> Candidate:
        """The candidate of a point; raises CompileError. A grid sees one of pytriton's own as the user's."""
        if config not in self._candidates:
            candidate = Candidate(self.text, config, self._binder_for)
            if config not in self.configs:
                candidate.options = Options(users_point(config, self.configs))
            self._candidates[config] = candidate
        return self._candidates[config]

    def candidate_or_drop(self, config: Config) -> Candidate | None:
        """The candidate of a point; None if it cannot be translated, so that it is dropped."""
        try:
            return self.candidate(config)
        except CompileError as error:
            self.dropped[config] = error
            return None

    def translated(self) -> list[Candidate]:
        """Every candidate of the user's that can be translated; the others are dropped."""
        for config in self.configs:
            if config not in self._candidates and config not in self.dropped:
                self.candidate_or_drop(config)
        return [self._candidates[config] for config in self.configs if config in self._candidates]

    def all_translated(self) -> list[Candidate]:
        """The same; raises CompileError if one cannot be translated."""
        candidates = self.translated()
        if len(candidates) < len(self.configs):
            raise next(error for error in self.dropped.values() if isinstance(error, CompileError))
        return candidates

    def every_point(self) -> list[Config]:
        """The points of the user's sweep, and those that tuning may add on some GPU."""
        shape = self.first.translation  # if descriptors can be tried depends on the tiles, too
        own = (point for config in self.configs for point in own_points(config, shape, describes=True))
        return [*self.configs, *own]

    def shared_memory(self, device: int) -> dict[Config, int]:
        """Bytes of shared memory of those points that were compiled for a device."""
        every = list(self._candidates.items())  # other threads may add some
        needs = {config: candidate.shared_memory(device) for config, candidate in every}
        return {config: shared for config, shared in needs.items() if shared is not None}

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
        message = f"no variant of the sweep is left\n{listed}"
        raise TuneError(headline(message, "TC601", _cure(self.dropped.values())))

    def _first_legal(self) -> Candidate:
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


def _distinct(configs: Sequence[Config], first: Candidate) -> tuple[Config, ...]:
    """The configs less those that differ only in defines that the text does not mention."""
    mentioned = first.translation.mentioned
    seen: dict[Config, Config] = {}
    for config in (first.config, *configs):
        shown = {name: value for name, value in config.defines.items() if name in mentioned}
        seen.setdefault(replace(config, defines=shown), config)
    order = {config: index for index, config in enumerate(configs)}
    return tuple(sorted(seen.values(), key=order.__getitem__))


def _cure(errors: Collection[Exception]) -> str:
    """What to do where all points were dropped: assertions of the text are no matter of size."""
    first = [error.diagnostics[0] for error in errors if isinstance(error, CompileError)]
    if len(first) < len(errors) or any(diagnostic.code != "TC316" for diagnostic in first):
        return "try smaller tiles"
    conditions = dict.fromkeys(where.text for d in first if isinstance(where := d.where, Span))
    return f"give values for which the source's own {' and '.join(map(repr, conditions))} holds"
