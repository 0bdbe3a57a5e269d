"""lark's tables in the repository are those of the grammar; where they do not fit, the grammar itself serves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lark
import pytest
from lark import Lark
from lark.grammar import Rule

from pytriton.errors import Report
from pytriton.lang import grammar
from pytriton.lang.parse import builder, syntax, terminals
from pytriton.lang.parse.parser import parse
from pytriton.lang.preprocess.arithmetic import evaluate
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.tokens import Token, tokenize
from pytriton.source import Source

FOLDER = Path(__file__).resolve().parents[2] / "grammar"
TRANSLATED = sorted((Path(__file__).parents[1] / "translate").glob("*/kernel.c"))
KERNEL = "__global__ void add(float* X, int n) { int i[16] = 0 ... 16; *?(i < n)(X + i) += n > 1 ? 2 : 3; }"
WRONG = "__global__ void f(int n) { int m = ; if (n) { x y z; } }"
CACHED = (grammar._lark, grammar._table, grammar.spelled, terminals.terminals)


@pytest.fixture
def grammar_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the grammar and its tables, of which nothing was read yet."""
    folder = tmp_path / "grammar"
    shutil.copytree(FOLDER, folder)
    monkeypatch.setattr(grammar, "_folder", lambda: folder)
    for function in CACHED:
        function.cache_clear()
    yield folder
    for function in CACHED:
        function.cache_clear()


def parsed(text: str) -> syntax.File:
    report = Report()
    return parse(preprocess(Source(text), {}, report).tokens, report)


def seen(text: str) -> str:
    """The tree, or the errors."""
    try:
        return repr(parsed(text))
    except Exception as error:
        return str(error)


def holds(text: str) -> bool:
    source, report = Source(text), Report()
    tokens = tokenize(source, report)
    return evaluate(tokens[:-1], tokens[0].span, report)


def spelled_out(rule: Rule) -> tuple[Any, ...]:
    return str(rule.origin.name), [str(symbol.name) for symbol in rule.expansion], str(rule.alias)


def states(parser: Lark) -> list[dict[str, Any]]:
    """The table with its states numbered as a search in breadth finds them: lark's numbers differ by process."""
    table: Any = parser.parser.parser._parse_table
    reached = list(table.start_states.values())
    numbers = {state: number for number, state in enumerate(reached)}
    rows = []
    for state in reached:
        row = {}
        for name, (action, goal) in sorted(table.states[state].items()):
            if action.name == "Shift" and goal not in numbers:
                numbers[goal] = len(reached)
                reached.append(goal)
            row[name] = numbers[goal] if action.name == "Shift" else spelled_out(goal)
        rows.append(row)
    return rows


def test_tables_are_those_of_the_grammar() -> None:
    text = (FOLDER / grammar.GRAMMAR).read_text(encoding="utf-8")
    stored = json.loads((FOLDER / grammar.TABLES).read_text(encoding="utf-8"))
    assert stored["grammar"] == text, "run make grammar"
    assert stored["lark"] == lark.__version__, "run make grammar"
    built, loaded = grammar._built(text), grammar._lark()
    assert built.options.options == loaded.options.options, "run make grammar"
    assert states(built) == states(loaded)
    assert len(states(built)) > 200


def test_every_rule_has_its_node_or_method() -> None:
    rules = grammar._lark().rules
    named = {rule.alias or rule.origin.name for rule in rules if rule.alias or not rule.options.expand1}
    methods = {name for name in named if not name.startswith("_")}
    made = [*builder._NODES, *(name for name in vars(builder.Builder) if not name.startswith("__"))]
    assert sorted(methods) == sorted(made)


def test_tables_that_fit_are_taken(grammar_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are loaded by functions of lark that are not public."""

    def never(text: str) -> Lark:
        raise AssertionError(text)

    monkeypatch.setattr(grammar, "_built", never)
    assert len(parsed(KERNEL).items) == 1
    assert holds("1 < 2")


@pytest.mark.parametrize("wrong", ["missing", "cut off", "of another grammar", "of another lark"])
def test_tables_that_do_not_fit_are_not_taken(
    wrong: str, grammar_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [seen(text) for text in (KERNEL, WRONG)]
    grammar._lark.cache_clear()
    tables, built = grammar_folder / grammar.TABLES, []
    text = tables.read_text(encoding="utf-8")
    if wrong == "missing":
        tables.unlink()
    elif wrong == "cut off":
        tables.write_text(text[:-100], encoding="utf-8")
    elif wrong == "of another grammar":
        with (grammar_folder / grammar.GRAMMAR).open("a") as file:
            file.write("// another\n")
    else:
        monkeypatch.setattr(lark, "__version__", "1.3.999")

    def seen_built(text: str, build: Any = grammar._built) -> Lark:
        built.append(text)
        result: Lark = build(text)
        return result

    monkeypatch.setattr(grammar, "_built", seen_built)
    for function in CACHED:
        function.cache_clear()
    assert [seen(text) for text in (KERNEL, WRONG)] == expected
    assert holds("1 < 2")
    assert len(built) == 1


def test_no_grammar(grammar_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(grammar, "GRAMMAR", "nothing.lark")
    with pytest.raises(FileNotFoundError, match=r"grammar/nothing\.lark is missing"):
        parsed(KERNEL)


def test_lists_grow_apart() -> None:
    """What a parse returns is its own, and a long list costs no more for each item."""
    first, second = parsed(KERNEL).items, parsed(KERNEL + KERNEL.replace("add", "sub")).items
    assert [len(first), len(second)] == [1, 2]
    many = parsed("__global__ void f(int n) {" + "n = n;" * 3000 + "}").items[0]
    assert isinstance(many, syntax.Function)
    assert len(many.body.items) == 3000


def test_no_token_stands_in_two_places() -> None:
    """A token has one ``type``, so where it stands twice it is two: arguments used twice, macros used twice."""
    text = (
        "#define T(x) x x\n#define J(x, y) x##y x ## x y##\n"
        "#define V(a, ...) a, ## __VA_ARGS__ __VA_ARGS__\nT(a T(b)) T(T(c)) J(, d) J(e,) V(1) V(2, f f)"
    )
    sources = [text, *(path.read_text(encoding="utf-8") for path in TRANSLATED)]
    for source in sources:
        tokens: list[Token] = preprocess(Source(source), {"TM": 16}, Report()).tokens
        assert len({id(token) for token in tokens}) == len(tokens)
