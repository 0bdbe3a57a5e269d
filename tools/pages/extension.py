"""What the pages of docs/ can say beside Markdown, as a Sphinx extension.

``becomes``: a Triton-C text and the Python it becomes, translated while the page is built. ``output``: a command
and what it prints. ``drawing``: a picture of drawings.py, in the colours of the page. Links that leave docs/ are
led to the page or the file they mean (links.py). Each page has a description (meta.py). See
docs/by-example.md for all of them at work.
"""

from __future__ import annotations

from typing import Any

from pytriton.lsp.highlight import TritonCLexer
from tools.pages import links, meta
from tools.pages.directives import About, Becomes, Cases, Drawing, Measured, Output, Shown, Speed
from tools.pages.parser import NotebookParser
from tools.pages.theme import Python

__all__ = ["setup"]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("about", About)
    app.add_directive("becomes", Becomes)
    app.add_directive("cases", Cases)
    app.add_directive("output", Output)
    app.add_directive("drawing", Drawing)
    app.add_directive("measured", Measured)
    app.add_directive("shown", Shown)
    app.add_directive("speed", Speed)
    app.add_source_suffix(".py", "tutorial")
    app.add_source_parser(NotebookParser)
    app.add_lexer("c", TritonCLexer)
    app.add_lexer("python", Python)
    app.connect("source-read", links.read)
    app.connect("html-page-context", meta.add, priority=900)  # after furo
    return {"parallel_read_safe": True, "parallel_write_safe": True}
