"""The tables in the repository are those of the grammar, and translating needs nothing that would build them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytriton.errors import Report
from pytriton.lang import automaton, syntax
from pytriton.lang.classify import classify
from pytriton.lang.parse import parse
from pytriton.lang.preprocess import preprocess
from pytriton.lang.reduce import Builder
from pytriton.source import Source

ROOT = Path(__file__).resolve().parent.parent
KERNEL = "__global__ void add(float* X, int n) { int i[16] = 0 ... 16; *?(i < n)(X + i) += n > 1 ? 2 : 3; }"


def test_tables_are_those_of_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lark")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import parse_tables

    stored = (ROOT / "grammar" / "triton_c.json").read_text(encoding="utf-8")
    assert parse_tables.tables() == stored, "run tools/parse_tables.py"


def test_every_rule_has_its_method() -> None:
    stored = json.loads((ROOT / "grammar" / "triton_c.json").read_text(encoding="utf-8"))
    methods = {method for _, method, *_ in stored["rules"]} - {"", "[]"}
    assert methods == {name for name in vars(Builder) if not name.startswith("__")}


def test_no_process_builds_tables() -> None:
    """Neither the first nor a second: there is nothing that could, and what only others need is not loaded."""
    program = f"""if True:
        import sys
        for name in ("lark", "jinja2", "torch", "triton"):
            sys.modules[name] = None  # importing it is an error
        import pytriton
        for _ in range(2):
            assert "tl.store" in pytriton.translate({KERNEL!r}).text"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def parsed(text: str) -> tuple[object, ...]:
    report = Report()
    return parse(preprocess(Source(text), {}, report).tokens, report).items


def test_lists_grow_apart() -> None:
    """What a parse returns is its own, and a long list costs no more for each item."""
    first, second = parsed(KERNEL), parsed(KERNEL + KERNEL.replace("add", "sub"))
    assert [len(first), len(second)] == [1, 2]
    many = parsed("__global__ void f(int n) {" + "n = n;" * 3000 + "}")[0]
    assert isinstance(many, syntax.Function)
    assert len(many.body.items) == 3000


@pytest.mark.parametrize("text", ["a", "a + b * c", "(a)", "-a", "a ? b : c, d", "a = b += c", "x[:, +](a)"])
def test_jumps_lead_where_single_steps_lead(text: str) -> None:
    """An expression is reduced at once through all rules that only pass it on; here one by one."""
    tokens = preprocess(Source(f"void f() {{ {text}; }}"), {}, Report()).tokens
    tables, parser, states = automaton.tables(), automaton.Parser(), [0]
    terminals = [*classify(tokens, tables.words, Report()), automaton.END]
    for terminal, token in zip(terminals, tokens, strict=True):
        while (code := tables.states[states[-1]][terminal]) < 0:
            rule = tables.rules[-1 - code]
            del states[len(states) - rule.size :]
            states.append(tables.states[states[-1]][rule.makes])
        states.append(code)
        assert parser.run((terminal,), (token,)) == 1
        assert parser.states == states
