"""A race that ranks share: who races what, and which result decides. The store is replaced by a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytriton.runtime.options.defines import Config
from pytriton.runtime.tune import together
from pytriton.runtime.tune.together import Heat, race_together

CONFIGS = tuple(Config({"T": 1 << at}) for at in range(12))


class Question:
    def stored_by(self) -> dict[str, Any]:
        return {}


def milliseconds(config: Config) -> float:
    return abs(int(config.defines["T"]).bit_length() - 6) + 1.0


def race(configs: Sequence[Config], rounds: int) -> Heat:
    return Heat({config: milliseconds(config) for config in configs}, sorted(configs, key=milliseconds)[:4])


def raced(
    monkeypatch: pytest.MonkeyPatch,
    ranks: int,
    configs: Sequence[Config],
    run: Callable[[Sequence[Config], int], Heat],
) -> tuple[Heat, list[int]]:
    """How the race ended, and how many configs took part in each heat."""
    sizes: list[int] = []

    def noted(configs: Sequence[Config], rounds: int) -> Heat:
        sizes.append(len(configs))
        return run(configs, rounds)

    monkeypatch.setattr(together, "ranks_here", lambda: ranks)
    monkeypatch.setattr(together, "share", lambda name, count, run: [run(at) for at in range(count)])
    question: Any = Question()
    return race_together(question, configs, 24, noted), sizes


@pytest.mark.parametrize("ranks", [2, 3, 6])
def test_each_takes_a_part_and_one_decides(monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    heat, sizes = raced(monkeypatch, ranks, CONFIGS, race)
    lots = min(ranks, len(CONFIGS) // 4)
    assert sizes == [12 // lots] * lots + [3 * lots]
    assert heat.field[0] == Config({"T": 32})
    assert heat.results == {config: milliseconds(config) for config in CONFIGS}


@pytest.mark.parametrize(("ranks", "configs"), [(1, CONFIGS), (4, CONFIGS[:7])])
def test_a_race_that_is_not_shared(
    monkeypatch: pytest.MonkeyPatch, ranks: int, configs: tuple[Config, ...]
) -> None:
    """There is one rank, or there are too few configs."""
    heat, sizes = raced(monkeypatch, ranks, configs, race)
    assert sizes == [len(configs)]
    assert heat == race(configs, 24)


def test_lots_of_which_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Heat({CONFIGS[0]: "it does not fit"})
    heat, _ = raced(monkeypatch, 3, CONFIGS, lambda *_: lost)
    assert heat == lost
