"""pytriton in a notebook: the magic in a real IPython where there is one, the page and the chart of a kernel."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.notebook.magic import tritonc
from pytriton.runtime.options.defines import Config
from pytriton.runtime.show import MAX_BARS, chart, labels, page

DOCS = Path(__file__).parent.parent.parent / "docs"
FILL = "__global__ void fill(int* x) {\n  int i[TILE] = 0 ... TILE;\n  *(x + i) = VALUE;\n}\n"
TIMINGS: dict[Config, float | str] = {
    Config({"TM": 64}): 0.5,
    Config({"TM": 128}): 0.25,
    Config({"TM": 128}, num_stages=2): 0.125,
    Config({"TM": 256}): "it needs 300000 bytes <shared>",
}
BEST = Config({"TM": 128}, num_stages=2)


class Tags(HTMLParser):
    """The tags of a text, each closed, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(name == "style" for name, _ in attrs)
        self.tags.append(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_magic_makes_a_kernel() -> None:
    names: dict[str, Any] = {}
    made = tritonc(names, "fill -D TILE=16,32 -D VALUE=7 --num-warps 2", FILL)
    assert made is names["fill"]
    x = torch.zeros(16, dtype=torch.int32)
    made(x, grid=(1,))
    assert x.tolist() == [7] * 16
    assert made.best_config == pytriton.config({"TILE": "16", "VALUE": "7"}, 2)


@pytest.mark.parametrize(
    ("line", "name"), [("", "fill"), ("--kernel last", "last"), ("mine --kernel last", "mine")]
)
def test_magic_without_a_name_takes_that_of_the_kernel(line: str, name: str) -> None:
    """The first one, or the one that is asked for; also where defines come with a call."""
    names: dict[str, Any] = {}
    cell = f"// void none();\n{FILL}{FILL.replace('fill', 'last')}"
    made = tritonc(names, line, cell)
    assert names == {name: made}
    assert isinstance(made, pytriton.Kernel)


def test_colours_without_pygments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygments", None)
    shown = Tags(page("dot", "a < b", "c > d", None, {}))
    assert "a < b" in shown.words
    assert "c > d" in shown.words
    assert "span" not in shown.tags


def test_notebook_as_html() -> None:
    """What nbconvert makes of a kernel is monospaced and coloured, without classes that it may not define."""
    nbformat = pytest.importorskip("nbformat.v4")
    nbconvert = pytest.importorskip("nbconvert")
    shown = pytriton.kernel(FILL, defines={"TILE": 16, "VALUE": 7})._repr_html_()
    output = nbformat.new_output("execute_result", {"text/html": shown}, execution_count=1)
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell("fill", outputs=[output])])
    html, _ = nbconvert.HTMLExporter(embed_images=True).from_notebook_node(notebook)
    assert shown in html
    assert "monospace" in shown
    assert re.search(r'<span style="color: #\w+[^"]*">void</span>', shown)


@pytest.mark.parametrize(
    ("line", "cell", "shown"),
    [
        (
            "fill",
            "void f(int* x) { *x = x; }",
            "error: cannot store a value of type int* as int [TC302]",
        ),
        ("fill --warps 4", FILL, "unrecognized arguments"),
        ("fill --num-warps four", FILL, "--num-warps"),
    ],
)
def test_magic_shows_errors(line: str, cell: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    assert tritonc(names, line, cell) is None
    assert names == {}
    assert shown in capsys.readouterr().err


def test_page_of_documentation() -> None:
    """The cells of docs/notebook.md, in a real IPython."""
    IPython = pytest.importorskip("IPython")
    shell = IPython.core.interactiveshell.InteractiveShell.instance()
    try:
        cells = re.findall(r"```ipython\n(.*?)```", (DOCS / "notebook.md").read_text(), re.DOTALL)
        assert len(cells) == 3
        for cell in cells:
            result = shell.run_cell(cell)
            assert result.success, cell
        assert isinstance(result.result, pytriton.Kernel)
        shown = Tags(shell.display_formatter.format(result.result)[0]["text/html"])
        assert "tl.arange" in shown.words
        assert "span" in shown.tags  # colours
    finally:
        type(shell).clear_instance()


def test_kernel_in_a_notebook() -> None:
    kernel = pytriton.kernel(FILL, defines={"TILE": 16, "VALUE": 7})
    shown = Tags(kernel._repr_html_())
    assert "0 ... TILE" in shown.words
    assert "tl.store(x + i, 7)" in shown.words or "tl.store(x + i, VALUE)" in shown.words
    assert "table" not in shown.tags


def test_kernel_whose_defines_come_with_a_call() -> None:
    shown = Tags(pytriton.kernel(FILL)._repr_html_())
    assert "'TILE' is not declared" in shown.words


def test_bars() -> None:
    shown = Tags(page("dot", "text", "python", BEST, TIMINGS))
    assert shown.tags.count("tr") == 3
    order = [shown.words.index(time) for time in ("0.125 ms", "0.250 ms", "0.500 ms")]
    assert order == sorted(order)
    assert "1 dropped" in shown.words
    many: dict[Config, float | str] = {Config({"TM": n}): float(n) for n in range(1, MAX_BARS + 4)}
    assert "3 slower" in Tags(page("dot", "", "", None, many)).words


def test_labels_tell_points_apart() -> None:
    named = labels(TIMINGS)
    assert len(set(named.values())) == len(TIMINGS)
    assert named[BEST] == "TM=128 num_stages=2"
    assert list(labels([BEST]).values()) == ["TM=128"]


def test_text_stays_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    shown = Tags(page(evil, evil, evil, BEST, {BEST: 1.0, Config({evil: evil}): 2.0}))
    assert set(shown.tags) == {"div", "pre", "span", "table", "tr", "td"}
    assert shown.words.count(evil) >= 4
    kernel = pytriton.kernel(f"void f(int* x) {{ *x = 1; }} // {evil}", name=evil)
    assert "img" not in Tags(kernel._repr_html_()).tags


def test_chart() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = chart("dot", BEST, TIMINGS)
    assert [bar.get_width() for bar in axes.patches] == [0.125, 0.25, 0.5]
    assert axes.get_yticklabels()[0].get_text() == "TM=128 num_stages=2"
    assert chart("dot", None, {}, axes) is axes
    assert pytriton.kernel(FILL).plot(axes) is axes


def test_chart_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        pytriton.kernel(FILL).plot()
