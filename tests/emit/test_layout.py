"""Printed statements against ruff: the same meaning when parsed again, and the lines that ruff would choose.

Random expressions of all forms that the emitter has, in all statements that it prints. To try more of them:
``python -m tests.emit.test_layout FIRST_SEED LAST_SEED COUNT``.
"""

from __future__ import annotations

import ast
import difflib
import random
import subprocess
import sys

import pytriton
from pytriton.emit.printer import WIDTH, layout
from pytriton.emit.python import (
    PRECEDENCE,
    Atom,
    BinOp,
    Call,
    Conditional,
    Index,
    Method,
    Node,
    Tuple,
    UnaryOp,
    show,
)

NAMES = ["pm", "rm", "n", "stride_am", "offsets_of_rows", "TILE_M", "accumulator", "x.dtype.element_ty"]
ENDINGS = ["", "", "", "", "_of_this_row", "_of_this_row", "_1" * 9, "_long" * 9, "_very_long" * 8]
NUMBERS = ["0", "16", "-1", "0.5", "-3.25e-05", "True", '"ieee"']
OPERATORS = [operator for operator in PRECEDENCE if operator not in ("if", "not", "unary")]
TYPES = ["tl.int64", "tl.float32", "pointer_to_rows.dtype.element_ty"]
STATEMENTS = [
    *(("value = ", ""), ("value += ", ""), ("offsets_of_columns_ahead >>= ", ""), ("return ", "")),
    *(("", ""), ("if ", ":"), ("while ", ":"), ("for row in ", ":"), ("assert ", "")),
    ("for row" + "_of_the_tile" * 5 + " in ", ":"),
]


class Source:
    """Random expressions and statements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def leaf(self) -> Node:
        kind = self.random.random()
        if kind < 0.65:
            return Atom(self.random.choice(NAMES) + self.random.choice(ENDINGS))
        if kind < 0.8:
            return Atom(self.random.choice(NUMBERS))
        if kind < 0.9:
            return Index(Atom("rows"), self.random.choice([":", ":, None", "None, :", "None, :, None, :"]))
        empty = [Tuple(()), Call("tl.debug_barrier", ()), Method(Atom("rows"), "trans_posed", ())]
        return self.random.choice([*empty, Tuple((Atom("1"),))])

    def several(self, least: int, most: int, depth: int) -> tuple[Node, ...]:
        return tuple(self.expression(depth) for _ in range(self.random.randint(least, most)))

    def expression(self, most: int) -> Node:
        """An expression of at most ``most`` levels."""
        if most <= 0 or self.random.random() < 0.1:
            return self.leaf()
        depth = most - self.random.choice([1, 1, 1, 2, 3])
        if self.random.random() < 0.06:
            nodes = [self.expression(most - 1), self.expression(depth), self.expression(depth)]
            self.random.shuffle(nodes)
            return Conditional(*nodes)
        kind = self.random.random()
        if kind < 0.05:
            node = BinOp(self.random.choice(["and", "&", "<<"]), self.leaf(), self.expression(depth))
            return BinOp(self.random.choice(["or", "|", "^"]), node, self.leaf())
        if kind < 0.4:
            pair = [self.expression(depth), self.expression(most - 1)]
            self.random.shuffle(pair)
            return BinOp(self.random.choice(OPERATORS), *pair)
        if kind < 0.55:
            operator = self.random.choice(OPERATORS)
            node = self.expression(depth)
            for _ in range(self.random.randint(1, 4)):
                node = BinOp(operator, node, self.expression(depth - 1))
            return node
        if kind < 0.65:
            node = self.operand(depth)
            if self.random.random() < 0.2:
                node = Method(Method(node, "to", (Atom("tl.int32"),)), "to", self.several(1, 2, depth))
            return UnaryOp(self.random.choice(["-", "~", "~", "not"]), node)
        if kind < 0.75:
            return Call(self.random.choice(["tl.where", "float", "libdevice.pow"]), self.several(0, 3, depth))
        if kind < 0.85:
            mask = ("mask", self.expression(depth))
            other = self.random.choice([(), (("other", self.expression(depth)),)])
            return Call("tl.load", self.several(0, 1, depth), (mask, *other))
        if kind < 0.93:
            target: Node = Atom(self.random.choice(TYPES))
            arguments = self.random.choice([(target,), (target,), (), (target, target)])
            node = Method(self.operand(depth), self.random.choice(["to", "trans_posed"]), arguments)
            return Method(node, "to", (target,)) if self.random.random() < 0.3 else node
        if kind < 0.97:
            items = self.random.choice([":", "None, :", ":, None"])
            return Index(self.operand(depth), items)
        return Tuple(self.several(0, 4, depth))

    def operand(self, depth: int) -> Node:
        """What may stand before a dot or a subscript: no number, string or tuple."""
        while True:
            node = self.expression(depth)
            plain = isinstance(node, Atom) and (node.text in NUMBERS and not node.text.startswith("-"))
            if not plain and not isinstance(node, Tuple):
                return node

    def function(self, number: int) -> tuple[str, str]:
        """A function with one statement as laid out, and with the same on one line."""
        before, after = self.random.choice(STATEMENTS)
        node = self.expression(self.random.randint(1, 6))
        if not before and isinstance(node, Atom):
            node = Call("tl.store", (node,))  # a string there is a docstring
        depth = self.random.choice([0, 0, 1, 4])
        heads = [f"def f{number}():\n"]
        heads += [f"{' ' * 4 * level}while True:\n" for level in range(1, depth + 1)]
        pad = " " * (4 * depth + 4)
        body = f"\n{pad}    pass\n" if after else "\n"
        lines = layout(before, node, after, len(pad))
        flat = f"{pad}{before}{show(node)}{after}"
        return "".join([*heads, "\n".join(lines), body]), "".join([*heads, flat, body])


def functions(seed: int, count: int) -> list[tuple[str, str]]:
    """``count`` functions of which the statement is too long for one line."""
    source = Source(seed)
    found: list[tuple[str, str]] = []
    while len(found) < count:
        laid_out, flat = source.function(len(found))
        if max(map(len, flat.splitlines())) > WIDTH and len(flat) < 1500:
            found.append((laid_out, flat))
    return found


def formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def blocks(text: str, count: int) -> list[str]:
    """The functions of a formatted module."""
    found = [block.strip("\n") + "\n" for block in ("\n" + text).split("\ndef f")[1:]]
    assert len(found) == count
    return ["def f" + block for block in found]


def changed(seed: int, count: int) -> list[str]:
    """Where ruff chooses other lines, from one long line or from the lines as laid out: the differences."""
    pairs = functions(seed, count)
    wanted = [laid_out for laid_out, _ in pairs]
    different: list[str] = []
    for version in range(2):
        chosen = blocks(formatted("\n\n".join(pair[version] for pair in pairs)), count)
        for ours, theirs in zip(wanted, chosen, strict=True):
            if ours != theirs:
                different.append("".join(difflib.ndiff(ours.splitlines(True), theirs.splitlines(True))))
    return different


def test_lines_mean_the_same() -> None:
    for laid_out, flat in functions(1, 300):
        assert ast.dump(ast.parse(laid_out)) == ast.dump(ast.parse(flat))


def test_ruff_chooses_the_same_lines() -> None:
    assert changed(1, 1200) == []


def test_ruff_leaves_comments_alone() -> None:
    """Comments of all lengths behind statements that fit on a line with them, without them, or not at all."""
    body: list[str] = []
    for length in range(2, 100, 3):
        name, comment = f"row_{length}" + "_of_it" * (length % 7), "c" * length
        body += [f"int {name} = n + {length}; // {comment}", f"if ({name} > n) {{ // {comment}"]
        body += [f"  *X = {name} * {name} - {name} * {name} / {name}; // {comment}", "}", f"// {comment}"]
    text = pytriton.translate("__global__ void k(int* X, int n) {\n" + "\n".join(body) + "\n}\n").text
    assert "\n        tl.store(\n" in text
    assert formatted(text) == text


if __name__ == "__main__":
    first, last, number = map(int, sys.argv[1:])
    for run in range(first, last + 1):
        found = changed(run, number)
        print(f"seed {run}: ruff changes {len(found)} of {number}")
        print("\n".join(found[:3]), end="")
