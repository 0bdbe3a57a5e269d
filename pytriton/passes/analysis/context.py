"""What passes are given beside the kernel, and where they leave what they learn of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytriton.errors import Report
from pytriton.passes.analysis.traits import Traits
from pytriton.settings import Settings

__all__ = ["Context"]


@dataclass
class Context:
    """``settings`` and ``report`` are given; ``traits`` is what the passes learned."""

    settings: Settings = field(default_factory=Settings)
    report: Report = field(default_factory=Report)
    traits: Traits = field(default_factory=Traits)
