"""Wrong versions of launches that are right: what people get wrong, one mistake each.

In the text: a mask dropped, ``<`` made ``<=``, a program id that is one too large. In the call: a number that is
one more or twice as much, two numbers swapped, a tensor that is shorter, None for a tensor, a grid with one
program more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch

from tests.runtime.checks.recording import Recorded

__all__ = ["Mutant", "mutants_of"]


@dataclass(frozen=True)
class Mutant:
    """A recorded launch, changed, and the mistake in a few words."""

    launch: Recorded
    mistake: str

    def __str__(self) -> str:
        return f"{self.launch.label}: {self.mistake}"


def mutants_of(launch: Recorded) -> Iterator[Mutant]:
    """All of them, in a fixed order."""
    for mistake, text in _texts(launch.text):
        yield Mutant(replace(launch, text=text), mistake)
    for mistake, arguments in _arguments(launch):
        yield Mutant(replace(launch, arguments=arguments), mistake)
    x, y, z = launch.grid
    yield Mutant(replace(launch, grid=(x + 1, y, z)), "a program more in the grid")
    yield Mutant(replace(launch, grid=(x, y + 1, z)), "a program more in the second axis of the grid")


def _texts(text: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(r"\*\?\(", text):
        end = _closing(text, match.end() - 1)
        line = text.count("\n", 0, match.start()) + 1
        yield f"no mask in line {line}", text[: match.start()] + "*" + text[end + 1 :]
    for match in re.finditer(r"(?<=[\w\])]) (<|>) (?=[\w(])", text):
        line = text.count("\n", 0, match.start()) + 1
        at = match.start(1)
        yield f"{match[1]}= in line {line}", text[: at + 1] + "=" + text[at + 1 :]
    for match in re.finditer(r"get_program_id\(0\)", text):
        line = text.count("\n", 0, match.start()) + 1
        yield (
            f"the next program's place in line {line}",
            f"{text[: match.start()]}(get_program_id(0) + 1){text[match.end() :]}",
        )


def _closing(text: str, start: int) -> int:
    """Where the parenthesis closes that opens at ``start``."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    raise AssertionError(text)


def _arguments(launch: Recorded) -> Iterator[tuple[str, tuple[Any, ...]]]:
    given, names = launch.arguments, launch.names
    numbers = [at for at, value in enumerate(given) if type(value) is int]
    for at in numbers:
        yield f"{names[at]} + 1", _with(given, at, given[at] + 1)
        if given[at] > 1:
            yield f"{names[at]} * 2", _with(given, at, given[at] * 2)
    for first, second in pairwise(numbers):
        if given[first] != given[second]:
            swapped = _with(_with(given, first, given[second]), second, given[first])
            yield f"{names[first]} and {names[second]} swapped", swapped
    for at, value in enumerate(given):
        if not isinstance(value, torch.Tensor) or not value.numel():
            continue
        yield f"None for {names[at]}", _with(given, at, None)
        for length in {value.numel() - 1, value.numel() // 2} - {0, value.numel()}:
            yield f"{length} elements for {names[at]}", _with(given, at, value.reshape(-1)[:length].clone())


def _with(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])
