"""All mutants that ``python -m tests.mutation`` runs, in the order of the stages."""

from __future__ import annotations

from tests.mutation.mutant import Mutant
from tests.mutation.of_gradient import ELSEWHERE
from tests.mutation.of_language import LANGUAGE
from tests.mutation.of_passes import PASSES

__all__ = ["MUTANTS"]

MUTANTS = tuple(Mutant(*row) for row in (*LANGUAGE, *PASSES, *ELSEWHERE))
