# ruff: noqa: E501
"""Programs that lack the precondition of a rewrite of the derivation: the gradient is that of numerical differences.

``ITERATIONS``: a loop's iterations become programs where each iteration only adds to what the loop carries. ``x`` has
its own rows in each program, ``w`` is shared by all, and read once in each iteration. ``EXTREMES``: an extreme
cancels out of the outputs if it does so in each row and each iteration.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

import pytriton
from tests.gradient.programs import Launch, Program
from tests.gradient.test_mutants import loaded
from tests.mutation.mutant import Mutant
from tests.mutation.of_gradient import ELSEWHERE, PRECONDITIONS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

READS = "T a[8] = *(x + (r * n + k) * 8 + o); T b[8] = *(w + k * 8 + o);"
ITERATIONS = {
    "decayed": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = c * 0.9 + a * b; } OUT = c;",
    "subtracted from": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = a * b - c; } OUT = c;",
    "halved": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = (c + a * b) / 2; } OUT = c;",
    "the last one": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = a * b; } OUT = c;",
    "a polynomial": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = c * a + b; } OUT = c;",
    "a sum of sums": "T c[8] = 0; T e[8] = 0; for (int k = 0; k < n; k += 1) { READS c += a * b; e += c; } OUT = e;",
    "a sum of what was last": "T c[8] = 0; T e[8] = 0; for (int k = 0; k < n; k += 1) { READS e += c; c = a * b; } OUT = e;",
    "reset by if": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS if (k == 1) c = 0; c += a * b; } OUT = c;",
    "reset by ?:": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = k == 1 ? a * b : c + a * b; } OUT = c;",
    "reset after": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c += a * b; if (k == 1) { c = 0; } } OUT = c;",
    "swapped": "T c[8] = 0; T e[8] = 1; for (int k = 0; k < n; k += 1) { READS T h[8] = c + a * b; c = e; e = h; } OUT = c + 2 * e;",
    "fed by each other": "T c[8] = 0; T e[8] = 1; for (int k = 0; k < n; k += 1) { READS T h[8] = c; c = c + e * b; e = e + h * a; } OUT = c + e;",
    "a product": "T c[8] = 1; for (int k = 0; k < n; k += 1) { READS c = c * b + c * a; } OUT = c;",
    "two to the sum": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c = c + (c + a * b); } OUT = c;",
    "the last factor": "T c[8] = 0; T e[8] = 0; for (int k = 0; k < n; k += 1) { READS c += a * b; e = a; } OUT = c * e;",
    "the last pointer": "T c[8] = 0; T *p[8] = x + o; for (int k = 0; k < n; k += 1) { READS c += a * b; p += 8; } OUT = c * *p;",
    "the last counter": "T c[8] = 0; int i = 0; for (int k = 0; k < n; k += 1) { READS c += a * b; i += 3; } OUT = c * i;",
    "a factor carried": "T c[8] = 0; T e[8] = 1; for (int k = 0; k < n; k += 1) { READS c += a * b * e; e = e * 0.5; } OUT = c;",
    "stored on the way": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c += a * b; *(z + (r * n + k) * 8 + o) = c * c; } OUT = c;",
    "a sum that is read": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS T d[8] = c; c += a * b; *(z + (r * n + k) * 8 + o) = d; } OUT = c;",
    "a plain sum": "T c[8] = 0; for (int k = 0; k < n; k += 1) { READS c += a * b; } OUT = c;",
}
TILES = """__global__ void f(T *A, T *B, T *y, int n) {
  int pid = get_program_id(0);
  int rm[16] = pid * 16 + 0 ... 16;
  int rn[16] = 0 ... 16;
  int rk[16] = 0 ... 16;
  T c[16, 16] = 0;
  for (int k = 0; k < n; k += 16) {
    T u[16, 16] = *(A + rm[:, newaxis] * n + k + rk[newaxis, :]);
    T v[16, 16] = *(B + (k + rk)[:, newaxis] * 16 + rn[newaxis, :]);
    c = STEP;
  }
  *(y + rm[:, newaxis] * 16 + rn[newaxis, :]) = c;
}
"""
RANGES = "int i[8] = 0 ... 8; int j[4] = 0 ... 4;"
ROWS = "T v[8, 4] = *(x + r * 32 + i[:, newaxis] * 4 + j[newaxis, :]);"
EXTREMES = {
    "row maxima": "ROWS T e[8] = exp(v[:, max]); *(y + r * 8 + i) = e / e[+];",
    "of one row": "T v[8] = *(x + r * 8 + i); T e[1] = exp(v[max] + 0 * (0 ... 1)); *(y + r) = (e / e[+])[+];",
    "less their mean": "ROWS T m[8] = v[:, max]; *(y + r * 8 + i) = m - m[+] / 8;",
    "normalised": "ROWS T m[8] = v[:, max]; T u[8] = m - m[+] / 8; *(y + r * 8 + i) = u * rsqrt((u * u)[+] / 8 + 0.1);",
    "differences": "ROWS T m[8] = v[:, max]; *(y + r * 64 + i[:, newaxis] * 8 + i[newaxis, :]) = m[:, newaxis] - m[newaxis, :];",
    "softmax of columns": "ROWS T e[8, 4] = exp(v - v[:, max][:, newaxis]); *(y + r * 32 + i[:, newaxis] * 4 + j[newaxis, :]) = e / e[+, :][newaxis, :];",
    "column maxima": "ROWS T e[4] = exp(v[max, :]); *(y + r * 4 + j) = e / e[+];",
    "row minima": "ROWS T e[8] = exp(v[:, min]); *(y + r * 8 + i) = e / e[+];",
    "of a transposed block": "ROWS T u[4, 8] = ^v; T e[4, 8] = exp(u - v[:, max][newaxis, :]); *(y + r * 32 + j[:, newaxis] * 8 + i[newaxis, :]) = e / e[:, +][:, newaxis];",
    "a transposed difference": "ROWS T e[4, 8] = exp(^(v - v[:, max][:, newaxis])); *(y + r * 32 + j[:, newaxis] * 8 + i[newaxis, :]) = e / e[:, +][:, newaxis];",
    "of two rows": "T v[8] = *(x + r * 16 + i); T u[8] = *(x + r * 16 + 8 + i); *(y + r) = v[max] - u[max];",
    "rows and columns": "T v[8, 8] = *(x + i[:, newaxis] * 8 + i[newaxis, :]); T m[8] = v[:, max]; *(y + r * 64 + i[:, newaxis] * 8 + i[newaxis, :]) = v - m[newaxis, :];",
    "a reduction of a reduction": "ROWS T m[8] = v[:, max]; T s = exp(m)[+]; *(y + r * 8 + i) = exp(m) / s;",
    "the last maximum": "T last = 0; for (int k = 0; k < 2; k += 1) { T v[8] = *(x + (r * 2 + k) * 8 + i); T m = v[max]; *(y + r * 2 + k) = exp(last - m); last = m; }",
    "another iteration": "T s = 0; T t = 0; for (int k = 0; k < 2; k += 1) { T v[8] = *(x + (r * 2 + k) * 8 + i); s = t; t = exp(v[max]); } *(y + r) = s / t;",
    "sums of iterations": "T s = 0; T t = 0; for (int k = 0; k < 2; k += 1) { T v[8] = *(x + (r * 2 + k) * 8 + i); T m = v[max]; s += exp(m); t += exp(m + v[min]); } *(y + r) = s / t;",
    "in an inner loop": "T last = 0; for (int k = 0; k < 2; k += 1) { for (int l = 0; l < 1; l += 1) { T v[8] = *(x + (r * 2 + k) * 8 + i); T m = v[max]; *(y + r * 2 + k) = m - last; last = m; } }",
}
CANCEL = {
    "softmax": "T v[8] = *(x + r * 8 + i); T e[8] = exp(v - v[max]); *(y + r * 8 + i) = e / e[+];",
    "softmax of rows": "ROWS T e[8, 4] = exp(v - v[:, max][:, newaxis]); *(y + r * 32 + i[:, newaxis] * 4 + j[newaxis, :]) = e / e[:, +][:, newaxis];",
    "softmax of columns": "ROWS T e[8, 4] = exp(v - v[max, :][newaxis, :]); *(y + r * 32 + i[:, newaxis] * 4 + j[newaxis, :]) = e / e[+, :][newaxis, :];",
    "transposed": "ROWS T u[4, 8] = ^v; T e[4, 8] = exp(u - v[:, max][newaxis, :]); *(y + r * 32 + j[:, newaxis] * 8 + i[newaxis, :]) = e / e[+, :][newaxis, :];",
    "logsumexp": "ROWS T m[8] = v[:, max]; *(y + r * 8 + i) = m + log(exp(v - m[:, newaxis])[:, +]);",
    "several rows": "for (int k = 0; k < 2; k += 1) { T v[8] = *(x + (r * 2 + k) * 8 + i); T e[8] = exp(v - v[max]); *(y + (r * 2 + k) * 8 + i) = e / e[+]; }",
    "a row in a loop": "T v[8] = *(x + r * 8 + i); T m = v[max]; T s = 0; for (int k = 0; k < 2; k += 1) s += exp(v - m)[+]; *(y + r * 8 + i) = exp(v - m) / s;",
    "an extreme of extremes": "ROWS T m = v[:, max][max]; T s = exp(v - m)[+, :][+]; *(y + r) = m + log(s);",
}


def iterations(name: str, body: str) -> Program:
    text = f"int r = get_program_id(0); int o[8] = 0 ... 8; {body}".replace("READS", READS)
    text = text.replace("OUT", "*(y + r * 8 + o)")
    text = f"__global__ void f(T *x, T *w, T *y, T *z, int n) {{ {text} }}"
    shapes = {"x": (3, 5, 8), "w": (4, 8), "y": (3, 8), "z": (3, 4, 8)}
    outputs = ("y", "z") if "*(z" in body else ("y",)
    return Program(name, text, shapes, {"n": 4}, (3,), outputs)


def tiles(name: str, step: str) -> Program:
    return Program(
        name, TILES.replace("STEP", step), {"A": (32, 48), "B": (48, 16), "y": (32, 16)}, {"n": 48}, (2,)
    )


def extremes(name: str, body: str) -> Program:
    text = f"int r = get_program_id(0); {RANGES} {body}".replace("ROWS", ROWS)
    return Program(name, f"__global__ void f(T *x, T *y) {{ {text} }}", {"x": (64,), "y": (128,)}, {}, (2,))


PROGRAMS = [
    *(iterations(name, body) for name, body in ITERATIONS.items()),
    *(tiles(f"tiles: {step}", step) for step in ("c * 0.5 + u @ v", "u @ v - c", "u @ v", "c + u @ v")),
    *(extremes(name, body) for name, body in EXTREMES.items()),
    *(extremes(f"cancels: {name}", body) for name, body in CANCEL.items()),
]


def off(program: Program, derive: Callable[..., Any] = pytriton.gradient) -> float:
    """By how much the derivatives along two random directions are off."""
    launch = Launch(program, torch.double, derive)
    tensors = program.tensors(torch.double)
    for name in program.outputs:
        tensors[name].zero_()
    generator = torch.Generator().manual_seed(1)
    flowing = {n: torch.randn(tensors[n].shape, generator=generator).double() for n in program.outputs}
    gradients = launch.backward(tensors, flowing)

    def value(ways: Mapping[str, torch.Tensor], step: float) -> float:
        outputs = launch.forward(tensors | {n: tensors[n] + step * way for n, way in ways.items()})
        return sum(float((outputs[n] * flowing[n]).sum()) for n in outputs)

    worst = 0.0
    for _ in range(2):
        ways = {n: torch.randn(tensors[n].shape, generator=generator).double() for n in gradients}
        wanted = (value(ways, 1e-6) - value(ways, -1e-6)) / 2e-6
        worst = max(worst, abs(wanted - sum(float((gradients[n] * way).sum()) for n, way in ways.items())))
    return worst


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.sampled(4)
def test_numerical(program: Program) -> None:
    assert off(program) < 1e-6


@pytest.mark.parametrize(
    ("mutant", "program"), [pytest.param(Mutant(*row[:4]), row[4], id=row[0]) for row in PRECONDITIONS]
)
@pytest.mark.sampled(2)
def test_mutant(mutant: Mutant, program: str) -> None:
    """Without a conjunct of its precondition, the gradient of a program is wrong, or refused."""
    (chosen,) = (each for each in PROGRAMS if each.name == program)
    with loaded(mutant) as derive:
        try:
            difference = off(chosen, derive)
        except Exception:  # refused, or no kernel at all
            difference = math.inf
    assert difference > 1e-6


def exponential(derive: Callable[..., Any]) -> torch.Tensor:
    """The gradient of what is rounded to float."""
    text = "__global__ void f(double *x, double *y) { float e = exp(*x); *y = e; }"
    x = torch.tensor([0.3]).double()
    gradient: torch.Tensor = derive(text)(x, x.clone(), grid=1, d_outputs={"y": torch.ones(1).double()})["x"]
    return (gradient - x.exp()).abs()


def test_exact_conversion() -> None:
    """What was rounded is not read for what it was before."""
    assert exponential(pytriton.gradient).item() < 1e-12
    (mutant,) = (Mutant(*row[:4]) for row in ELSEWHERE if row[0] == "rounded values are exact")
    with loaded(mutant) as derive:
        assert exponential(derive).item() > 1e-12


@pytest.mark.parametrize("name", CANCEL)
def test_cancels(name: str) -> None:
    """Nothing flows through these extremes."""
    assert "==" not in pytriton.gradient(extremes(name, CANCEL[name]).kernel(torch.float)).source


def test_sums_become_programs() -> None:
    program = iterations("a plain sum", ITERATIONS["a plain sum"])
    launch = Launch(program, torch.double)
    tensors = program.tensors(torch.double)
    launch.backward(tensors, {"y": tensors["y"]})
    assert launch.ways()["w"] == {"sum"}
    assert re.search("one program for each iteration", launch.gradient.source)
