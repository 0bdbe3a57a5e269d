"""The cases of ``tests/errors``: wrong programs, and exactly what is said of each.

There is a page for each stage, ``<stage>.md``, to be read as documentation. In a page, a case is a heading with its
name, perhaps a sentence, what is given with the text, the text, and the diagnostics that it draws::

    ## define_misspelt

    ```toml
    defines = { TM = 16, TN = 32 }
    ```

    ```c
    __global__ void load(float* X) { ...
    ```

    ```text
    kernel.c:2:9: error: 'TN_' is not declared [TC304] ...
    ```

A case whose bytes matter (look-alike characters, trailing blanks) is a folder ``<case>/`` with ``kernel.c`` and
``expected.txt`` instead.
"""

from __future__ import annotations

import fcntl
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

__all__ = ["CASES", "PAGES", "Case", "as_markdown", "cases_of", "rewrite"]

ROOT = Path(__file__).parent
PAGES = tuple(ROOT / f"{stage}.md" for stage in ("preprocess", "parse", "check", "unsupported"))

_CASE = re.compile(
    r"""\#\#\ (?P<name>\w+)\n\n
    (?:(?P<sentence>[^`\n].*)\n\n)?
    (?:```toml\n(?P<given>(?:.*\n)*?)```\n\n)?
    ```c\n(?P<text>(?:.*\n)*?)```\n
    (?:\n```text\n(?P<expected>(?:.*\n)*?)```\n)?""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Case:
    """A wrong program. ``given`` is TOML: ``defines`` and ``kernel`` as ``pytriton.translate`` takes them."""

    name: str
    path: Path  # the page, or the folder
    text: bytes
    expected: str | None  # None: not written yet
    given: str = ""
    sentence: str = ""

    @property
    def defines(self) -> dict[str, Any]:
        return tomllib.loads(self.given).get("defines", {})

    @property
    def kernel(self) -> str | None:
        return tomllib.loads(self.given).get("kernel")


def cases_of(page: str, path: Path) -> tuple[str, list[Case]]:
    """The head of a page, and its cases."""
    cases = [
        Case(
            name=match["name"],
            path=path,
            text=match["text"].encode(),
            expected=match["expected"],
            given=match["given"] or "",
            sentence=match["sentence"] or "",
        )
        for match in _CASE.finditer(page)
    ]
    return page.partition("## ")[0], cases


def as_markdown(head: str, cases: list[Case]) -> str:
    """The page of these cases: the inverse of ``cases_of``."""
    return head + "\n".join(_section(case) for case in cases)


def _section(case: Case) -> str:
    parts = [f"## {case.name}\n"]
    parts += [f"{case.sentence}\n"] if case.sentence else []
    parts += [f"```toml\n{case.given}```\n"] if case.given else []
    parts += [f"```c\n{case.text.decode()}```\n"]
    parts += [f"```text\n{case.expected}```\n"] if case.expected is not None else []
    return "\n".join(parts)


def _of_pages() -> Iterator[Case]:
    for path in PAGES:
        yield from cases_of(path.read_text(encoding="utf-8"), path)[1]


def _of_folders() -> Iterator[Case]:
    for path in ROOT.iterdir():
        if (path / "kernel.c").exists():
            expected = path / "expected.txt"
            text = expected.read_text(encoding="utf-8") if expected.exists() else None
            yield Case(path.name, path, (path / "kernel.c").read_bytes(), text)


CASES = {case.name: case for case in sorted((*_of_pages(), *_of_folders()), key=lambda case: case.name)}


def rewrite(case: Case, expected: str) -> None:
    """Puts the diagnostics of a case in its place; other processes may be at other cases of the page."""
    if case.path.is_dir():
        (case.path / "expected.txt").write_text(expected, encoding="utf-8")
        return
    with case.path.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        head, cases = cases_of(file.read(), case.path)
        cases = [replace(other, expected=expected) if other.name == case.name else other for other in cases]
        file.seek(0)
        file.write(as_markdown(head, cases))
        file.truncate()
