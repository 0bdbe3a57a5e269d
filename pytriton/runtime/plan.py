"""The sweep that one set of defines means, and the way of a call through it.

A kernel object makes one plan for each set of defines, ``num_warps`` and ``num_stages`` that it is called
with, and keeps it. A call on a known plan binds its arguments, picks the candidate (the only one, or the one
that was tuned for these argument values), evaluates the grid and launches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from pytriton.lang.types import PointerType, ScalarType
from pytriton.runtime.arguments import Bound
from pytriton.runtime.candidate import CPU, Candidate
from pytriton.runtime.choose import Chooser, PlanSettings, grid_of, written_by
from pytriton.runtime.constants import Constants
from pytriton.runtime.options import Config
from pytriton.runtime.origin import warn_once
from pytriton.runtime.refusals import refusal
from pytriton.runtime.sweep import Sweep
from pytriton.runtime.text import KernelText
from pytriton.runtime.tune import Launch, bench

__all__ = ["Plan", "PlanSettings"]


class Plan:
    """All candidates for one set of defines, and which of them serves a call."""

    def __init__(
        self,
        text: KernelText,
        configs: Sequence[Config],
        settings: PlanSettings,
        constants: Constants | None = None,
    ) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can."""
        self._constants = constants or Constants()
        self._settings = settings
        self._sweep = Sweep(text, configs)
        self.first = self._sweep.first
        self.configs = self._sweep.configs
        for warning in self.first.translation.warnings:
            warn_once(warning.render())
        self._key_positions = self._positions_of_key()
        self._chooser = Chooser(self._sweep, settings, self._constants, self._key_positions, self._bind)
        self._only = self._chooser.only
        self._best = self._chooser.known

    def call(self, arguments: Sequence[Any], grid: Any, repetitions: int = 0) -> int | None:
        """Launch once; with ``repetitions`` also measure, and give the best in nanoseconds."""
        values, facts, device = self._bind(self.first, arguments)
        if device is None:
            device = self._device_without_tensors()
        candidate = self._only
        if candidate is None:
            key = (device, *(values[position] for position in self._key_positions))
            candidate = self._best.get(key) or self._chooser.choose(key, device, arguments, grid)
            if candidate is None:
                return None
            if candidate.binder is not self.first.binder:
                values, facts, _ = self._bind(candidate, arguments)
        sizes = grid_of(candidate, grid)
        if sizes is None:
            return None
        if repetitions:
            launch = Launch(candidate, device, sizes, values, facts)
            return bench(launch, self._chooser.save_written([candidate], arguments, device), repetitions)
        candidate.launch(device, sizes, values, facts)
        return None

    @property
    def chosen(self) -> Candidate:
        """What the last sweep chose; the first candidate where nothing was chosen yet."""
        best = self._chooser.best_config
        return self.first if best is None else self._sweep.made(best)

    @property
    def best_config(self) -> Config | None:
        """The config of that; None before anything was chosen."""
        return self._chooser.best_config

    @property
    def timings(self) -> Mapping[Config, float | str]:
        """Each config that was tried: its milliseconds, or the reason why it has none."""
        return self._chooser.timings

    def written(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments through which the first candidate writes."""
        return written_by([self.first], arguments)

    @cached_property
    def written_positions(self) -> tuple[int, ...]:
        """Where the parameters stand through which some candidate writes; constant buffers are none."""
        names = {name for candidate in self._sweep.translated() for name in candidate.translation.writes}
        own = self.first.binder.own.parameters
        return tuple(at for at, parameter in enumerate(own) if parameter.name in names)

    def every_candidate(self) -> list[Candidate]:
        """All candidates; raises CompileError if one cannot be translated."""
        return self._sweep.all_translated()

    def _positions_of_key(self) -> tuple[int, ...]:
        """Which arguments' values call for new tuning: ``__retune`` and autotune_key, else all integers."""
        integers = (at for at, param in enumerate(self.first.binder.parameters) if _is_integer(param.type))
        return self.named_key or tuple(integers)

    @cached_property
    def named_key(self) -> tuple[int, ...]:
        """Where the parameters stand that ``__retune`` and autotune_key name."""
        binder = self.first.binder
        positions = {at for at, param in enumerate(binder.parameters) if param.retune}
        for name in self._settings.tune_key:
            position = binder.position(name)
            if position is None:
                known = ", ".join(parameter.name for parameter in binder.parameters)
                raise refusal(
                    f"{binder.kernel}: autotune_key names '{name}', which is no parameter",
                    "TC516",
                    f"it has {known}",
                )
            positions.add(position)
        return tuple(sorted(positions))

    def _bind(self, candidate: Candidate, arguments: Sequence[Any]) -> Bound:
        """The arguments checked, with the constant buffers of the call's device behind them."""
        binder = candidate.binder
        if not binder.buffers:
            return binder.bind(arguments)
        device = binder.own.bind(arguments)[2]
        if device is None:
            device = self._device_without_tensors()
        supplied = [self._constants.on(device, each.name, each.buffer).data_ptr() for each in binder.buffers]
        values, facts, _ = binder.bind([*arguments, *supplied])
        return values, facts, device

    def _device_without_tensors(self) -> int:
        """Where a call runs that passes no tensor: the constructor's device, else the current GPU."""
        device = self._settings.device
        if device is not None and device.type == "cpu":
            return CPU
        if device is not None and device.index is not None:
            return device.index
        return torch.cuda.current_device() if torch.cuda.is_available() else CPU


def _is_integer(type_: ScalarType | PointerType) -> bool:
    return isinstance(type_, ScalarType) and type_.kind in ("int", "uint")
