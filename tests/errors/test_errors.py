"""Golden diagnostics: what a person reads who made a mistake.

A case is a folder ``tests/errors/<case>`` with ``kernel.c``, ``case.toml`` and ``expected.txt``. Its text must draw
exactly the diagnostics in ``expected.txt`` (``pytest --update-golden tests/errors`` rewrites), as
``python -m pytriton translate`` prints them::

    defines = { TM = 16, TYPE = "half" }   # as given to pytriton.translate, none if absent
    kernel = "forward"                     # the first one if absent

Every case is one mistake that people make, or a few that must be told in one run.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import pytriton
from pytriton.errors import CheckError, CompileError, ParseError, PreprocessError, UnsupportedError
from pytriton.source import Span

ROOT = Path(__file__).parent
PACKAGE = ROOT.parent.parent / "pytriton"
PAGE = ROOT.parent.parent / "docs" / "errors.md"
CASES = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__")
CLASSES = {"0": ParseError, "1": PreprocessError, "2": ParseError, "3": CheckError, "4": UnsupportedError}


def refused(case: str) -> CompileError:
    """What the translation of a case raises."""
    data = tomllib.loads((ROOT / case / "case.toml").read_text())
    text = (ROOT / case / "kernel.c").read_bytes()
    with pytest.raises(CompileError) as caught:
        pytriton.translate(text, data.get("defines", {}), kernel=data.get("kernel"), name="kernel.c")
    return caught.value


def test_every_case_is_complete(update_golden: bool) -> None:
    for case in CASES:
        names = {path.name for path in (ROOT / case).iterdir()}
        wanted = {"kernel.c", "case.toml"} if update_golden else {"kernel.c", "case.toml", "expected.txt"}
        assert wanted <= names <= {"kernel.c", "case.toml", "expected.txt"}, case


def test_there_are_many() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES)
def test_text(case: str, update_golden: bool) -> None:
    error = refused(case)
    expected = ROOT / case / "expected.txt"
    text = f"{error}\n"
    if update_golden:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_form(case: str) -> None:
    """The rules of design.md: lower case, no full stop, the class by the first code, one error a place."""
    error = refused(case)
    assert type(error) is CLASSES[error.diagnostics[0].code[2]]
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
