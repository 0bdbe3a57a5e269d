"""``python -m pytriton explain TC302``: the page of a diagnostic, as ``docs/errors/TC302.md`` has it.

A wheel holds the pages inside the package; a checkout has them in ``docs``.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

__all__ = ["add_explain", "explain", "pages"]


def add_explain(commands: Any) -> None:
    """Add the command to an argparse object."""
    command = commands.add_parser("explain", help="cause and cure of a diagnostic, with an example")
    command.add_argument(
        "code", nargs="?", metavar="CODE", help="for example TC302: the code in brackets after each message"
    )
    command.add_argument("--list", action="store_true", help="all codes, each with its cause")


def explain(options: argparse.Namespace) -> int:
    """Print one page: 0, or 2 for a code that does not exist."""
    known = pages()
    if options.list:
        for code, path in known.items():
            print(f"{code}  {_cause(path)}")
        return 0
    if options.code is None:
        print("pytriton explain: error: give a code, or --list", file=sys.stderr)
        return 2
    code = options.code.strip().strip("[]").upper()
    if re.fullmatch(r"\d{3}", code):
        code = f"TC{code}"
    if code in known:
        sys.stdout.write(known[code].read_text(encoding="utf-8"))
        return 0
    message = f"there is no code '{options.code}'; --list shows all"
    print(f"pytriton explain: error: {message}", file=sys.stderr)
    return 2


def _cause(path: Path) -> str:
    """The cause that a page gives, in a line."""
    found = re.search(r"\*\*Cause\.\*\* (.*)", path.read_text(encoding="utf-8"))
    return textwrap.shorten(found[1], 100) if found is not None else ""


def pages() -> dict[str, Path]:
    """The pages by their codes."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "explanations", package.parent / "docs" / "errors"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("TC*.md"))}
    return {}
