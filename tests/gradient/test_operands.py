# ruff: noqa: E501
"""Loops over programs, arranged (gradient/derive/walk/operands.py): each computes what it did before.

``a``, ``b``: blocks from before the loop; ``u``, ``v``: what an iteration loads; ``r``, ``s``: its rows and columns.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest
import torch

import pytriton
from pytriton.errors import Report
from pytriton.frozen import replace
from pytriton.gradient.derive.walk.operands import arranged
from pytriton.lang.check.checker import check
from pytriton.lang.read import read
from pytriton.lang.tree.typed import Body
from pytriton.lang.tree.unparse import Words, kernel_text
from pytriton.settings import Settings
from pytriton.source import Source
from tests.gradient.test_mutants import loaded
from tests.mutation.mutant import Mutant
from tests.mutation.of_gradient import PRODUCTS as MUTANTS

HEAD = """\
void f(float *y, float *x, int n) {
  int i[B] = 0 ... B;
  float *p[B, B] = x + i[:, newaxis] * B + i[newaxis, :];
  float a[B, B] = *p;
  float b[B, B] = *(p + B * B);
  float c[B, B] = 0;
  float d[B, B] = 0;
  for (int k = 0; k < n; k += 1) {
    float u[B, B] = *(p + k * B * B);
    float v[B, B] = *(p + (k + 1) * B * B);
    float r[B] = *(x + k * B + i);
    float s[B] = *(x + k * B + i + 7);
"""
END = """
  }
  *(y + i[:, newaxis] * B + i[newaxis, :]) = c;
  *(y + B * B + i[:, newaxis] * B + i[newaxis, :]) = d;
}
"""
# What is in the arranged loop, and the body.
CHANGED = {
    "a mask of rows on the left": ("(r > 0)[:, newaxis] ? a @ u : 0", "float t[B, B] = (r > 0)[:, newaxis] ? a : 0; c = c * 0.5 + t @ u;"),
    "a mask of rows on the right": ("(r > 0)[newaxis, :] ? u @ ^a : 0", "float t[B, B] = (r > 0)[:, newaxis] ? a : 0; c = c * 0.5 + u @ ^t;"),
    "two products": ("? b @ v : 0", "float t[B, B] = (r > 0)[:, newaxis] ? b : 0; c += t @ v; d = d * 0.5 + u @ ^t;"),
    "a sum": ("((r > 0)[:, newaxis] ? u : 0) @ v", "float t[B, B] = u @ v; c += (r > 0)[:, newaxis] ? t : 0;"),
    "transposed": ("q[B, B] = exp(u @ ^a * 0.1 - r[newaxis, :])", "float q[B, B] = exp(a @ ^u * 0.1 - r[:, newaxis]); c += ^q @ v;"),
    "transposed, with all that it comes from": ("chosen[B, B] = r[newaxis, :] < s[:, newaxis]", "bool chosen[B, B] = r[:, newaxis] < s[newaxis, :]; float q[B, B] = a @ ^u; float g[B, B] = v @ b + s[newaxis, :]; float h[B, B] = chosen ? q * g - 1 : -q; c += ^q @ v; d += ^h @ u;"),
    "transposed, of another type": ("+= (half[B, B])q @ w", "float q[B, B] = a @ ^u * 2; half w[B, B] = v; c += ^(half[B, B])q @ w;"),
}  # fmt: skip
KEPT = {
    "a mask of columns": "float t[B, B] = (r > 0)[newaxis, :] ? a : 0; c += t @ u;",
    "a mask of rows that are added up": "float t[B, B] = (r > 0)[:, newaxis] ? a : 0; c += u @ t;",
    "another value outside of the mask": "float t[B, B] = (r > 0)[:, newaxis] ? a : 1; c += t @ u;",
    "a masked block that is read": "float t[B, B] = (r > 0)[:, newaxis] ? a : 0; c += t @ u; d += t;",
    "a masked block of the iteration": "float t[B, B] = (r > 0)[:, newaxis] ? v : 0; c += t @ u;",
    "a product that is read": "float t[B, B] = u @ v; c += (r > 0)[:, newaxis] ? t : 0; d += t;",
    "a sum under a mask of columns": "float t[B, B] = u @ v; c += (r > 0)[newaxis, :] ? t : 0;",
    "multiplied both ways": "float q[B, B] = exp(a @ ^u * 0.1); c += ^q @ v; d += q @ v;",
    "stored elsewhere": "float q[B, B] = exp(a @ ^u * 0.1); c += ^q @ v; d += q;",
    "of a loaded block": "float q[B, B] = a @ ^u * v; c += ^q @ v;",
    "of a row without an axis": "float q[B, B] = a @ ^u * r; c += ^q @ v;",
    "reduced": "float q[B, B] = exp(a @ ^u * 0.1); c += ^q @ v * q[:, +];",
}  # fmt: skip


def kernel_of(body: str, arrange: Callable[[Body], Body]) -> tuple[str, str]:
    """The source of a kernel, and of the same one arranged."""
    report = Report()
    front = read(Source(HEAD + body + END), {"B": 16}, report, ())
    kernel = check(front.tree, report, Settings(), front.numbers, front.macros)
    how = Words({}, kernel.parameters), False, {*front.macros, *front.numbers}
    return kernel_text(kernel, *how), kernel_text(replace(kernel, body=arrange(kernel.body)), *how)


def computed(text: str, size: int) -> torch.Tensor:
    x = torch.randn(8 * size * size, generator=torch.Generator().manual_seed(3))
    y = torch.full((2 * size * size,), torch.nan)
    pytriton.kernel(text, defines={"B": size})(y, x, 3, grid=(1,))
    return y


def compare(body: str, arrange: Callable[[Body], Body] = arranged) -> tuple[str, str]:
    """The loop as it was, and arranged: both compute the same."""
    before, after = kernel_of(body, arrange)
    torch.testing.assert_close(computed(after, 16), computed(before, 16))
    return before, after


@pytest.mark.parametrize(("shown", "body"), CHANGED.values(), ids=CHANGED)
def test_changed(shown: str, body: str) -> None:
    before, after = compare(body)
    assert shown in after
    assert shown not in before


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_kept(body: str) -> None:
    before, after = compare(body)
    assert after == before


@pytest.mark.parametrize(
    ("mutant", "name"), [pytest.param(Mutant(*row[:4]), row[4], id=row[0]) for row in MUTANTS]
)
def test_mutant(mutant: Mutant, name: str) -> None:
    body = KEPT.get(name) or CHANGED[name][1]
    with loaded(mutant):
        module = importlib.import_module("pytriton.gradient.derive.walk.operands")
        with pytest.raises((AssertionError, AttributeError, KeyError, pytriton.CompileError)):
            compare(body, module.arranged)
