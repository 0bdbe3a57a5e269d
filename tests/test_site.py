"""What the site is made of, without Sphinx: texts that are translated while it is built, drawings, links, lists.

``make site`` builds it and follows its links; ``make site-test`` opens it in a browser.
"""

from __future__ import annotations

import ast
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import pytriton
from pytriton.runtime.kernel import OPTIONS
from tools.pages.drawings import DRAWINGS
from tools.pages.links import rewritten

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "errors")
BECOMES = re.compile(r"^```\{becomes\} ?([^\n]*)\n(?::show: \w+\n)?(.*?)^```", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str, str]]:
    """Of each text that a page shows beside its translation: where it stands, defines, text."""
    return [
        (f"{path.stem}-{number}", defines, text)
        for path in PAGES
        for number, (defines, text) in enumerate(BECOMES.findall(path.read_text(encoding="utf-8")), 1)
    ]


@pytest.mark.parametrize(
    ("defines", "text"), [case[1:] for case in examples()], ids=[case[0] for case in examples()]
)
def test_what_becomes_of_it(defines: str, text: str) -> None:
    translation = pytriton.translate(text, dict(pair.split("=", 1) for pair in shlex.split(defines)))
    ast.parse(translation.text)
    assert not translation.warnings


def test_there_are_examples() -> None:
    assert len(examples()) > 12


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawing(name: str) -> None:
    """Well-formed, with words for those who cannot see it, inside its frame, and used by a page."""
    picture = ET.fromstring(DRAWINGS[name]())
    assert len(picture.attrib["aria-label"]) > 20
    width, height = map(float, picture.attrib["viewBox"].split()[2:])
    for box in picture.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.attrib["x"]) + float(box.attrib["width"]) <= width
        assert float(box.attrib["y"]) + float(box.attrib["height"]) <= height
    assert any(f"{{drawing}} {name}" in path.read_text(encoding="utf-8") for path in PAGES)


def test_pages_stand_in_the_contents() -> None:
    listed = re.findall(r"^[\w/-]+$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    missing = {str(path.relative_to(DOCS).with_suffix("")) for path in PAGES} - {"index", *listed}
    assert missing == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_links_of_the_site(path: Path) -> None:
    """After rewriting each link leads to a file, none out of the repository."""
    page = path.relative_to(ROOT)
    text = re.sub(
        r"```.*?```|`[^`\n]+`", "", rewritten(str(page), path.read_text(encoding="utf-8")), flags=re.S
    )
    for link in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text):
        assert (path.parent / link).is_file(), link


def test_links_are_led_to_pages() -> None:
    text = "[a](../README.md) [b](../tests/oracle) [c](../examples/dot.py) `[d](../x)` [e](tuning.md#x)"
    assert rewritten("docs/page.md", text) == (
        "[a](index.md) b [c](../examples/dot.py) `[d](../x)` [e](tuning.md#x)"
    )
    assert "[README](../index.md)" not in rewritten("docs/inside/x.md", "[README](../README.md)")


def test_options_are_told() -> None:
    """Each option of pytriton.kernel and each environment variable has a row, and each row is one."""
    told = (DOCS / "options.md").read_text(encoding="utf-8")
    kernels, variables = told.split("## Environment variables")
    assert set(re.findall(r"^\| `(\w+)=", kernels, re.MULTILINE)) == {*OPTIONS} - {"unknown"}
    used = {
        name
        for path in (ROOT / "pytriton").rglob("*.py")
        for name in re.findall(r'"(PYTRITON_[A-Z_]+)"', path.read_text(encoding="utf-8"))
    }
    assert set(re.findall(r"^\| `(PYTRITON_\w+)`", variables, re.MULTILINE)) == used
