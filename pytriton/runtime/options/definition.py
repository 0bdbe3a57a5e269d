"""What a kernel object is made of: all that its constructor was given, and nothing that a call adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from pytriton.runtime.checks.mode import Check
from pytriton.runtime.options.defines import Config, product
from pytriton.runtime.options.heuristics import Heuristics
from pytriton.runtime.options.source_text import KernelText

__all__ = ["Definition", "PlanSettings"]


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the constructor says beside the text and the sweep."""

    tune_key: tuple[str, ...] = ()
    tune_budget: float | None = None  # seconds
    device: torch.device | None = None  # of a call that passes addresses only
    tune_fully: bool = False  # try pytriton's own points where the user has no sweep, too
    precision: object = "ieee"  # of float @ float; a list is one more axis of the sweep
    fast_math: object = False  # a list is one more, too
    strict_promises: bool = False  # refuse launches that break one
    only_named_key: bool = False  # as under torch.compile, where integers alone call for no new tuning
    legacy: bool = False  # made inside a legacy package: launches are no changes for autograd
    check: Check = None  # whether launches are checked for accesses outside: checks/mode.py


@dataclass(frozen=True, slots=True)
class Definition:
    """``defines``, ``num_warps`` and ``num_stages`` may hold lists; ``points`` are the user's autotune configs."""

    text: KernelText
    defines: Mapping[str, Any] = field(default_factory=dict)
    num_warps: Any = None
    num_stages: Any = None
    points: tuple[Config, ...] = ()
    settings: PlanSettings = field(default_factory=PlanSettings)
    outputs: tuple[str, ...] = ()
    heuristics: Heuristics = field(default_factory=lambda: Heuristics({}))

    def configs(
        self, defines: Mapping[str, Any], num_warps: Any = None, num_stages: Any = None
    ) -> tuple[Config, ...]:
        """All points of the sweep; what a call gives wins over what the constructor was given."""
        if num_warps is None and not self.points:
            num_warps = self.num_warps
        if num_stages is None:
            num_stages = self.num_stages
        arithmetic = self.settings.precision, self.settings.fast_math
        return product({**self.defines, **defines}, num_warps, num_stages, self.points, *arithmetic)
