"""The measured numbers of README and docs are those of the runs in benchmarks/results: tools/numbers.py."""

from __future__ import annotations

import re

import pytest

from benchmarks import table
from tools.claims import Page, Sentence, Table, compared, n, uncovered
from tools.numbers import PAGES, PROGRAMS, ROOT, UNREAD, pages

PAGE = Page(
    [Sentence(f"It takes {n(1.5)} to {n(2000, ',')} us."), Table("| a | b |", ["| x | 1.25 |", "| y | 7 |"])],
    {"two or 3 s": "an order of magnitude"},
)
TEXT = """Words. It takes 1.5 to
2,000 us. Wait two or 3 s, with Python 3.11 and `1.25 ms`.

| a | b |
|---|---|
| x | 1.25 |
| y | 7 |

More."""


@pytest.mark.parametrize("name", PAGES)
def test_numbers_are_those_of_the_runs(name: str) -> None:
    """``python -m tools.numbers --write`` puts them there; the words around them are edited by hand."""
    assert compared((ROOT / name).read_text(encoding="utf-8"), PAGES[name])[1] == []


@pytest.mark.parametrize("name", sorted({*pages()} - UNREAD.keys()))
def test_every_number_with_a_unit_has_a_run(name: str) -> None:
    assert uncovered((ROOT / name).read_text(encoding="utf-8"), PAGES.get(name, Page([]))) == []


def test_pages_exist() -> None:
    assert {*PAGES, *UNREAD} <= {*pages()}


def test_a_page_that_agrees() -> None:
    assert compared(TEXT, PAGE) == (TEXT, [])
    assert uncovered(TEXT, PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("1.5 to", "1.6 to", "1.6 for 1.5: It takes 1.5 to 2,000 us."),
        ("2,000", "2,001", "2,001 for 2,000: It takes 1.5 to 2,000 us."),
        ("| x | 1.25 |", "| x | 1.2 |", "| x | 1.2 | for | x | 1.25 |: | a | b |"),
        ("| y | 7 |\n", "", "1 rows for 2: | a | b |"),
    ],
)
def test_a_number_that_differs(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    assert compared(TEXT.replace(old, new), PAGE) == (TEXT, [problem])


def test_words_that_differ_are_left() -> None:
    text = TEXT.replace("It takes", "It costs")
    assert compared(text, PAGE) == (text, ["0 times instead of once: It takes 1.5 to 2,000 us."])
    twice = TEXT + " It takes 3 to 4 us."
    assert compared(twice, PAGE) == (twice, ["2 times instead of once: It takes 1.5 to 2,000 us."])


@pytest.mark.parametrize(
    "words", ["9 us", "0.45", "3.7-fold", "2 to 3 TFLOP/s", "1.2 times", "80 microseconds", "5 %"]
)
def test_a_number_without_a_claim(words: str) -> None:
    (found,) = uncovered(f"{TEXT}\nAnd {words}.", PAGE)
    assert re.fullmatch(r"line 10: .+", found)


def test_a_statement_in_vain() -> None:
    assert uncovered(TEXT.replace("two or 3 s", "a while"), PAGE) == [
        "stated, and not on the page: two or 3 s"
    ]


def test_means_of_rounded_ratios_are_given() -> None:
    """They agree with those of the rows as far as rounding allows."""
    given = {line.partition(":")[0]: line for line in table.means(PROGRAMS)}
    computed = {line.partition(":")[0]: line for line in table.means({"rows": PROGRAMS["rows"]})}
    assert given.keys() <= computed.keys()
    for key, line in given.items():
        values = [
            [float(x) for x in re.findall(r"\d+\.\d+", text.partition(":")[2])]
            for text in (line, computed[key])
        ]
        assert values[0] == pytest.approx(values[1], abs=0.011)
