"""The report of ``port``: old and new side by side, everything escaped, in a browser wide and narrow.

The browser is headless Chromium. A script is added to a copy of the page, which measures what is drawn and leaves
it in the page; Chromium prints that. Where there is none, these tests are skipped.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from pytriton.port.kernels import DefineSet, port_kernel
from pytriton.port.report.align import declaration_line, own_text, rows
from pytriton.source import Source
from tests.port.test_packages import PACKAGES, TESTS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed (apt install chromium)"
)

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


def test_lines_that_mean_the_same_are_opposite() -> None:
    sets = [DefineSet({"TN": 16, "TWICE": 1}), DefineSet({"TN": 16})]
    (kernel,) = port_kernel(Source(TEXT), "second", sets)
    assert "first" not in own_text(kernel)
    assert declaration_line(kernel) == 4
    made = rows(kernel, 10)
    assert [row.old_line for row in made if row.old_line] == list(range(1, 13))
    assert [row.new_line for row in made if row.new_line] == list(range(10, 10 + len(made)))[
        : sum(1 for row in made if row.new_line)
    ]
    pairs = {row.old.strip(): row.new.strip() for row in made if row.old and row.new and not any(row.alone)}
    assert pairs["// what is read"] == "# what is read"
    assert pairs["float x[TN] = *?(i < n) (X + i);"].startswith("x = tl.load(")
    assert pairs['x = x + x; // "twice" <script>alert(1)</script>'].startswith("x += x  # ")
    assert pairs["#if TWICE"] == "if TWICE:"
    assert [row for row in made if row.new.strip() == "@triton.jit" and not row.alone[1]] == []


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


def test_everything_is_escaped(page: Path) -> None:
    text = page.read_text()
    assert "<script" not in text
    assert "<b>" not in text
    assert "&lt;b&gt;all&lt;/b&gt; &amp; more" in text
    assert "&#34;twice&#34; &lt;script&gt;" in text
    bare = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    assert set(re.findall(r"</?(\w+)", bare)) <= set(
        "html meta title h1 p div table tr th td a code section h2 small ul li details summary colgroup col thead"
        " tbody pre".split()
    )


def test_notes_have_positions_that_can_be_opened(page: Path) -> None:
    links = dict(re.findall(r'<a class="place" href="([^"]+)">([^<]+)</a>', page.read_text()))
    assert links["old/ops.py#L7"] == "ops.py:7:"  # what is not ported
    assert links["old/ops.py#L12"] == "ops.py:12:"  # the launch
    assert links["#k1-4"] == "a&amp;b.c:4:"


MEASURE = """
<script>
  const tops = [...document.querySelectorAll(".code tr")].map(row =>
    [...row.cells].filter(cell => cell.offsetParent).map(cell => Math.round(cell.getBoundingClientRect().top)));
  const links = [...document.querySelectorAll('a[href^="#"]')].map(link => link.getAttribute("href"));
  const found = {
    width: innerWidth,
    needed: document.documentElement.scrollWidth,
    kernels: document.querySelectorAll("section").length,
    level: tops.filter(row => new Set(row).size <= 1).length,
    rows: tops.length,
    dead: links.filter(link => !document.getElementById(decodeURIComponent(link.slice(1)))),
    scripts: document.scripts.length,
    cut: [...document.querySelectorAll(".code td")].filter(cell => cell.scrollWidth > cell.clientWidth + 1).length,
  };
  document.body.innerHTML = ""; document.body.textContent = "FOUND" + JSON.stringify(found) + "END";
</script>
"""


def drawn(page: Path, width: int) -> dict[str, Any]:
    """What Chromium draws in a window of this width."""
    copy = page.with_name(f"measured-{width}.html")
    copy.write_text(page.read_text().replace("</html>", f"{MEASURE}</html>"))
    assert CHROMIUM is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},1000", "--dump-dom"]
    done = subprocess.run([CHROMIUM, *options, copy.as_uri()], capture_output=True, text=True, timeout=120)
    match = re.search(r"FOUND(\{.*\})END", html.unescape(done.stdout))
    assert match is not None, done.stdout[:2000] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(match[1])
    return found


def check_drawn(page: Path, kernels: int) -> None:
    for width in (1400, 500):
        found = drawn(page, width)
        assert found["kernels"] == kernels
        assert found["scripts"] == 1  # ours
        assert found["needed"] <= found["width"]  # nothing sticks out of the page
        assert found["dead"] == []
        assert found["cut"] == 0
        if width == 1400:
            assert found["level"] == found["rows"] > 0  # opposite lines are level


@needs_browser
def test_in_a_browser(page: Path) -> None:
    check_drawn(page, 2)


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernels"), [("ops2021", 6), ("blocksparse2020", 1)])
def test_packages_in_a_browser(name: str, kernels: int, tmp_path: Path) -> None:
    """The two of which docs/images has a picture each."""
    program = f"-m pytest -q -p no:cacheprovider {TESTS / f'test_{name}.py'}"
    report = tmp_path / "report.html"
    command = [
        "port",
        str(PACKAGES / name),
        "--out",
        str(tmp_path),
        "--run",
        program,
        "--report",
        str(report),
    ]
    assert main(command) == 0
    check_drawn(report, kernels)
