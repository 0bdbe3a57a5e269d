"""The mutants still fit the code: each text to replace stands exactly once, and the edit is Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.mutant import Mutant
from tests.mutation.mutants import MUTANTS
from tests.mutation.near import near

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_fits(mutant: Mutant) -> None:
    sound = (ROOT / mutant.path).read_text()
    assert sound.count(mutant.old) == 1
    assert mutant.old != mutant.new
    ast.parse(sound.replace(mutant.old, mutant.new))
    assert all((ROOT / tests.partition("::")[0]).exists() for tests in near(mutant.path))


def test_mutants_are_enough_and_named_apart() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 40
