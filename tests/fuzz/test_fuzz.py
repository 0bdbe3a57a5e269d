"""Generated kernels before all judges: fixed programs, and new ones that hypothesis shrinks when they fail.

``make fuzz N=10000`` runs many more. A failure here prints the kernel; ``python -m tests.fuzz 1 --seed S`` reduces
a fixed one.
"""

from __future__ import annotations

import collections

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pytriton
import pytriton.passes
from tests.fuzz.choices import Drawn, Recorded, Replayed, shrunk
from tests.fuzz.judge import judged
from tests.fuzz.kernels import CLASSES, OPEN, generate
from tests.oracle.judges import NEEDED, Case, checked, show, without_passes

BATCH = 10
FIXED = 240
EACH = 10


def _agree(case: Case) -> None:
    verdict = judged(case)
    assert verdict.ok, f"{verdict.kind} {verdict.detail}\n{show(case)}\n{verdict.message}"


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(start, marks=[] if 8 * start < FIXED else pytest.mark.slow)
        for start in range(0, FIXED, BATCH)
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_fixed(start: int) -> None:
    for seed in range(start, start + BATCH):
        _agree(generate(Recorded(seed), OPEN))


@pytest.mark.parametrize("about", [about for _, (about, make) in CLASSES if make])
@pytest.mark.filterwarnings("ignore")
def test_of_a_class(about: str) -> None:
    """Each class of programs with known values, alone: a run has few of each."""
    make = dict(pair for _, pair in CLASSES)[about]
    assert make is not None
    for seed in range(EACH):
        _agree(make(Recorded(seed)))


def test_the_classes_are_a_quarter() -> None:
    seen = collections.Counter(generate(Recorded(seed), OPEN).about for seed in range(400))
    assert set(seen) == {about for _, (about, _) in CLASSES}
    assert 0.2 < 1 - seen["mixed"] / 400 < 0.3


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data())
@pytest.mark.filterwarnings("ignore")
def test_drawn(data: st.DataObject) -> None:
    _agree(generate(Drawn(data.draw, st.integers), OPEN))


def test_a_row_replays() -> None:
    recorded = Recorded(11)
    case = generate(recorded, OPEN)
    assert generate(Replayed(recorded.row), OPEN).source == case.source
    assert checked(case.source, case.defines).parameters


def test_the_simplest_choices_make_a_kernel() -> None:
    _agree(generate(Replayed([]), OPEN))


def test_passes_can_be_switched_off() -> None:
    """The third judge is another module: its loop is no range."""
    text = "void f(int *Y) { for (int i = 0; i < 3; i++) *(Y + i) = i; }"
    assert {step.name for step in pytriton.passes.PASSES} > set(NEEDED)
    assert "range(3)" in pytriton.translate(text).text
    with without_passes():
        assert "range(3)" not in pytriton.translate(text).text


def test_shrinking() -> None:
    """The shortest row that holds a 7 behind a 3."""

    def fails(row: list[int]) -> bool:
        return 3 in row and 7 in row[row.index(3) :]

    assert shrunk([5, 9, 3, 4, 8, 7, 2, 6], fails) == [3, 7]  # type: ignore[arg-type]
