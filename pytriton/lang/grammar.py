"""The LALR driver: lark parses tokens by ``grammar/triton_c.lark``.

There are two start rules: ``file`` for a source, ``constant`` for the expression of an ``#if``. What a reduction
becomes is up to a builder, a class with one method a rule that takes the parts of the reduction. Binary operators
come to it as one flat row, for which ``climb`` knows the precedence (docs/language.md, Operators).

lark needs 80 ms to turn the grammar into LALR(1) tables, and 10 ms to load tables that it made before.
So the tables are stored next to the grammar as JSON (``make grammar`` writes them), with the grammar and the
version of lark that they were made from. If either differs, or there are none, the tables are built.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import lark
from lark import Lark, Tree
from lark.grammar import Rule
from lark.lexer import PatternStr, TerminalDef
from lark.parse_tree_builder import ParseTreeBuilder
from lark.parsers.lalr_analysis import Shift

from pytriton.lang.tokens import Token, subtracted

GRAMMAR: Final = "triton_c.lark"
TABLES: Final = "triton_c.json"

# Binary operators, tightest first; equal numbers associate to the left.
PRECEDENCE: Final[dict[str, int]] = {
    operator: 14 - level
    for level, operators in enumerate(
        ["...", "@", "* / %", "+ -", "<< >>", "< > <= >=", "== !=", "&", "^", "|", "&&", "||"]
    )
    for operator in operators.split()
}


class Parser:
    """lark's parser, fed with tokens that parse/terminals.py gave their ``type``.

    ``result`` is what the builder made of the whole, once the ``END`` token was fed. ``spelled`` are the negative
    defines that follow an operand, where they are a sign and a number: ``5 X`` is ``5 -3``.
    """

    def __init__(self, start: str, builder: type) -> None:
        self._parser = _lark().parse_interactive(start=start)
        self._state = self._parser.parser_state
        self._actions, self._successors = _table(builder)
        self.result: Any = None
        self.spelled: set[str] = set()

    def feed(self, tokens: Sequence[Token], first: int = 0) -> int:
        """Take tokens from a place on; the place of the first that does not fit, their number if all do."""
        while (at := self._fed(tokens, first)) < len(tokens):
            parts = subtracted(tokens[at])
            if parts is None or "MINUS" not in self.accepts():
                return at
            self.spelled.add(tokens[at].text)
            self._fed(parts, 0)
            first = at + 1
        return at

    def _fed(self, tokens: Sequence[Token], first: int) -> int:
        """lark's ``feed_token`` for many tokens; it is a fifth of all work on a text."""
        actions, successors = self._actions, self._successors
        states, values = self._state.state_stack, self._state.value_stack
        state, end = states[-1], self._state.parse_conf.end_state
        for at in range(first, len(tokens)):
            token = tokens[at]
            terminal: Any = token.type
            while True:
                action = actions[state].get(terminal)
                if action.__class__ is int:  # shift
                    state = action
                    states.append(state)
                    values.append(token)
                    break
                if action is None:
                    return at
                size, build, rule = action
                if build is not None:
                    begin = len(values) - size
                    parts = values[begin:]
                    del values[begin:]
                    values.append(build(parts))
                del states[len(states) - size :]
                state = successors[states[-1], rule, terminal]
                states.append(state)
                if state == end:
                    self.result = values[-1]
                    break
        return len(tokens)

    def accepts(self) -> set[str]:
        """The terminals that fit here; the end of the source is none."""
        accepts: set[str] = self._parser.accepts()  # type: ignore[no-untyped-call]
        return accepts - {"$END"}

    def shifts(self, terminal: str) -> bool:
        """Whether the terminal fits here before any rule is complete."""
        action, _ = self._parser.choices().get(terminal, (None, None))  # type: ignore[no-untyped-call]
        return action is Shift

    @property
    def depth(self) -> int:
        """How many tokens and parts of rules wait to be completed."""
        return len(self._state.value_stack)

    def pop(self) -> None:
        """Forget the last of them."""
        self._state.state_stack.pop()
        self._state.value_stack.pop()


def climb(parts: list[Any], combine: Callable[[Any, Token, Any], Any]) -> Any:
    """Precedence climbing over operand, operator, operand, ...; everything is left-associative."""
    operands: list[Any] = [parts[0]]
    operators: list[Token] = []

    def reduce() -> None:
        right, operator = operands.pop(), operators.pop()
        operands.append(combine(operands.pop(), operator, right))

    for operator, operand in zip(parts[1::2], parts[2::2], strict=True):
        level = PRECEDENCE[operator.text]
        while operators and PRECEDENCE[operators[-1].text] >= level:
            reduce()
        operators.append(operator)
        operands.append(operand)
    while operators:
        reduce()
    return operands[0]


@cache
def spelled() -> Mapping[str, str]:
    """The terminal of each word and sign that the grammar spells out."""
    return {
        terminal.pattern.value: terminal.name
        for terminal in _lark().terminals
        if isinstance(terminal.pattern, PatternStr)
    }


def tables() -> str:
    """The JSON text of the tables, built from the grammar."""
    text = _folder().joinpath(GRAMMAR).read_text(encoding="utf-8")
    data, memo = _built(text).memo_serialize([TerminalDef, Rule])
    stored = {"grammar": text, "lark": lark.__version__, "data": data, "memo": memo}
    return json.dumps(stored, separators=(",", ":")) + "\n"


@cache
def _lark() -> Lark:
    """The grammar, from its tables if they were made from it by this lark."""
    folder = _folder()
    text = folder.joinpath(GRAMMAR).read_text(encoding="utf-8")
    try:
        json_text = folder.joinpath(TABLES).read_text(encoding="utf-8")
        stored = json.loads(json_text, object_pairs_hook=_with_numbers)
    except (OSError, ValueError):
        stored = {}
    if stored.get("grammar") != text or stored.get("lark") != lark.__version__:
        return _built(text)
    # Lark.load(), which is public, reads pickles.
    return Lark._load_from_dict(stored["data"], stored["memo"])  # type: ignore[no-untyped-call, no-any-return]


def _built(text: str) -> Lark:
    # Its lexer has nothing to do, and is one whose name JSON can hold.
    start = ["file", "constant"]
    return Lark(
        text, parser="lalr", lexer="basic", start=start, keep_all_tokens=True, maybe_placeholders=True
    )


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict[int | str, Any]:
    """A JSON object whose keys were numbers when it was written."""
    return {int(key) if key.isdigit() else key: value for key, value in pairs}


class _Successors(dict[tuple[int, str, str], int]):
    """The state after a reduction: by the state before it, its rule, and the next terminal. Reductions of one part
    to itself, which follow one another in an expression, are done in one step."""

    def __init__(self, actions: Mapping[int, Mapping[str, Any]]) -> None:
        self._actions = actions

    def __missing__(self, key: tuple[int, str, str]) -> int:
        before, rule, terminal = key
        state: int = self._actions[before][rule]
        action = self._actions[state].get(terminal)
        if action.__class__ is tuple and action[1] is None:
            state = self[before, action[2], terminal]
        self[key] = state
        return state


@cache
def _table(builder: type) -> tuple[dict[int, dict[str, Any]], _Successors]:
    """lark's table. For each state and terminal: the next state, or a reduction, which is the number of its parts,
    the function that builds of them (None where its only part is the result), and its rule. For each state and
    rule: the next state."""
    rules = _lark().rules
    # lark hands the parts of a reduction over as the grammar has them: flat, None for what is absent.
    callbacks: Any = ParseTreeBuilder(rules, Tree, maybe_placeholders=True).create_callback(builder())  # type: ignore[no-untyped-call]
    reductions = {
        id(rule): (len(rule.expansion), None if _is_kept(rule) else callbacks[rule], rule.origin.name)
        for rule in rules
    }
    states = _lark().parse_interactive(start="file").parser_state.parse_conf.states
    actions = {
        state: {name: reductions.get(id(argument), argument) for name, (_, argument) in row.items()}
        for state, row in states.items()
    }
    return actions, _Successors(actions)


def _is_kept(rule: Rule) -> bool:
    """Whether a reduction is its only part: ``?unary: postfix``."""
    return bool(rule.options.expand1) and rule.alias is None and len(rule.expansion) == 1


def _folder() -> Path:
    """Where the grammar is: inside the package in a wheel, one level up in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for root in (package, package.parent):
        if root.joinpath("grammar", GRAMMAR).is_file():
            return root / "grammar"
    raise FileNotFoundError(f"grammar/{GRAMMAR} is missing from this installation of pytriton")
