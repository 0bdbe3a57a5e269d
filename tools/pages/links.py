"""Links of a page, as they are right in the repository, made right in the site.

In: the Markdown of a page, whose links are paths from the folder it stands in. Out: the same with links that leave
docs/ led to the page that shows that file (``PAGES``), or, for a folder, to no link at all; other files of the
repository are offered as downloads. A page that is only ``<!-- page: ../X.md -->`` is that file. The last column of
docs/language.md leads to docs/cases.md. A page of an error code belongs to no list of contents, and the codes of
docs/errors.md lead to it.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

__all__ = ["rewritten"]

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests" / "translate"
PAGES = {
    "README.md": "docs/index.md",
    "ARCHITECTURE.md": "docs/inside/architecture.md",
    "CONTRIBUTING.md": "docs/inside/contributing.md",
    "CHANGELOG.md": "docs/inside/changelog.md",
    "benchmarks/RESULTS.md": "docs/inside/results.md",
}
LINK = re.compile(r"\[(?P<text>[^\]\n]*(?:\n[^\]\n]*)?)\]\((?P<path>(?!\w+:)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
STUB = re.compile(r"<!-- page: (\S+) -->\s*$")


def read(app: object, name: str, source: list[str]) -> None:
    """Sphinx's event: the text of a page was read."""
    if not source[0].startswith("# %%"):
        source[0] = rewritten(f"docs/{name}.md", source[0])


def under_one_heading(text: str) -> str:
    """A page with several parts: the headings after its first one go down a level, so that it has one title."""
    first, fence, lines = True, False, []
    for line in text.splitlines():
        fence ^= line.startswith("```")
        if line.startswith("#") and not fence:
            line, first = line if first else f"#{line}", False
        lines.append(line)
    return "\n".join(lines) + "\n"


def with_cases(cell: re.Match[str]) -> str:
    """The last cell of a row, its cases as links to where they are shown."""

    def lead(name: re.Match[str]) -> str:
        anchor = name[1].replace("_", "-")
        link = f'<a class="reference internal" href="cases.html#{anchor}"><code>{name[1]}</code></a>'
        return link if (CASES / name[1]).is_dir() else name[0]

    return re.sub(r"`(\w+)`", lead, cell[0])


def rewritten(page: str, text: str) -> str:
    """The text of a page for the site; ``page`` is its path from the root of the repository."""
    stub = STUB.search(text)
    told_from = page
    if stub:
        told_from = normpath(PurePosixPath(page).parent / stub[1])
        text = (ROOT / told_from).read_text(encoding="utf-8")

    def lead(link: re.Match[str]) -> str:
        target = normpath(PurePosixPath(told_from).parent / link["path"])
        target = PAGES.get(target, target)
        if (ROOT / target).is_dir() or not (ROOT / target).exists():
            return link["text"]
        if target.endswith((".py", ".md")) and not target.startswith("docs/"):
            return f"{{download}}`{link['text'].strip('`')} <{relpath(target, PurePosixPath(page).parent)}>`"
        return f"[{link['text']}]({relpath(target, PurePosixPath(page).parent)}{link['anchor'] or ''})"

    parts = re.split(r"(^```.*?^```$|`[^`\n]+`(?!\]))", text, flags=re.MULTILINE | re.DOTALL)
    text = "".join(part if n % 2 else LINK.sub(lead, part) for n, part in enumerate(parts))
    if (
        len(
            re.findall(r"^# ", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
        )
        > 1
    ):
        text = under_one_heading(text)
    if page == "docs/index.md":
        text = text.partition("\nIn the repository")[0]  # the site has its contents at the side
    if page == "docs/language.md":
        text = re.sub(r"(?<=\|)[^|\n]*(?=\|$)", with_cases, text, flags=re.MULTILINE)
    if page == "docs/errors.md":
        text = re.sub(r"^\| (TC\d{3}) \|", r"| [\1](errors/\1.md) |", text, flags=re.MULTILINE)
        text = f"---\nhide-toc: true\n---\n\n{text}"
    if page.startswith("docs/errors/"):
        text = f"---\norphan: true\n---\n\n{text}"
    return text
