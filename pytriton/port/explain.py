"""``python -m pytriton explain TC302``: the page of a diagnostic, as ``docs/errors/TC302.md`` has it.

A wheel holds the pages inside the package; a checkout has them in ``docs``.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["add_explain", "explain", "pages"]


def add_explain(commands: Any) -> None:
    """Add the command to an argparse object."""
    command = commands.add_parser("explain", help="cause and cure of a diagnostic, with an example")
    command.add_argument("code", metavar="CODE", help="TC302, say: it stands in brackets after each message")


def explain(options: argparse.Namespace) -> int:
    """Print one page: 0, or 2 for a code that does not exist."""
    known = pages()
    code = options.code.strip().strip("[]").upper()
    if re.fullmatch(r"\d{3}", code):
        code = f"TC{code}"
    if code in known:
        sys.stdout.write(known[code].read_text(encoding="utf-8"))
        return 0
    near = difflib.get_close_matches(code, known, 1)
    hint = f"; the nearest is {near[0]}" if near else ""
    print(f"pytriton explain: error: there is no code '{options.code}'{hint}", file=sys.stderr)
    return 2


def pages() -> dict[str, Path]:
    """The pages by their codes."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "explanations", package.parent / "docs" / "errors"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("TC*.md"))}
    return {}
