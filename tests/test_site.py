"""What the site is made of, without Sphinx: texts that are translated while it is built, drawings, links, lists.

``make site`` builds it and follows its links; ``make site-test`` opens it in a browser.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch

import pytriton
from pytriton.lang.format import formatted
from pytriton.runtime.kernel import OPTIONS
from pytriton.source import Source
from tools import site_test, social
from tools.pages.drawings import DRAWINGS
from tools.pages.links import rewritten
from tools.pages.meta import LONGEST, description
from tools.pages.notebooks import as_markdown, cells_of
from tools.picture import PICTURE, SPEEDS, picture, speeds

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "errors")
SCRIPTS = sorted((DOCS / "tutorial").glob("*.py"))
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


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
@pytest.mark.sampled(4)
def test_tutorial(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each script runs, and its page has the text, the code and what the code printed."""
    for name in ("rowops", "rowops.rows"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    page = as_markdown(script)
    cells = cells_of(script.read_text(encoding="utf-8"))
    assert page.startswith("# ")
    assert len(cells) >= 4
    assert page.count("```python\n") == sum(bool(cell.code.strip()) for cell in cells)
    assert page.count(":class: printed") >= 2


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_hides_no_module(script: Path) -> None:
    """``python docs/tutorial/vector_add.py`` has its folder first in ``sys.path``."""
    assert script.stem not in sys.stdlib_module_names


def test_tools_that_import_others_are_modules() -> None:
    """``make site PY=...`` works with an interpreter to which this checkout was not added."""
    for tool in re.findall(r"\(PY\) (tools/\w+\.py)", (ROOT / "Makefile").read_text(encoding="utf-8")):
        assert "from tools" not in (ROOT / tool).read_text(encoding="utf-8"), tool


def test_cells(tmp_path: Path) -> None:
    path = tmp_path / "page.py"
    path.write_text("# %%\n# # Title\n#\n# Words.\n\nx = 1\n# a comment\nx + 1\n\n# %%\n\nprint(x)\n")
    page = as_markdown(path)
    assert page.startswith("# Title\n\nWords.\n\n```python\nx = 1\n# a comment\nx + 1\n```\n")
    assert re.findall(r":class: printed\n\n(.*?)\n```", page, re.DOTALL) == ["2", "1"]
    path.write_text("# %%\n\nx = 1\nx.y\n")
    with pytest.raises(AttributeError) as raised:
        as_markdown(path)
    assert raised.traceback[-1].lineno == 3  # counted from 0: the place in the script


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/start.md", "docs/by-example.md"])
def test_sources_are_written_as_format_prints_them(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [found[1] for found in BECOMES.findall(text)] + re.findall(
        r"^```c\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    assert blocks
    for source in blocks:
        assert formatted(Source(source)) == source


def by_example(name: str) -> pytriton.Kernel:
    """A kernel of docs/by-example.md, with the defines that the page gives it."""
    page = (DOCS / "by-example.md").read_text(encoding="utf-8")
    ((defines, source),) = (found for found in BECOMES.findall(page) if f" {name}(" in found[1])
    return pytriton.kernel(source, defines=dict(pair.split("=") for pair in defines.split()))


def test_by_example_stencil() -> None:
    x, y = torch.rand(1000), torch.zeros(1000)
    by_example("smooth")(y, x, 1000, grid=(8,))
    torch.testing.assert_close(y[1:-1], (x[:-2] + 2 * x[1:-1] + x[2:]) / 4)
    assert y[0] == y[-1] == 0


@pytest.mark.parametrize(("M", "N", "K"), [(70, 90, 50), (64, 64, 64), (1, 130, 5)])
def test_by_example_ragged_product(M: int, N: int, K: int) -> None:
    a, b, c = torch.randn(M, K), torch.randn(K, N), torch.empty(M, N)
    by_example("ragged")(c, a, b, M, N, K, grid=(pytriton.cdiv(M, 64), pytriton.cdiv(N, 64)))
    torch.testing.assert_close(c, a @ b)


def test_by_example_histogram() -> None:
    x = torch.randint(-2, 12, (1000,), dtype=torch.int32)
    count = torch.zeros(10, dtype=torch.int32)
    by_example("histogram")(count, x, 1000, 10, grid=(8,))
    assert torch.equal(count.long(), torch.bincount(x[(x >= 0) & (x < 10)], minlength=10))


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
    tutorial = (DOCS / "tutorial" / "index.md").read_text(encoding="utf-8")
    listed += [f"tutorial/{name}" for name in re.findall(r"^\w+$", tutorial, re.MULTILINE)]
    pages = (*PAGES, *SCRIPTS)
    missing = {str(path.relative_to(DOCS).with_suffix("")) for path in pages} - {"index", *listed}
    assert missing == set()


def test_search_prefers_all_how_to_pages() -> None:
    """The pages that docs/_static/scorer.js puts first are those below "How to"; walk.mjs searches."""
    listed = (
        (DOCS / "index.md").read_text(encoding="utf-8").partition(":caption: How to\n")[2].partition("```")[0]
    )
    preferred = re.search(
        r"HOW_TO = /\^\((.*)\)\$/", (DOCS / "_static" / "scorer.js").read_text(encoding="utf-8")
    )
    assert preferred is not None
    assert set(preferred[1].split("|")) == set(listed.split())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_links_of_the_site(path: Path) -> None:
    """After rewriting each link leads to a file, none out of the repository."""
    whole = rewritten(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    text = re.sub(r"```.*?```|`[^`\n]+`", "", whole, flags=re.DOTALL)
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text)
    for link in (*links, *re.findall(r"\{download\}`[^`<]*<([^>`]*)>`", whole)):
        assert (path.parent / link).is_file(), link


def test_first_page() -> None:
    """Install, examples, playground and port are one click away; the pages are in five groups."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    shown = text.partition("```{toctree}")[0]
    links = set(re.findall(r'href="([^"]+)"', shown))
    assert {
        "start.html",
        "by-example.html",
        "playground/index.html",
        "walk-port.html",
        "legacy.html",
    } <= links
    assert '$ pip install "pytriton-c[torch]"' in shown
    assert "{about}" in shown
    assert "{speed}" in shown
    assert len(re.findall(r"^:caption:", text, re.MULTILINE)) == 5


def test_descriptions() -> None:
    assert description([], "A title").startswith("A title: ")
    found = description(["Two\nwords.", "word, " * 60], "A title")
    assert found.startswith("Two words. word, word")
    assert found.endswith("word ...")
    assert len(found) <= LONGEST


def test_picture_of_links() -> None:
    report = speeds(json.loads(SPEEDS.read_text(encoding="utf-8")))
    figure = social.drawn(report)
    assert [round(side * figure.dpi) for side in figure.get_size_inches()] == [1200, 630]
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {str(rate) for rate in report["rows"][-1][1:]} <= written


def test_links_are_led_to_pages() -> None:
    text = "[a](../README.md) [b](../tests/oracle) [c](../examples/dot.py) `[d](../x)` [e](tuning.md#x)"
    assert rewritten("docs/page.md", text) == (
        "[a](index.md) b {download}`c <../examples/dot.py>` `[d](../x)` [e](tuning.md#x)"
    )
    assert "[README](../index.md)" not in rewritten("docs/inside/x.md", "[README](../README.md)")


def test_picture_is_current() -> None:
    """``python -m tools.picture`` draws it again, after a change of the translation or of the speeds."""
    assert PICTURE.read_text(encoding="utf-8") == picture()
    ET.fromstring(picture())


def test_speeds_of_the_picture_come_from_the_benchmark() -> None:
    rates = {"pytriton": 607.2, "hand-written": 604.9, "torch.mm": 609.4}
    rows = [
        {"program": "dot half", "case": f"{n}³, {way}", "rates": rates}
        for n in (2048, 8192)
        for way in ("a @ b", "^a @ b")
    ]
    found = speeds({"date": "2026-11-22", "gpu": "H200", "torch": "2.11", "triton": "3.6", "rows": rows})
    assert found["rows"] == [["2048", 607, 605, 609], ["8192", 607, 605, 609]]


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_no_browser_is_a_failure_in_a_workflow(ci: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_test.shutil, "which", lambda name: None)
    monkeypatch.setenv("CI", ci)
    assert site_test.main(ROOT) == status


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


def test_all_names_are_told() -> None:
    """Each public name, and each public method of a kernel, is on the page of the API."""
    told = (DOCS / "api.md").read_text(encoding="utf-8")
    names = set(re.findall(r"pytriton\.(\w+)|`(__version__)`", told))
    assert {name for pair in names for name in pair if name} >= set(pytriton.__all__)
    members = re.search(r":members: (.*)", told)
    assert members is not None
    internal = {"checked", "name", "traced_plan"}
    methods = {name for name in vars(pytriton.Kernel) if not name.startswith("_")} - internal
    assert methods == set(members[1].split(", ")) - {"__call__"}


def test_a_page_of_several_parts_is_one_entry() -> None:
    text = "# A\n\n## B\n\n```c\n# define X\n```\n\n# C\n"
    assert rewritten("docs/page.md", text) == "# A\n\n### B\n\n```c\n# define X\n```\n\n## C\n"
    text = "# A\n\n## B\n\n```c\n# define X\n```\n"
    assert rewritten("docs/page.md", text) == text
