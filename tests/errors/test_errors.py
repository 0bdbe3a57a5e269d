"""Golden diagnostics: what a person reads who made a mistake.

Each text (``cases.py`` says where it stands) must draw exactly the diagnostics under it, as
``pytriton translate`` prints them; ``pytest --update-golden tests/errors`` rewrites these in place. Every
case is one mistake that people make, or a few that must be told in one run. A new case is a heading and its text.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytriton
from pytriton.errors import CheckError, CompileError, ParseError, PreprocessError, UnsupportedError
from pytriton.source import Span
from tests.errors.cases import CASES, PAGES, as_markdown, cases_of, rewrite

ROOT = Path(__file__).parent
PACKAGE = ROOT.parent.parent / "pytriton"
PAGE = ROOT.parent.parent / "docs" / "errors.md"
CLASSES = {"0": ParseError, "1": PreprocessError, "2": ParseError, "3": CheckError, "4": UnsupportedError}
STAGES = {
    PreprocessError: "preprocess",
    ParseError: "parse",
    CheckError: "check",
    UnsupportedError: "unsupported",
}


def refused(name: str) -> CompileError:
    """What the translation of a case raises."""
    case = CASES[name]
    with pytest.raises(CompileError) as caught:
        pytriton.translate(case.text, case.defines, kernel=case.kernel, name="kernel.c")
    return caught.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_line_of_a_page_belongs_to_a_case(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    head, cases = cases_of(text, page)
    assert as_markdown(head, cases) == text
    names = [case.name for case in cases]
    assert names == sorted(set(names))
    assert all(CASES[name].path == page for name in names), "two cases of one name"


def test_folders_are_complete() -> None:
    for case in CASES.values():
        if case.path.is_dir():
            assert {path.name for path in case.path.iterdir()} == {"kernel.c", "expected.txt"}, case.name


def test_there_are_many() -> None:
    assert len(CASES) >= 240


@pytest.mark.parametrize("case", CASES)
def test_text(case: str, update_golden: bool) -> None:
    text = f"{refused(case)}\n"
    if update_golden:
        rewrite(CASES[case], text)
    else:
        assert text == CASES[case].expected


@pytest.mark.parametrize("case", CASES)
def test_form(case: str) -> None:
    """Lower case, no full stop, the class and the page by the first code, one error a place."""
    error = refused(case)
    assert type(error) is CLASSES[error.diagnostics[0].code[2]]
    assert CASES[case].path.is_dir() or CASES[case].path.stem == STAGES[type(error)]
    places = [found.where for found in error.diagnostics if isinstance(found.where, Span)]
    assert len(set(places)) == len(places)
    for found in error.diagnostics:
        assert found.severity == "error"
        notes = [note if isinstance(note, str) else note[0] for note in found.notes]
        for said in (found.message, found.help or "", *notes):
            assert not said.endswith("."), said
            assert "\n" not in said, said
            first = re.match(r"[A-Za-z]+", said)
            proper = "Triton", "C", "TM", "TN", "TK", "INFINITY"
            assert first is None or first[0][0].islower() or first[0] in proper or "'" in said[:2], said


def test_at_most_twenty() -> None:
    """The list of errors has an end, and the first ones are kept."""
    lines = "".join(f"  *X = name{number};\n" for number in range(40))
    with pytest.raises(CompileError) as caught:
        pytriton.translate(f"__global__ void many(float* X) {{\n{lines}}}\n", name="kernel.c")
    assert str(caught.value).endswith("note: these are the first 20 errors, there are more")
    lines_said = [found.where.line for found in caught.value.diagnostics]  # type: ignore[union-attr]
    assert lines_said == list(range(2, 22))


def test_every_code_stands_in_the_page() -> None:
    """``docs/errors.md`` has a row for each code of the sources, and for no other."""
    sources = {
        code
        for path in PACKAGE.rglob("*.py")
        for code in re.findall(r"TC\d{3}", path.read_text(encoding="utf-8"))
    }
    rows = re.findall(r"^\| (TC\d{3}) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == sorted(sources)
