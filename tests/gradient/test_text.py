"""The text of a backward, as a person reads it: types by the user's defines, comments, what a launch must know."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import Report
from pytriton.gradient.derive.derive import derivable, usual
from pytriton.lang.check.checker import check
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.read import read
from pytriton.lang.tree.unparse import kernel_text
from pytriton.settings import Settings
from pytriton.source import Source
from tests.gradient.programs import PROGRAMS as SMALL
from tests.metamorphic.launches import PROGRAMS, launches

sys.path.append(str(Path(__file__).parents[2] / "examples"))

PRODUCT = """__global__ void weighted(TYPE *Y, TYPE *X __readonly, TYPE *W __readonly, int n, int k) {
  int pid = get_program_id(0);
  int rm[16] = pid * 16 + 0 ... 16;
  int rk[16] = 0 ... 16;
  // the first tile
  TYPE x[16, 16] = *(X + rm[:, newaxis] * k + rk[newaxis, :]);
  float c[16, 16] = 0;
  for (int at = 0; at < k; at += 16) {
    TYPE w[16, 16] = *?(rk[:, newaxis] < n) (W + (at + rk)[:, newaxis] * 16 + rk[newaxis, :]);
    c += (TYPE[16, 16])exp((float[16, 16])x) @ w;
  }
  *(Y + rm[:, newaxis] * 16 + rk[newaxis, :]) = c;
}
"""
BACKWARD = """\
// grid: same as weighted; along axis 0 one program for each iteration of the loop
// grid_0: the programs of weighted along axis 0
__global__ void weighted_backward(TYPE *d_Y, TYPE *X __readonly, TYPE *d_W, int n, int k, int grid_0) {
  int rk[16] = 0 ... 16;
  int step = get_program_id(0);
  int at = 16 * step;
  int rm[16] = 0 ... 16;
  float d_w[16, 16] = 0;
  // the forward's programs along axis 0, one after another
  for (int first = 0; first < grid_0 * 16; first += 16) {
    int rm_2[16] = first + rm;
    // the first tile
    TYPE x[16, 16] = *(X + rm_2[:, newaxis] * k + rk[newaxis, :]);
    // adjoint of: *(Y + rm[:, newaxis] * 16 + rk[newaxis, :]) = c
    TYPE dy[16, 16] = *(d_Y + rm_2[:, newaxis] * 16 + rk[newaxis, :]);
    // adjoint of: c += (TYPE[16, 16])exp((float[16, 16])x) @ w
    TYPE t[16, 16] = (TYPE[16, 16])exp((float[16, 16])x);
    d_w += ^t @ dy;
  }
  // adjoint of: TYPE w[16, 16] = *?(rk[:, newaxis] < n) (W + (at + rk)[:, newaxis] * 16 + rk[newaxis, :])
  *?(rk[:, newaxis] < n) (d_W + (at + rk)[:, newaxis] * 16 + rk[newaxis, :]) = d_w;
}
"""


def test_words_of_the_user() -> None:
    """``TYPE`` where the forward says it, of conversions too; comments stay with their statements."""
    assert pytriton.gradient(PRODUCT, inputs=["W"], defines={"TYPE": "half"}).source == BACKWARD


OTHERWISE = {"permuted", "dropped"}  # a conversion of rank is written, and a mask that && gives a load


@pytest.mark.parametrize("name", [name for name in SMALL if name not in OTHERWISE])
@pytest.mark.sampled(2)
def test_parsed_again(name: str) -> None:
    """A derived text is a kernel without errors or warnings, and its typed tree is printed as the same text."""
    program, settings = SMALL[name], Settings(None, (), False)
    defines = {**program.defines, "T": "float"}
    forward = derivable(Source(program.text), defines, settings, checkpoints=program.checkpoints)
    words_of = {symbol.name: symbol.word for symbol in forward.kernel.parameters}
    for derived in usual(forward).passes:
        report, source = Report(), Source(derived.text)
        front = read(source, defines, report)
        tree = check(front.tree, report, settings, front.numbers, front.macros)
        assert tuple(symbol.name for symbol in tree.parameters) == derived.parameters
        assert all(words_of.get(symbol.name, symbol.word) == symbol.word for symbol in tree.parameters)
        assert report.warnings == []
        again = kernel_text(tree, forward.words)
        assert words(again, defines) == words(derived.text, defines)


def well_written(text: str) -> bool:
    """No blank line twice, no statement announced twice in a block, a grid for each kernel."""
    lines = text.splitlines()
    told = [line for line in lines if "// adjoint of: " in line or line.startswith("#")]
    repeated = any(first == second and first[0] != "#" for first, second in pairwise(told))
    grids = sum(line.startswith("// grid: ") for line in lines)
    return "\n\n\n" not in text and not repeated and grids == text.count("__global__")


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_type_of_tensors(program: str) -> None:
    """What is derived for half and for float is one text, in which ``TYPE`` stands for both.

    But a product of halves multiplies its cotangent as half: ``TYPE dc`` and ``float dc``. That of attention is
    computed, and has a name then.
    """
    seen: set[tuple[str, str | None]] = set()
    for taken in launches(program):
        if (taken.text, taken.kernel) in seen or "TYPE" not in taken.defines:
            continue
        seen.add((taken.text, taken.kernel))
        try:
            half, single = (_text(taken, dtype) for dtype in (torch.half, torch.float))
        except pytriton.CompileError:
            continue
        assert well_written(half)
        assert well_written(single)
        if " @ " in half:
            half, single = (re.sub(r"\bTYPE\b", "float", text) for text in (half, single))
        assert half == single or program == "attention"


def _text(taken: Any, dtype: torch.dtype) -> str:
    kernel = pytriton.kernel(taken.text, kernel=taken.kernel, defines={**taken.defines, "TYPE": dtype})
    return pytriton.gradient(kernel).source


FLAGS = """__global__ void f(float *y, float *x, int n) {
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  float v[8] = r < n ? *(x + r) : 0;
#ifdef SQUARE
  v = v * v;
#endif
#ifndef LINEAR  // a comment
  v = sin(v);
#else
  v = 3 * v;
#endif
  *?(r < n) (y + r) = v;
}
"""


def words(text: str, defines: dict[str, object]) -> list[str]:
    """What is left of a text by its conditions, without comments."""
    return [token.text for token in preprocess(Source(text), defines, Report()).tokens]


@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("linear", [True, False])
def test_flags(square: bool, linear: bool) -> None:
    """A backward is derived for its defines: the arms of others are not in it."""
    defines = {name: 1 for name, given in (("SQUARE", square), ("LINEAR", linear)) if given}
    text = pytriton.gradient(FLAGS, defines=defines).source
    assert "#" not in text
    assert ("2 * d_v" in text) is square
    assert ("* 3" in text, "cos" in text) == (linear, not linear)


def test_types_in_other_words() -> None:
    """A pointer to const, and a type that the text defines itself."""
    text = """#define REAL float
__global__ void f(REAL *y, const float *x, const TYPE *w) {
  REAL v = *x * *w;
  *y = v;
}
"""
    derived = pytriton.gradient(text, defines={"TYPE": "half"}).source
    assert "f_backward(float *d_y, const float *x, float *d_x, const TYPE *w, " in derived


def test_gradients_that_are_zero() -> None:
    """An input that is only compared has no parameter, and nothing is said of it."""
    text = """__global__ void f(float *y, float *x, float *w, int *at) {
  int r[8] = (0 ... 8) / 2;
  *(y + (0 ... 8)) = *(w + *(at + r)) == 0 ? *(x + *(at + r)) : 1;
}
"""
    derived = pytriton.gradient(text).source
    assert "// d_x: added to; zeroed before the first kernel\n" in derived
    assert "d_w" not in derived
    assert "int r[8] = (0 ... 8) / 2;" in derived


def test_what_an_output_holds_is_read() -> None:
    """Where it saves a loop, and where nothing was rounded on the way: of half tensors, not."""
    text = """__global__ void f(TYPE *Y, TYPE *TOTAL, TYPE *X, int n) {
  int row = get_program_id(0);
  float total = 0;
  for (int k = 0; k < n; k += 1)
    total += *(X + row * n + k);
  *(TOTAL + row) = total;
  *(Y + row) = total * total;
}
"""
    single, half = (pytriton.gradient(text, defines={"TYPE": dtype}).source for dtype in ("float", "half"))
    assert "  // as the forward left it\n  float total = *(TOTAL + row);\n" in single
    assert single.count("\n  for (") == 1
    assert "TYPE *TOTAL" not in half
    assert half.count("\n  for (") == 2
