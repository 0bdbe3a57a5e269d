"""Each mutant of the C printer is caught by the test that tests/mutation/of_native.py names beside it.

Those tests pass without a mutant. A few mutants are tried in a usual run, all with --slow.
"""

from __future__ import annotations

import pytest

from pytriton.runtime.native.c_compiler import NoLibrary, find
from tests.mutation.mutant import Mutant, mutated
from tests.mutation.of_native import NATIVE
from tests.native.mutants import caught, passes, resolved

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")

MUTANTS = [(Mutant(*row[:5]), row[5]) for row in NATIVE]


@pytest.mark.parametrize(("mutant", "test"), [pytest.param(*pair, id=pair[0].name) for pair in MUTANTS])
@pytest.mark.sampled(20)
def test_caught(mutant: Mutant, test: str) -> None:
    assert caught(mutant, test), f"{mutant.name} survives: {mutant.breaks}"


@pytest.mark.parametrize("test", sorted({test for _, test in MUTANTS}))
@pytest.mark.slow
def test_passes_without_a_mutant(test: str) -> None:
    assert passes(test)


def test_mutants_are_many() -> None:
    assert len({mutant.name for mutant, _ in MUTANTS}) == len(MUTANTS) >= 130


def test_mutants_fit() -> None:
    """Each finds its place, and its test; refactoring keeps them."""
    for mutant, test in MUTANTS:
        mutated(mutant)
        resolved(test)
