"""docs/language.md is a promise: each row of its tables names a case of tests/translate, each case is in a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.translate.cases import CASES

TESTS = Path(__file__).parent
TABLE = TESTS.parent / "docs" / "language.md"


def rows() -> list[tuple[str, list[str]]]:
    """Of each row its construct and the cases that its last cell names."""
    found = []
    for line in TABLE.read_text().splitlines():
        if not line.startswith("|") or line.startswith(("|---", "| construct |", "| the old compiler |")):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert len(cells) == 3, line
        assert all(cells), line
        found.append((cells[0], re.findall(r"`(\w+)`", cells[2])))
    return found


def test_the_table_has_rows() -> None:
    assert len(rows()) > 100


@pytest.mark.parametrize(("construct", "named"), rows(), ids=[row[0] for row in rows()])
def test_every_row_is_proved(construct: str, named: list[str]) -> None:
    assert named, f"{construct}: names no case"
    missing = [name for name in named if name not in CASES]
    assert not missing, f"{construct}: no such case: {', '.join(missing)}"


def test_every_case_is_in_a_row() -> None:
    named = {name for _, names in rows() for name in names}
    assert sorted(set(CASES) - named) == []
