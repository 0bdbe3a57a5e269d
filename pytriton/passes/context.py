"""What passes are given beside the kernel, and where they leave what they learn of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytriton.errors import Report
from pytriton.lang.typed import KernelDef
from pytriton.passes.provenance import Provenance
from pytriton.passes.traits import Traits
from pytriton.settings import Settings

__all__ = ["Context"]


@dataclass
class Context:
    """``settings`` and ``report`` are given; ``traits`` is what the passes learned."""

    settings: Settings = field(default_factory=Settings)
    report: Report = field(default_factory=Report)
    traits: Traits = field(default_factory=Traits)
    _provenance: Provenance | None = None

    def provenance(self, kernel: KernelDef) -> Provenance:
        """Which memory the kernel reaches; worked out once for as long as no pass changes the kernel."""
        if self._provenance is None or self._provenance.kernel is not kernel:
            self._provenance = Provenance(kernel)
        return self._provenance
