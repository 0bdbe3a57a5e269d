"""The LALR(1) tables of the grammar, and the automaton that they drive.

Input: the terminals of a text and their tokens. Output: what ``Builder`` (reduce.py) makes of them. The tables
stand in ``grammar/triton_c.json``, which ``tools/parse_tables.py`` writes with lark, so that no process builds
them. A row of ``states`` tells what to do in a state: a number from 0 is the state that a terminal (or what was
made of several) leads to, a number below 0 a rule, counted from -1. A rule is

    [what it makes, the method of the Builder, how many parts it takes off the stack, their shape]

without a method where its only part is passed on; ``[]`` stands for a list that grows. A shape tells which parts
the method gets: a place, None for what the text lacks, ``-1 - place`` for a list whose items take its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytriton.lang.reduce import Builder

__all__ = ["END", "Parser", "Tables", "tables"]

END: Final = "$END"

Shape = tuple[int | None, ...] | None
Row = dict[str, int]


class Rule(NamedTuple):
    """``build`` is None for a rule that passes its only part on."""

    makes: str
    size: int
    build: Callable[[list[Any]], Any] | None
    shape: Shape


class Tables(NamedTuple):
    """``words``: fixed spelling -> terminal. ``jumps``: answers of ``Parser._behind`` that are known, by state."""

    words: dict[str, str]
    rules: list[Rule]
    states: list[Row]
    jumps: list[dict[tuple[str, str], int]]

    def shifts(self, state: int, terminal: str) -> bool:
        """Whether the terminal can stand there without any rule."""
        return self.states[state].get(terminal, -1) >= 0


@cache
def tables() -> Tables:
    """The tables: inside the package in a wheel, one level up in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for root in (package, package.parent):
        path = root / "grammar" / "triton_c.json"
        if path.is_file():
            break
    else:
        raise FileNotFoundError("grammar/triton_c.json is missing from this installation of pytriton")
    stored = json.loads(path.read_text(encoding="utf-8"))
    builder = Builder()
    rules = [_rule(builder, *rule) for rule in stored["rules"]]
    states = stored["states"]
    return Tables(stored["words"], rules, states, [{} for _ in states])


def _rule(builder: Builder, makes: str, method: str, size: int, shape: list[int | None] | None) -> Rule:
    build = _grown if method == "[]" else getattr(builder, method) if method else None
    return Rule(makes, size, build, None if shape is None else tuple(shape))


def _grown(parts: list[Any]) -> list[Any]:
    """A list that grows: its items so far stand in front, as its shape says."""
    return parts


def _shaped(parts: list[Any], shape: Sequence[int | None]) -> list[Any]:
    """The parts in their shape; a list in front is used up, so that it grows in place."""
    found: list[Any] = []
    for place in shape:
        if place is None:
            found.append(None)
        elif place >= 0:
            found.append(parts[place])
        elif found:
            found += parts[-1 - place]
        else:
            found = parts[-1 - place]
    return found


class Parser:
    """The automaton at work: its states so far, and what was made of the tokens."""

    def __init__(self) -> None:
        self.tables = tables()
        self.states = [0]
        self.values: list[Any] = []

    def run(self, terminals: Sequence[str], tokens: Sequence[Any], at: int = 0) -> int:
        """Take terminals from a place on; the place of the first that does not fit, their number if all do."""
        states, values = self.states, self.values
        _, rules, rows, jumps = self.tables
        count = len(terminals)
        while at < count:
            terminal = terminals[at]
            state = rows[states[-1]].get(terminal)
            if state is None:
                break
            if state >= 0:
                states.append(state)
                values.append(tokens[at])
                at += 1
                continue
            makes, size, build, shape = rules[-1 - state]
            if size:
                del states[-size:]
            if build is not None:
                parts = values[-size:] if size else []
                if shape is not None:
                    parts = _shaped(parts, shape)
                values[len(values) - size :] = (build(parts),)
            below = states[-1]
            goal = jumps[below].get((makes, terminal))
            states.append(self._behind(below, makes, terminal) if goal is None else goal)
        return at

    def _behind(self, below: int, makes: str, terminal: str) -> int:
        """The state behind what was made, in front of a terminal: through all rules that only pass it on."""
        _, rules, rows, jumps = self.tables
        made = makes
        while True:
            goal = rows[below][made]
            code = rows[goal].get(terminal, 0)
            if code >= 0 or rules[-1 - code].build is not None:
                break
            made = rules[-1 - code].makes
        jumps[below][makes, terminal] = goal
        return goal

    def accepts(self) -> set[str]:
        """The terminals that fit here; the end of the text is none."""
        return {name for name in self.tables.states[self.states[-1]] if name.isupper() and self.fits(name)}

    def fits(self, terminal: str) -> bool:
        """Whether the terminal can stand here, after rules perhaps."""
        _, rules, rows, _ = self.tables
        states = list(self.states)
        while (code := rows[states[-1]].get(terminal)) is not None:
            if code >= 0:
                return terminal != END
            makes, size, _, _ = rules[-1 - code]
            del states[len(states) - size :]
            states.append(rows[states[-1]][makes])
        return False
