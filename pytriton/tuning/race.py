"""Which of some configs is the fastest? A race: all are timed in turn, and those surely slower drop out.

Input: configs; ``timed(point, count)``, which gives the milliseconds of so many launches of a config, now; and
what a config costs beside its time (warps, memory). Output: the field at the end (the *finalists*, the choice
first), and a time for each config.

A GPU's clock is not steady: a launch takes 10 % longer when the chip has been busy for a while, and some percent
more or less from one moment to the next. So no time is compared with a time of another moment. In a round each
config of the field has a turn, in an order that is drawn anew (each comes after each other as often), and what
counts is the ratio of two configs *of one round*, over many rounds:

* A config drops out when it is surely slower than the best. How sure: the mean of the logarithms of the ratio, less
  ``_SURE`` of its errors, as if one round more had been seen, off by ``_FIRST_ERROR``; so where the rounds agree
  one decides about configs that are 16 % slower, and ten about those that are 2 % slower.
* The race ends when one is left, or it has taken its time. Of those within ``CLOSE`` the cheapest is the choice: it
  is the fastest within the error, and leaves more room to whatever else runs.

The times that are given can be compared: that of the choice is its median, that of any other is this times the
ratio of both in the rounds that they shared.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
_Round = Mapping[T, float]  # the logarithm of each one's milliseconds

CLOSE: Final = 0.005  # a difference too small to take a more expensive config

MAX_ROUNDS: Final = 24
SCREENING: Final = 5  # rounds that find the best few; no race is shorter for want of time
_MAX_FINALISTS: Final = 8  # after SCREENING rounds
_SURE: Final = 2.5
_FIRST_ERROR: Final = 0.06
# Milliseconds: of one turn, of a race and of each config in it (beside twice what the first round took).
_TURN: Final = 3.0
_RACE: Final = 300.0
_RACE_OF_EACH: Final = 15.0
_MIN_LAUNCHES: Final = 3  # of one turn: the median of three is not moved by one that was disturbed
_MAX_LAUNCHES: Final = 20


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """``times``: milliseconds of each config that had a turn; ``field``: the finalists, the choice first, then by
    their times."""

    times: dict[T, float]
    field: list[T]


def race(
    points: Sequence[T],
    timed: Callable[[T, int], Sequence[float]],
    cost: Callable[[T], Any],
    over: Callable[[], bool] = lambda: False,
    rounds: int = MAX_ROUNDS,
    tell: Callable[[int, float], None] = lambda left, best: None,
) -> Outcome[T]:
    """Run at most so many rounds; ``over`` reports when the time is over.

    Configs that were not timed before have no time. ``tell`` is called after each round with the number of
    remaining configs, and the milliseconds of the best.
    """
    draw = random.Random(0)
    history: list[_Round[T]] = []
    field, load, enough, count = list(points), 0.0, math.inf, _MIN_LAUNCHES
    while True:
        turns: dict[T, float] = {}
        for point in draw.sample(field, len(field)):
            if turns and not history and over():
                break
            turns[point] = math.log(statistics.median(timed(point, count)))
        history.append(turns)
        load += count * sum(map(math.exp, turns.values()))
        if len(history) == 1:
            enough = 2 * load + _RACE + _RACE_OF_EACH * len(points)
        behind = _behind([point for point in field if point in turns], history)
        may_be_best = (point for point, (mean, error) in behind.items() if mean - error <= CLOSE)
        field = sorted(may_be_best, key=lambda point: behind[point][0])
        if len(history) >= SCREENING:
            field = field[:_MAX_FINALISTS]
        best = math.exp(turns[field[0]])
        tell(len(field), best)
        late = load > enough and len(history) >= SCREENING
        if len(field) == 1 or late or len(history) >= rounds or over():
            break
        count = min(_MAX_LAUNCHES, max(_MIN_LAUNCHES, round(_TURN / best)))
    field = field[:_MAX_FINALISTS]
    choice = min((point for point in field if behind[point][0] <= CLOSE), key=cost)
    field.sort(key=lambda point: (point is not choice, behind[point][0]))
    return Outcome(_times(history, field[0]), field)


def _behind(field: Sequence[T], rounds: Sequence[_Round[T]]) -> dict[T, tuple[float, float]]:
    """The slowdown of each config against the best, as a logarithm, and its error."""
    count = len(rounds)
    means = {point: sum(turns[point] for turns in rounds) / count for point in field}
    best = min(field, key=means.__getitem__)
    gaps: dict[T, tuple[float, float]] = {}
    for point in field:
        mean = means[point] - means[best]
        squares = sum((turns[point] - turns[best] - mean) ** 2 for turns in rounds)
        gaps[point] = mean, _SURE / count * math.sqrt(_FIRST_ERROR**2 + squares)
    gaps[best] = 0.0, 0.0
    return gaps


def _times(history: Sequence[_Round[T]], choice: T) -> dict[T, float]:
    """The choice's median, and the times of the others by their ratios to it."""
    scale = statistics.median(turns[choice] for turns in history)
    times: dict[T, float] = {}
    for point in history[0]:
        ratios = (turns[point] - turns[choice] for turns in history if point in turns)
        times[point] = math.exp(scale + statistics.fmean(ratios))
    return times
