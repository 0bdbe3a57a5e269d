"""``python tools/check_links.py FOLDER``: every link from one page of a built site to another has its target.

In: a folder of HTML. Out: exit status 1 and a line a broken link, else 0. Links to other hosts are not followed.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken"]


class Page(HTMLParser):
    """The places that a page has, and those that it leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


@cache
def page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def broken(site: Path) -> list[str]:
    """``page: link`` for each link that leads nowhere."""
    found = []
    for path in sorted(site.rglob("*.html")):
        for link in sorted(page(path).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            fine = target.is_file()
            if fine and target.suffix == ".html" and parts.fragment and target.parent.name != "playground":
                fine = unquote(parts.fragment) in page(target).anchors
            if not fine:
                found.append(f"{path.relative_to(site)}: {link}")
    return found


if __name__ == "__main__":
    lines = broken(Path(sys.argv[1]).resolve())
    print("\n".join(f"{line}: leads nowhere" for line in lines), end="\n" if lines else "")
    sys.exit(bool(lines))
