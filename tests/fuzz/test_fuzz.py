"""Generated kernels before all judges: fixed programs, and new ones that hypothesis shrinks when they fail.

``make fuzz N=10000`` runs many more. A failure here prints the kernel; ``python -m tests.fuzz 1 --seed S`` reduces
a fixed one.
"""

from __future__ import annotations

import collections
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pytriton
import pytriton.passes
from tests.fuzz.choices import Drawn, Recorded, Replayed, shrunk
from tests.fuzz.judge import Verdict, judged
from tests.fuzz.kernels import CLASSES, OPEN, generate
from tests.oracle.judges import NEEDED, Case, checked, emitted, show, without_passes
from tests.oracle.memory import Memory

BATCH = 10
FIXED = 240
EACH = 10


def _agree(case: Case) -> None:
    verdict = judged(case)
    assert not verdict.failed, f"{verdict.kind} {verdict.detail}\n{show(case)}\n{verdict.message}"


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(start, marks=[] if 12 * start < FIXED else pytest.mark.slow)
        for start in range(0, FIXED, BATCH)
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_fixed(start: int) -> None:
    for seed in range(start, start + BATCH):
        _agree(generate(Recorded(seed), OPEN))


@pytest.mark.parametrize("count", [EACH // 3, pytest.param(EACH, marks=pytest.mark.slow)])
@pytest.mark.parametrize("about", [about for _, (about, make) in CLASSES if make])
@pytest.mark.filterwarnings("ignore")
def test_of_a_class(about: str, count: int) -> None:
    """Each class of programs with known values, alone: a run has few of each."""
    make = dict(pair for _, pair in CLASSES)[about]
    assert make is not None
    for seed in range(count):
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


@pytest.mark.parametrize("seed", [92002230, 92000183, 92000508, 92001208])
@pytest.mark.filterwarnings("ignore")
def test_what_a_gpu_may_do_otherwise_is_no_failure(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton 3.6 on a GPU: a division off by one unit, and zeros of the other sign where the language says so."""
    left_open: list[bool] = []

    def modules(case: Case, memory: Memory, *_: object, **__: object) -> Verdict:
        contents = [memory.contents(at) for at in range(len(case.buffers))]
        left_open.append(any(error.any() for _, error in contents))
        return Verdict("ok")

    def on_cpu(case: Case, *, device: str, run: Any) -> Any:
        return emitted(case, run=run)

    monkeypatch.setattr("tests.fuzz.judge._modules", modules)
    monkeypatch.setattr("tests.fuzz.judge.emitted", on_cpu)
    verdict = judged(generate(Recorded(seed), OPEN), device="cuda")
    assert verdict.ok
    assert verdict.detail == "undecided" or left_open == [True]


def test_no_verdict_is_no_failure() -> None:
    kinds = ("ok", "undefined", "differs", "refused", "crashed", "killed", "hung")
    assert [kind for kind in kinds if not Verdict(kind).failed] == ["ok", "undefined"]


def test_a_row_replays() -> None:
    recorded = Recorded(11)
    case = generate(recorded, OPEN)
    assert generate(Replayed(recorded.row), OPEN).source == case.source
    assert checked(case.source, case.defines).parameters


def test_the_simplest_choices_make_a_kernel() -> None:
    _agree(generate(Replayed([]), OPEN))


def test_passes_can_be_switched_off() -> None:
    """The third judge runs another module: its loop is not a range."""
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
