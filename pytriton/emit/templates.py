"""The templates of ``templates/``: translated modules, launchers, ports and reports.

A reader who opens them sees what is written. They are skeletons only: no user input is part of a template.
This is the only file that imports jinja2.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["render"]


def render(template: str, **values: object) -> str:
    """A template of ``templates/`` with these values."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    """The templates: inside the package in a wheel, one level up in a checkout."""
    package = Path(__file__).resolve().parent.parent
    roots = [package / "templates", package.parent / "templates"]
    return Environment(
        loader=FileSystemLoader(roots),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        auto_reload=False,
    )
