"""The judge of the tuner's choices: its questions are calls that can be made, and it knows a bad choice."""

from __future__ import annotations

import math

import pytest

import pytriton
from benchmarks.questions import QUESTIONS, Question
from benchmarks.regret import Answer, Sweep, means, one_by_one, oracle
from tests.runtime.tune.test_race import Stopwatch, exactly


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


def test_the_rule_before_compares_phases() -> None:
    """What is wrong with it: times from a hot chip, for near ties, against the others' from a cold one."""
    assert one_by_one(range(3), exactly(3.0, 1.0, 2.0)) == 1
    calls: list[int] = []

    def heating(point: int, count: int) -> list[float]:
        calls.append(point)
        return [(1.0, 1.01, 1.07)[point] * (1 if len(calls) <= 6 else 1.1)] * count

    assert one_by_one(range(3), heating) == 2


def test_means() -> None:
    found = Answer("a", [Sweep(1.0, 0.2, None, [])], 4.0, regrets=[1.0, 1.02])
    assert means([found]).splitlines() == [
        "regrets: 1.0100 (asked 1.005), worst 1.0200 (asked 1.02), 2 choices of 1 questions",
        "time of a cold sweep, of triton.autotune's: 0.25, worst 0.25 (asked 0.4)",
    ]
    assert "0.25 of 4.0 s" in found.row()
