"""The report of ``port``: old and new side by side, everything escaped; two are drawn in headless Chromium.

The pictures in docs/images are those that ``--screenshot`` of Chromium takes of such pages, 1100 by 1000 pixels.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

from pytriton.__main__ import main
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, port_kernel
from pytriton.port.report import Entry, Grade, Row, declaration_line, rows, write_report
from pytriton.settings import Settings
from pytriton.source import Source

ROOT = Path(__file__).parents[2]
TEXT = """\
// before <b>all</b> & more
__global__ void first(float *X) { *X = 1; }

__global__ void second(float *X, int n) {
  // what is read
  int i[TN] = 0 ... TN;
  float x[TN] = *?(i < n) (X + i);
#if TWICE
  x = x + x; // "twice" <script>alert(1)</script>
#endif
  *?(i < n) (X + i) = x;
}
"""
CODE = '''\
import os
import triton

path = os.path.join(os.path.dirname(__file__), "a&b.c")
KERNEL = triton.kernel(triton.read(path), defines={'TWICE': 1}, kernel="second")
TEXT = """
__global__ void lost(TYPE *X) { *X = 0 ... 16; }
"""


def run(x):
    KERNEL(x, x.numel(), grid=[1], TN=[16, 32])
'''


def test_lines_and_where_they_come_from() -> None:
    sets = [DefineSet({"TN": 16, "TWICE": 1}), DefineSet({"TN": 16})]
    kernel = port_kernel(Translations(Source(TEXT), Settings("second")), sets)
    assert "first" not in kernel.own_text
    assert declaration_line(kernel) == 4
    made = [*rows(kernel, 10)]
    old = {row.old_line: row.old for row in made if row.old_line}
    lines = kernel.own_text.splitlines()
    assert {number: line for number, line in enumerate(lines, 1) if line.strip()}.items() <= old.items()
    assert not any(before == after == "" for before, after in itertools.pairwise(old.values()))
    new = {row.new_line: row.new for row in made if row.new_line}
    function = kernel.text.rstrip("\n").rpartition("\n\n\n")[2].splitlines()
    assert new == dict(enumerate(function, 10))
    origins = {row.new.strip(): lines[row.origin - 1].strip() for row in made if row.origin}
    loaded = next(line for line in origins if line.startswith("x = tl.load("))
    doubled = next(line for line in origins if line.startswith("x += x  # "))
    assert origins[loaded] == "float x[TN] = *?(i < n) (X + i);"
    assert origins[doubled] == 'x = x + x; // "twice" <script>alert(1)</script>'
    assert "@triton.jit" not in origins


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a file whose text and name are full of what HTML means otherwise."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "old").mkdir()
    (folder / "old/a&b.c").write_text(TEXT)
    (folder / "old/ops.py").write_text(CODE)
    out, report = str(folder / "new"), folder / "report.html"
    assert main(["port", str(folder / "old"), "--out", out, "--report", str(report), "-D", "X<i>=1"]) == 1
    return report


@pytest.mark.slow
def test_everything_is_escaped(page: Path) -> None:
    text = page.read_text()
    assert "<script" not in text
    assert "<b>" not in text
    assert "&lt;b&gt;all&lt;/b&gt; &amp; more" in text
    assert "&#34;twice&#34; &lt;script&gt;" in text
    bare = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    assert set(re.findall(r"</?(\w+)", bare)) <= set(
        "html link meta title h1 p div table tr th td a code section h2 small ul li details summary colgroup col"
        " thead tbody pre".split()
    )


@pytest.mark.slow
def test_notes_have_positions_that_can_be_opened(page: Path) -> None:
    links = dict(re.findall(r'<a class="place" href="([^"]+)">([^<]+)</a>', page.read_text()))
    assert links["old/ops.py#L7"] == "ops.py:7:"  # what is not ported
    assert links["old/ops.py#L12"] == "ops.py:12:"  # the launch
    assert links["#k1-4"] == "a&amp;b.c:4:"


def test_define_sets_with_different_names(tmp_path: Path) -> None:
    kernel = port_kernel(
        Translations(Source(TEXT), Settings("second")),
        [DefineSet({"TN": 16, "TWICE": 1}), DefineSet({"TN": 16})],
    )
    row = Row(0, "", 0, "", 0)
    entry = Entry(
        "second", "a.c:4", "a", Grade.NOTES, (9, 9), (row,), (), (), (), kernel.sets, False, "", (), "", ""
    )
    write_report(tmp_path / "report.html", tmp_path, [entry], [])
    text = (tmp_path / "report.html").read_text()
    assert "<td>TN=16 TWICE=1</td>" in text
    assert "<td>TN=16</td>" in text


LOOK = """
<script>
addEventListener("load", () => {
  const shown = (row) => [...row.cells].filter((cell) => cell.offsetParent);
  const rows = [...document.querySelectorAll(".code tr")].map(shown);
  const tops = rows.map((row) => new Set(row.map((cell) => Math.round(cell.getBoundingClientRect().top))));
  const all = (kind) => [...document.querySelectorAll(kind)];
  const links = all('a[href^="#"]').map((link) => link.getAttribute("href").slice(1));
  const cut = (cells) => all(cells).filter((cell) => cell.scrollWidth > cell.clientWidth + 1);
  const found = {
    kernels: document.querySelectorAll("section").length,
    dead: links.filter((link) => !document.getElementById(decodeURIComponent(link))),
    cut: cut(".code td").length + cut(".index td").length,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    uneven: innerWidth > 960 ? tops.filter((row) => row.size > 1).length : 0,
  };
  document.body.innerHTML = `<p id="found">${encodeURIComponent(JSON.stringify(found))}</p>`;
});
</script>
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernels"), [("ops2021", 6), ("lean2019", 4)])
def test_in_a_browser(name: str, kernels: int, tmp_path: Path) -> None:
    """Lines that belong together are level, nothing is cut off, no link is dead; wide and narrow."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium")
    report, package = tmp_path / "report.html", ROOT / "tests" / "legacy" / "packages" / name
    assert main(["port", str(package), "--out", str(tmp_path / "new"), "--report", str(report)]) == 0
    report.write_text(report.read_text() + LOOK)
    for width in (1100, 500):
        size = f"--window-size={width},1000"
        command = [chromium, "--headless", "--no-sandbox", size, "--dump-dom", report.as_uri()]
        drawn = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
        (found,) = re.findall(r'<p id="found">([^<]*)</p>', drawn)
        wanted = {"kernels": kernels, "dead": [], "cut": 0, "wide": 0, "uneven": 0}
        assert json.loads(unquote(found)) == wanted
