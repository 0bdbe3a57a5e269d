"""Printed expressions against ruff: the same meaning when parsed again, and the lines that ruff would choose."""

from __future__ import annotations

import ast
import random
import subprocess
import sys

import pytest

from pytriton.emit.python import Atom, BinOp, Call, Index, Node, layout, show

NAMES = ["pm", "rm", "stride_am", "offsets_of_rows", "TILE_M", "accumulator"]


def expression(source: random.Random, depth: int) -> Node:
    """A random expression of about 2 ** depth leaves."""
    if depth == 0:
        return Atom(source.choice(NAMES)) if source.random() < 0.7 else Index(Atom("rows"), ":, None")
    kind = source.random()
    if kind < 0.6:
        left, right = expression(source, depth - 1), expression(source, source.randint(0, depth - 1))
        return BinOp(source.choice(["+", "+", "*", "-", "&", "<", "//"]), left, right)
    if kind < 0.8:
        parts = (expression(source, 0), expression(source, depth - 1), expression(source, 0))
        return Call("tl.where", parts)
    if kind < 0.9:
        mask = ("mask", expression(source, depth - 1))
        return Call("tl.load", (expression(source, depth - 1),), (mask, ("other", Atom("0.0"))))
    return expression(source, depth - 1)


def functions(count: int) -> list[tuple[str, str]]:
    """Statements as laid out, and the same on one line."""
    source = random.Random(1)
    found = []
    for number in range(count):
        node = expression(source, source.randint(2, 4))
        lines = "\n".join(layout("value = ", node, "", 4))
        found.append((f"def f{number}():\n{lines}\n", f"value = {show(node)}"))
    return found


def test_lines_mean_the_same() -> None:
    for text, flat in functions(300):
        statement = ast.parse(text).body[0]
        assert isinstance(statement, ast.FunctionDef)
        assert ast.dump(statement.body[0]) == ast.dump(ast.parse(flat).body[0])


@pytest.mark.xfail(
    strict=True, reason="about one in nine long expressions is broken at other brackets than ruff's"
)
def test_ruff_leaves_long_lines_alone() -> None:
    text = "\n\n".join(function for function, _ in functions(300))
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "-"]
    assert subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout == text
