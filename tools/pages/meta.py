"""Metadata of a page for search engines and link previews: its first paragraph, the picture of tools/social.py."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["add", "description", "urls"]

ROOT = Path(__file__).parent.parent.parent
SHORTEST, LONGEST = 50, 160  # characters of a description


def urls() -> dict[str, str]:
    """``[project.urls]`` of pyproject.toml."""
    tables: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, str] = tables["project"]["urls"]
    return found


def description(paragraphs: Iterable[str], title: str) -> str:
    """The first paragraphs of a page, cut after a word; its title where it has none."""
    words = ""
    for paragraph in paragraphs:
        words = f"{words} {paragraph}".strip()
        if len(words) >= SHORTEST:
            break
    words = re.sub(r"\s+", " ", words) or f"{title}: a page of the documentation of pytriton."
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 4].rpartition(' ')[0].rstrip(',;:')} ..."


def add(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Sphinx's event: the head of a page is about to be written."""
    title = re.sub(r"<[^>]+>", "", context.get("title", "")) or "pytriton"
    home = urls()["Homepage"]
    found = doctree.findall(lambda node: node.tagname == "paragraph") if doctree is not None else ()
    values = {
        "og:type": "website",
        "og:site_name": "pytriton",
        "og:title": title if title == "pytriton" else f"{title} - pytriton",
        "og:description": description((node.astext() for node in found), title),
        "og:url": f"{home}{page}.html".replace("/index.html", "/"),
        "og:image": f"{home}_static/social.png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Speed of a matrix product in Triton-C beside a hand-written kernel and torch.mm",
    }
    tags = [f'<meta name="description" content="{escape(values["og:description"])}">']
    tags += [f'<meta property="{name}" content="{escape(value)}">' for name, value in values.items()]
    tags.append('<meta name="twitter:card" content="summary_large_image">')
    if "furo_navigation_tree" in context:  # a heading has a level
        tree = context["furo_navigation_tree"]
        context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    context["metatags"] = context.get("metatags", "") + "\n" + "\n".join(tags) + "\n"
