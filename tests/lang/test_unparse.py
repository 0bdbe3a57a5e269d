"""Typed expressions as Triton-C: what was written comes back, with the parentheses that C needs and no others."""

from __future__ import annotations

import pytest

from pytriton.errors import Report
from pytriton.lang.check.checker import check
from pytriton.lang.read import read
from pytriton.lang.tree.typed import Declare
from pytriton.lang.tree.unparse import Unparser, Words
from pytriton.settings import Settings
from pytriton.source import Source

KEPT = [
    "a - (b - c) - d",
    "(a + b) * c / d",
    "a * (b / c)",
    "-a * b",
    "-(a + b)",
    "a < b == c < d ? a : b",
    "(a < b || b < c) && !(c < d) ? a : b",
    "a < b ? c : (b < c ? d : a)",
    "(0 ... 8) / n",
    "exp(a - max(b, 1.5f)) * (float)n",
    "(half)a + b",
    "*(x + 0 ... 8)",
    "*?(r < n) (x + r)",
    "r < n ? *(x + r) : 0",
    "(^m @ m)[:, +]",
    "m[max, :]",
    "(a + b)[:, newaxis][:, +]",
    "a + T * 2",
]


@pytest.mark.parametrize("text", KEPT)
def test_kept(text: str) -> None:
    assert unparsed(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("((a)) + ((b * c))", "a + b * c"),
        ("a - -(b)", "a - -b"),
        ("- -a", "a"),
        ("a*b", "a * b"),
        ("( float [8] ) n + a", "(float)n + a"),
        ("TWICE(a) + 1", "a * 2.0 + 1"),
    ],
)
def test_tidied(text: str, wanted: str) -> None:
    assert unparsed(text) == wanted


def unparsed(text: str) -> str:
    """The value of a declaration, printed from its tree."""
    source = Source(
        "#define TWICE(v) v * 2\n"
        "__global__ void f(float *x, int n) {\n"
        "  int r[8] = 0 ... 8;\n"
        "  float a[8] = 1, b[8] = 2, c[8] = 3, d[8] = 4;\n"
        "  float m[8, 8] = 5;\n"
        f"  float value[8] = {text};\n"
        "}\n"
    )
    report = Report()
    front = read(source, {"T": 3}, report)
    kernel = check(front.tree, report, Settings(None, (), False), front.numbers, front.macros)
    last = kernel.body[-1]
    assert isinstance(last, Declare)
    assert last.value is not None
    return Unparser(Words({}, ()))(last.value)
