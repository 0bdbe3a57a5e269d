"""All mutants, in the order of the stages."""

from __future__ import annotations

from tests.mutation.mutant import Mutant
from tests.mutation.of_language import CONVERSIONS, EFFECTS, EMITTER, MASKS, READING
from tests.mutation.of_packing import PACKING
from tests.mutation.of_passes import MEMORY, MOVES, PASSES, SCALARS

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    *READING,
    *EFFECTS,
    *CONVERSIONS,
    *MASKS,
    *PASSES,
    *PACKING,
    *SCALARS,
    *MEMORY,
    *MOVES,
    *EMITTER,
)
