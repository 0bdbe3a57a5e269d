"""The mutants still fit the code: each finds its place, and the edit is Python. Refactoring keeps them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.mutant import Mutant, mutated
from tests.mutation.mutants import MUTANTS
from tests.mutation.near import near
from tests.mutation.of_gradient import GUARDS, PRECONDITIONS, RESCALED, WRONG

ROOT = Path(__file__).parents[2]
ALL = (*MUTANTS, *(Mutant(*row[:4]) for row in (*WRONG, *GUARDS, *PRECONDITIONS, *RESCALED)))

MODULE = """
class Sums:
    def total(self, first, second):
        if first < 0:  # a comment that stays
            return second
        return (first +
                second)
"""


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
@pytest.mark.sampled(4)
def test_mutant_fits(mutant: Mutant) -> None:
    sound, wrong = ast.parse((ROOT / mutant.path).read_bytes()), ast.parse(mutated(mutant))
    assert ast.dump(sound) != ast.dump(wrong)
    assert all((ROOT / tests.partition("::")[0]).exists() for tests in near(mutant.path))


def test_mutants_are_named_apart() -> None:
    assert len({mutant.name for mutant in ALL}) == len(ALL) >= 190


@pytest.mark.parametrize(
    ("function", "old", "new", "found"),
    [
        ("Sums.total", "first + second", "first - second", "(first - second)"),
        ("Sums.total", "a + b", "b - a", "(second - first)"),  # a local variable was renamed
        ("Sums.total", "return second", "", "            pass\n        return (first +"),
        ("Sums.total", "return a", "return -a", "            return -second\n"),
        ("", "0", "1", "if first < (1):  # a comment that stays"),
        ("Sums.total", "first * second", "first", "has 0 of what this changes"),
        ("Sums.total", "second", "first", "has 2 of what this changes"),
        ("total", "0", "1", "if first < (1)"),
        ("Other.total", "0", "1", "no such function: sums:Other.total; 'Other.total' is in []"),
    ],
)
def test_places(tmp_path: Path, function: str, old: str, new: str, found: str) -> None:
    (tmp_path / "pytriton").mkdir()
    (tmp_path / "pytriton" / "sums.py").write_text(MODULE)
    mutant = Mutant("one", f"sums:{function}", old, new)
    try:
        text = mutated(mutant, tmp_path)
    except LookupError as error:
        text = str(error)
    assert found in text


def test_moved(tmp_path: Path) -> None:
    (tmp_path / "pytriton").mkdir()
    (tmp_path / "pytriton" / "sums.py").write_text(MODULE)
    with pytest.raises(LookupError, match=r"no such module: old:Sums\.total.* is in \['pytriton/sums\.py'\]"):
        mutated(Mutant("one", "old:Sums.total", "0", "1"), tmp_path)
