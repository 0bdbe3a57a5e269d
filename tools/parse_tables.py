"""Writes the LALR(1) tables of ``grammar/triton_c.lark``, ``triton_c.json``: ``python tools/parse_tables.py``.

Building them takes a fifth of a second, so pytriton reads what stands in the repository (lang/automaton.py says
what is in it) and lark is a tool of its developers. A test builds them again and compares. The states are
numbered as they are first reached from the start, so that the same grammar gives the same file everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import Lexer, PatternStr
from lark.parsers.lalr_analysis import Shift

GRAMMAR = Path(__file__).resolve().parent.parent / "grammar"


class _NoLexer(Lexer):
    """The tokens come from preprocess.py."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, *_: Any) -> Iterator[Any]:
        return iter(())


def tables() -> str:
    """The text of the file."""
    text = (GRAMMAR / "triton_c.lark").read_text(encoding="utf-8")
    lark = Lark(text, parser="lalr", lexer=_NoLexer, keep_all_tokens=True, maybe_placeholders=True)
    table = lark.parser.parser._parse_table
    numbers = _numbered(table.states, table.start_states["start"])
    end = table.end_states["start"]
    rules = {rule: -1 - place for place, rule in enumerate(lark.rules)}
    rows: list[dict[str, int]] = []
    for state in numbers:
        row = {
            name: numbers[goal] if action is Shift else rules[goal]
            for name, (action, goal) in sorted(table.states[state].items())
        }
        rows.append({"$END": numbers[end]} if state == end else row)
    parts = {
        "words": {
            one.pattern.value: one.name for one in lark.terminals if isinstance(one.pattern, PatternStr)
        },
        "rules": [_rule(rule) for rule in lark.rules],
        "states": rows,
    }
    return "{\n" + ",\n".join(f'"{name}": {_lines(part)}' for name, part in parts.items()) + "\n}\n"


def _numbered(states: Any, start: Any) -> dict[Any, int]:
    """The number of each state, in the order of a search in breadth."""
    reached = [start]
    numbers = {start: 0}
    for state in reached:
        for _, (action, goal) in sorted(states[state].items(), key=lambda item: item[0]):
            if action is Shift and goal not in numbers:
                numbers[goal] = len(reached)
                reached.append(goal)
    return numbers


def _rule(rule: Rule) -> list[Any]:
    """What it makes, by which method, of how many parts, and which of them (see automaton.py)."""
    parts = rule.expansion
    row = rule.origin.name.startswith("_")
    inlined = rule.options.expand1 and not rule.alias
    assert not inlined or len(parts) == 1
    method = "[]" if row else "" if inlined else rule.alias or rule.origin.name
    shape: list[int | None] = []
    absent = rule.options.empty_indices or (False,) * len(parts)
    places = iter(range(len(parts)))
    for missing in absent:
        place = None if missing else next(places)
        expanded = place is not None and not parts[place].is_term and parts[place].name.startswith("_")
        shape.append(None if place is None else -1 - place if expanded else place)
    assert next(places, None) is None
    return [rule.origin.name, method, len(parts), None if shape == list(range(len(parts))) else shape]


def _lines(part: Any) -> str:
    """JSON with a line for each entry of a list."""
    if isinstance(part, list):
        return "[\n" + ",\n".join(map(_dense, part)) + "\n]"
    return _dense(part)


def _dense(part: Any) -> str:
    return json.dumps(part, separators=(",", ":"))


if __name__ == "__main__":
    (GRAMMAR / "triton_c.json").write_text(tables(), encoding="utf-8")
