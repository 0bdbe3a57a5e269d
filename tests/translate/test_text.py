"""Each translation is its golden, character by character, with its warnings (``cases.py``)."""

from __future__ import annotations

import pytest

from tests.processes import python
from tests.translate.cases import CASES, FOLDERS, GOLDENS, ROOT, load, translated


def test_every_case_is_complete() -> None:
    assert len(CASES) == len(set(CASES))
    for case in FOLDERS:
        names = {path.name for path in (ROOT / case).iterdir()}
        assert names - {"expected.py"} == {"kernel.c", "case.toml"}, case


@pytest.mark.parametrize("case", GOLDENS)
def test_text(case: str, update_golden: bool) -> None:
    translation = translated(case)
    expected = ROOT / case / "expected.py"
    if update_golden:
        expected.write_text(translation.text)
    assert translation.text == expected.read_text()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(4)
def test_warnings(case: str) -> None:
    codes = [warning.code for warning in translated(case).warnings]
    assert codes == load(case).get("warnings", [])


def test_formatted() -> None:
    """``ruff format`` with its own defaults changes nothing."""
    run = python("-m", "ruff", "format", "--isolated", "--diff", ROOT, "--exclude", "test_*.py,cases.py")
    assert run.returncode == 0, run.stdout + run.stderr
