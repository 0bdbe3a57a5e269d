"""Sphinx's side of notebooks.py: a script of docs/tutorial is a page, and is run when that is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser

from tools.pages.notebooks import as_markdown

__all__ = ["NotebookParser"]


class NotebookParser(MystParser):
    """Reads a script as the Markdown that it becomes."""

    supported = ("tutorial",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        environment: Any = document.settings.env
        super().parse(as_markdown(Path(environment.doc2path(environment.docname))), document)
