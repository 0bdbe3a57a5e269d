"""The directives of the pages. Each turns its content into HTML while the page is built, or stops the build.

``{becomes} TM=64 TN=32``: its content is a Triton-C text; shown beside what it becomes. ``:show: module`` shows the
whole module, else the body of the function. ``{output} pytriton ...``: what the command prints. ``{drawing} name``:
a picture of drawings.py; its content is the caption. ``{measured} page``: what tools/measure_tutorial.py measured
for a page of the tutorial, as bars; nothing where it did not run yet. ``{shown} TM=64``: what a notebook shows of a
kernel. ``{about}`` and ``{speed}`` are on the first page: logo, version and links; the speeds of
benchmarks/results/programs.json.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import textwrap
import tomllib
import warnings
from collections.abc import Iterable
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives

import pytriton
from pytriton.__main__ import main
from tools.pages import drawings
from tools.pages.meta import urls
from tools.picture import COMMAND, SPEEDS, speeds

__all__ = ["About", "Becomes", "Cases", "Drawing", "Measured", "Output", "Shown", "Speed"]

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests" / "translate"
MEASURED = ROOT / "docs" / "tutorial" / "measured.json"


MAX_BESIDE = 142  # characters of both texts that fit beside each other


def body_of(module: str) -> str:
    """The statements of a generated module's function, without its head."""
    head, found, body = module.partition("\n):\n")
    return textwrap.dedent(body if found else head.partition(":\n")[2]).strip("\n") + "\n"


def given(text: str) -> dict[str, str]:
    """``TM=64 LAYOUT='a b'`` as defines."""
    return dict(pair.split("=", 1) for pair in shlex.split(text))


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


class Becomes(Directive):
    """A Triton-C text, and the Python it becomes."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {"show": directives.unchanged}  # noqa: RUF012 - docutils asks for a dict

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        try:
            module = pytriton.translate(text, given(" ".join(self.arguments))).text
        except pytriton.CompileError as error:
            raise self.error(f"this text is not translated:\n{error}") from error
        shown = module if self.options.get("show") == "module" else body_of(module)
        return beside((("c", "Triton-C", text), ("python", "becomes", shown)))


def beside(parts: Iterable[tuple[str, str, str]]) -> list[nodes.Node]:
    """Two texts (language, label, text) next to each other, where they fit."""
    parts = list(parts)
    widths = [max(map(len, code.splitlines())) + 4 for _, _, code in parts]
    fits = "beside" if sum(widths) <= MAX_BESIDE else ""
    style = "; ".join(f"--{name}: {width}fr" for name, width in zip(("old", "new"), widths, strict=True))
    found: list[nodes.Node] = [html(f'<div class="becomes {fits}" style="{style}">')]
    for language, label, code in parts:
        half = nodes.container(classes=["becomes-half"])
        caption = nodes.paragraph(label, label, classes=["becomes-label"])
        half += [caption, nodes.literal_block(code, code, language=language)]
        found.append(half)
    return [*found, html("</div>")]


class Shown(Directive):
    """What a notebook shows of a kernel."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        kernel = pytriton.kernel("\n".join(self.content) + "\n", defines=given(" ".join(self.arguments)))
        return [html(f'<div class="notebook">{kernel._repr_html_()}</div>')]


class Cases(Directive):
    """All cases of tests/translate: the idea, the text, its Python. Each has an anchor of its name."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for folder in sorted(path.parent for path in CASES.glob("*/kernel.c")):
            case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
            idea = case.get("idea", "")
            text = (folder / "kernel.c").read_text(encoding="utf-8")
            options = {key: case[key] for key in ("kernel", "strict_literals", "fast_math") if key in case}
            with warnings.catch_warnings(action="ignore"):
                kernel = pytriton.kernel((folder / "kernel.c").read_bytes(), **options)
                python = body_of(kernel.translation(case.get("defines")).text)
            found += [
                html(f'<h3 id="{folder.name.replace("_", "-")}">{folder.name}</h3>'),
                nodes.paragraph(idea, idea),
                *beside((("c", "Triton-C", text), ("python", "becomes", python))),
            ]
        return found


class Output(Directive):
    """A command of pytriton's, and what it prints."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        command = self.arguments[0]
        stream = io.StringIO()
        columns = os.environ.get("COLUMNS")
        os.environ["COLUMNS"] = "88"
        try:
            with contextlib.redirect_stdout(stream), contextlib.suppress(SystemExit):
                main(shlex.split(command)[1:])
        finally:
            os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)
        text = f"$ {command}\n{stream.getvalue()}"
        return [nodes.literal_block(text, text, language="console")]


class Drawing(Directive):
    """A drawing, in the colours of the page, with a caption."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        try:
            picture = drawings.DRAWINGS[self.arguments[0]]()
        except KeyError as error:
            raise self.error(f"there is no drawing {error}") from error
        figure = nodes.container(classes=["drawing"])
        figure += html(picture)
        self.state.nested_parse(self.content, self.content_offset, figure)
        return [figure]


class Measured(Directive):
    """Bars of a page of the tutorial beside torch, with date and machine."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if not MEASURED.exists():
            return []
        report = json.loads(MEASURED.read_text(encoding="utf-8"))
        measured = report["pages"][self.arguments[0]]
        where = f"{report['date']}, {report['machine']}, torch {report['torch']}, Triton {report['triton']}"
        caption = (
            f"Speed in {measured['unit']}, compared with torch's own operation; medians of one run. {where}."
        )
        figure = nodes.container(classes=["drawing"])
        figure += [html(drawings.bars(measured["rows"], caption)), nodes.paragraph(caption, caption)]
        return [figure]


class About(Directive):
    """Logo, version, repository and changes."""

    def run(self) -> list[nodes.Node]:
        return [
            html(
                '<p class="about"><img src="_static/mark.svg" alt="" width="32" height="32">'
                f'<span>Version {pytriton.__version__}</span><a href="{urls()["Repository"]}">Repository</a>'
                '<a href="inside/changelog.html">Changelog</a></p>'
            )
        ]


class Speed(Directive):
    """Bars of a matrix product beside a hand-written kernel and torch.mm, with date and machine."""

    def run(self) -> list[nodes.Node]:
        report = speeds(json.loads(SPEEDS.read_text(encoding="utf-8")))
        rows = [[f"{size}\u00b3", *rates] for size, *rates in report["rows"]]
        caption = f"Speed in {report['unit']} of the {report['what']}. {report['run']}."
        shown = escape(caption).replace(COMMAND, f"<code>{COMMAND}</code>")
        figure = nodes.container(classes=["drawing"])
        figure += html(f"{drawings.bars(rows, caption, report['names'])}<p>{shown}</p>")
        return [figure]
