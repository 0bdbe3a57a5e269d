"""Claims: sentences and tables of a page whose numbers come from elsewhere. tools/numbers.py has ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

MARK: Final = "\0"  # around each number of a sentence
NUMBER: Final = r"\d(?:[\d.,]*\d)?"

# What looks like a measurement: a number with a unit, or with two decimals.
MEASUREMENT: Final = re.compile(
    rf"(?<![\w.:^-]){NUMBER}(?: (?:to|and) {NUMBER})?[ -]?(?:[TG]FLOP/s|GB/s|µs|[um]s|s|min|%|[KMG]i?B|fold"
    rf"|(?:micro|milli)?seconds?|minutes|times)(?![\w/])|(?<![\w.:^-])\d+\.\d\d+(?!\w|\.\d)"
)
# Code, links, and versions.
UNMEASURED: Final = re.compile(
    r"^(`{3,}).*?^\1|`[^`\n]+`|\]\([^)\n]*\)"
    rf"|(?:Python|[Tt]orch|Triton|gcc)(?: below| \|)? {NUMBER}(?: (?:to|and|on GPUs,) {NUMBER})?",
    re.MULTILINE | re.DOTALL,
)


def n(value: float | str, form: str = "") -> str:
    """A number of a sentence."""
    return f"{MARK}{value:{form}}{MARK}"


class Sentence(str):
    """Words of a page with marked numbers; lines may break anywhere."""

    __slots__ = ()

    def pattern(self) -> str:
        parts = self.split(MARK)
        return "".join(
            f"({NUMBER})" if place % 2 else r"\s+".join(map(re.escape, re.split(r"\s+", part)))
            for place, part in enumerate(parts)
        )


class Table(NamedTuple):
    """A table of a page, found by its first line."""

    head: str
    rows: list[str]

    def pattern(self) -> str:
        return rf"(?<=^{re.escape(self.head)}\n)\|[-|]+\|\n((?:\|.*\n)*)"


@dataclass
class Page:
    """``stated``: numbers that are no measurements of a run, or that another test checks, and why."""

    claims: list[Sentence | Table]
    stated: dict[str, str] = field(default_factory=dict)


def compared(text: str, page: Page) -> tuple[str, list[str]]:
    """The text with the numbers of the claims, and what differed."""
    problems = []
    for claim in page.claims:
        told = claim.head if isinstance(claim, Table) else " ".join(claim.replace(MARK, "").split())
        found = list(re.finditer(claim.pattern(), text, re.MULTILINE))
        if len(found) != 1:
            problems.append(f"{len(found)} times instead of once: {told}")
            continue
        numbers = [f"{row}\n" for row in claim.rows] if isinstance(claim, Table) else claim.split(MARK)[1::2]
        wanted = ["".join(numbers)] if isinstance(claim, Table) else numbers
        if list(found[0].groups()) != wanted:
            shown = [f"{old.strip()} for {new.strip()}" for old, new in _differing(found[0].groups(), wanted)]
            problems.append(f"{'; '.join(shown)}: {told}")
        for group in range(len(wanted), 0, -1):
            text = text[: found[0].start(group)] + wanted[group - 1] + text[found[0].end(group) :]
    return text, problems


def _differing(found: Iterable[str], wanted: Iterable[str]) -> Iterator[tuple[str, str]]:
    for old, new in zip(found, wanted, strict=True):
        if "\n" not in old + new:
            yield from [(old, new)] if old != new else []
        else:
            lines = old.splitlines(), new.splitlines()
            yield from ((a, b) for a, b in zip(*lines, strict=False) if a != b)
            if len(lines[0]) != len(lines[1]):
                yield f"{len(lines[0])} rows", f"{len(lines[1])}"


def uncovered(text: str, page: Page) -> list[str]:
    """Numbers that look measured, outside of claims and of what ``stated`` names; and what it names in vain."""
    hidden = UNMEASURED.sub(_blank, text)
    for claim in page.claims:
        for found in re.finditer(claim.pattern(), text, re.MULTILINE):
            hidden = hidden[: found.start()] + _blank(found) + hidden[found.end() :]
    vain = []
    for phrase in page.stated:
        pattern = r"\s+".join(map(re.escape, phrase.split()))
        if not re.search(pattern, hidden):
            vain.append(f"stated, and not on the page: {phrase}")
        hidden = re.sub(pattern, _blank, hidden)
    return vain + [
        f"line {text.count(chr(10), 0, found.start()) + 1}: {found[0]}"
        for found in MEASUREMENT.finditer(hidden)
    ]


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
