"""The judge of the tuner's choices: its questions are calls that can be made, and it knows a bad choice."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

import pytriton
from benchmarks.explore import MAX_REGISTERS, _registers, drawn
from benchmarks.questions import QUESTIONS, Question
from benchmarks.regret import Answer, Sweep, cells, logged, means, oracle
from tests.tuning.test_race import Stopwatch


def test_there_are_enough() -> None:
    names = [question.name for question in QUESTIONS]
    assert len(set(names)) == len(names) >= 16


@pytest.mark.parametrize("question", QUESTIONS[::5], ids=lambda question: question.name)
def test_a_question_is_a_call(question: Question) -> None:
    """Its arguments are as many as the kernel has, and what it sweeps is a constexpr, as autotune needs it."""
    kernel = pytriton.kernel(question.source, question.defines, question.warps, kernel=question.kernel)
    translation = kernel.translation()
    assert len(question.arguments("meta")) == len(translation.parameters)
    assert set(question.shown) <= set(translation.constexprs)
    assert len(kernel._definition.configs({})) >= 4
    first = {name: question.defines[name][0] for name in question.shown}
    assert all(size > 0 for size in question.grid(first))


def test_the_oracle_knows_the_best_and_a_bad_choice() -> None:
    watch = Stopwatch([0.21, 0.2, 0.203, 0.3], 5)
    behind, error, rounds = oracle(range(4), [3], watch.timed, 0.3)
    assert behind[1] == 0
    assert rounds >= 5
    for point, ratio in ((0, 1.05), (2, 1.015), (3, 1.5)):
        assert behind[point] == pytest.approx(math.log(ratio), abs=6 * error + 0.004)


def test_means(tmp_path: Path) -> None:
    """Of the rows that were printed, in this run or in earlier ones."""
    found = Answer("softmax-1024", [Sweep(1.0, 0.2, None, [])], 4.0, regrets=[1.0, 1.02], again=[1.01])
    other = Answer("softmax-8192", [Sweep(1.0, 0.2, None, [])], regrets=[1.0])
    assert "0.25 of 4.0 s" in found.row()
    assert means([cells(found.row())]).splitlines() == [
        "regret of sweeps: 1.0100 (asked 1.005), worst 1.0200 (asked 1.02), 2 choices of 1 questions",
        "regret of races again: 1.0100 (asked 1.005), worst 1.0100 (asked 1.02), 1 choices of 1 questions",
        "time of a cold sweep, of triton.autotune's: 0.25, worst 0.25 (asked 0.4)",
    ]
    log = tmp_path / "log"
    log.write_text(f"| question | points |\n|---|---|\n{found.row()}\nto go on: --from x\n{other.row()}\n")
    assert logged([log]) == [cells(found.row()), cells(other.row())]


def test_points_that_are_drawn_reach_beyond_the_lists() -> None:
    question = next(question for question in QUESTIONS if question.name == "attention-128")
    points = drawn(question, 60, random.Random(0))
    assert len(set(points)) == 60
    assert {point.defines["TN"] for point in points} == {16, 32, 64, 128, 256}
    assert {point.num_warps for point in points} == {2, 4, 8, 16}
    assert all(point.defines["D"] == 128 for point in points)


def test_few_points_are_drawn_once_each() -> None:
    question = next(question for question in QUESTIONS if question.name == "softmax-1024")
    points = drawn(question, 1000, random.Random(0))
    assert len(points) == len(set(points)) == 6 * 5  # warps of 1 to 32, stages of 1 to 5
    assert all(_registers(point) <= MAX_REGISTERS for point in points)
