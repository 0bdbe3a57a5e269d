"""docs/language.md is a promise: each row of its tables names a golden case, and each golden case stands in a row.

A row whose case is not proved yet (``tests/translate_open``: known to fail, not collected) is an expected failure.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TABLE = TESTS.parent / "docs" / "language.md"


def cases(folder: str) -> set[str]:
    """The cases of a folder of goldens."""
    root = TESTS / folder
    return {path.parent.name for path in root.glob("*/kernel.c")} if root.is_dir() else set()


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
    waiting = cases("translate_open")
    missing = [name for name in named if name not in cases("translate") | waiting]
    assert not missing, f"{construct}: no such case: {', '.join(missing)}"
    unproved = [name for name in named if name in waiting]
    if unproved:
        pytest.xfail(f"open: {', '.join(unproved)}")


def test_every_case_is_in_a_row() -> None:
    named = {name for _, names in rows() for name in names}
    assert sorted(cases("translate") - named) == []
