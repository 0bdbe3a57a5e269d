# ruff: noqa: E501
"""Sums that a loop rescales (gradient/derive/online/rescaled.py): each gradient against differences or torch, in double.

``a`` is what an iteration reads of ``x``, ``v`` the same of ``w``. A loop whose sums are known to be rescaled needs no
scratch; one that looks like it and is another keeps its states, and is right as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pytriton
from examples import attention
from tests.gradient.test_mutants import loaded
from tests.mutation.mutant import Mutant
from tests.mutation.of_gradient import RESCALED as MUTANTS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ROWS, TURNS = 3, 4
HEAD = """\
__global__ void f(T *y, T *x, T *w, int n) {
  int r = get_program_id(0);
  int o[4] = 0 ... 4;
"""
ONE = "for (int k = 0; k < n; k += 1) { T a = *(x + (r * n + k) * 4); T v = *(w + (r * n + k) * 4); "
FOUR = "for (int k = 0; k < n; k += 1) { T a[4] = *(x + (r * n + k) * 4 + o); T v[4] = *(w + (r * n + k) * 4 + o); "
MASKED = "a = r != 1 && k * 4 + o < n * 3 ? a : -INFINITY;"
ROW = "; m = q; } *(y + r) = "
LARGE = f"T s = 0; T c = 0; {FOUR} a = r != 1 ? a : -1e30; T q = max(m, a[max]); T e = exp(m - q); T p[4] = exp(a - q); s = s * e + p[+]; c = c * e + (p * v)[+]; m = q; }} *(y + r * 2) = c / s;"

RESCALED = {
    "logsumexp": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "m from minus infinity": f"T m = -INFINITY; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "from the first element": f"T m = *(w + r); T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "a sink": f"T m = *(w + r); T s = *(w + r + 1); T c = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q); c = c * exp(m - q) + v * exp(a - q){ROW} c / s;",
    "blocks": f"T m = -9; T s = 0; {FOUR} T q = max(m, a[max]); s = s * exp(m - q) + exp(a - q)[+]{ROW} log(s) + m;",
    "a mean": f"T m = -9; T s = 0; T c = 0; {ONE} T q = max(m, a); T e = exp(m - q); T p = exp(a - q); s = s * e + p; c = c * e + p * v{ROW} c / s;",
    "the factor first": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = exp(m - q) * s + exp(a - q){ROW} log(s) + m;",
    "the addend first": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = exp(a - q) + s * exp(m - q){ROW} log(s) + m;",
    "two statements": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s *= exp(m - q); s += exp(a - q){ROW} log(s) + m;",
    "several addends": f"T m = -9; T s = 0; {ONE} T q = max(m, max(a, v)); s = s * exp(m - q) + exp(a - q) + exp(v - q) * 2{ROW} log(s) + m;",
    "a difference": f"T m = -9; T s = 3; {ONE} T q = max(m, a); s = s * exp(m - q) - exp(a - q) * v{ROW} s * exp(m);",
    "in place": f"T m = -9; T s = 0; {ONE} T old = m; m = max(m, a); s = s * exp(old - m) + exp(a - m); }} *(y + r) = log(s) + m;",
    "any update": f"T m = 1; T s = 0; {ONE} T q = m + a * 0.25; s = s * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "half way": f"T m = 1; T s = 2; {ONE} T q = (m + a) / 2; s = s * exp(m - q) + exp(a - q) * v{ROW} s * exp(m);",
    "least": f"T m = 9; T s = 0; {ONE} T q = min(m, a); s = s * exp(q - m) + exp(q - a){ROW} log(s) - m;",
    "base 2": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp2(m - q) + exp2(a - q){ROW} log2(s) + m;",
    "scaled": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp((m - q) * 3) + exp(3 * a - q * 3){ROW} log(s) / 3 + m;",
    "scaled apart": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m * 2 - q * 2) + exp(2 * (a - q)){ROW} log(s) + m * 2;",
    "masked": f"T m = -9; T s = 0; {FOUR} a = k * 4 + o < n * 3 ? a : -INFINITY; T q = max(m, a[max]); s = s * exp(m - q) + exp(a - q)[+]{ROW} log(s) + m;",
    "a product of inputs": f"T m = -9; T s = 0; T c = 0; {ONE} T f = a * v; T q = max(m, f); s = s * exp(m - q) + exp(f - q); c = c * exp(m - q) + exp(f - q) * a{ROW} c / s;",
    "a bias": f"T m = -9; T s = 0; {FOUR} T f[4] = a + v; T q = max(m, f[max]); s = s * exp(m - q) + exp(f - q)[+]{ROW} log(s) + m;",
    "a block of sums": f"T m = -9; T s = 0; T c[4] = 0; {FOUR} T q = max(m, a[max]); T e = exp(m - q); T p[4] = exp(a - q); s = s * e + p[+]; c = c * e + p * v; m = q; }} *(y + r * 4 + o) = c / s;",
    "a block of sums first": f"T m = -9; T c[4] = 0; T s = 0; {FOUR} T q = max(m, a[max]); T e = exp(m - q); T p[4] = exp(a - q); c = c * e + p; s = s * e + p[+]; m = q; }} *(y + r * 4 + o) = c / s;",
    "one in functions": f"T m[4] = -9; T s[4] = 0; T c[4, 4] = 0; {FOUR} T q[4] = max(m, a); T e[4] = exp(m - q); T p[4] = exp(a - q); s = s * e + p; c = c * e[:, newaxis] + p[:, newaxis] * v[newaxis, :]; m = q; }} T h[4] = sqrt(s); T d[4, 4] = c / h[:, newaxis] / sqrt(s)[:, newaxis]; *(y + r * 4 + o) = d[:, +];",
    "one turned": f"T m[4] = -9; T s[4] = 0; T c[4, 4] = 0; {FOUR} T q[4] = max(m, a); T e[4] = exp(m - q); T p[4] = exp(a - q); s = s * e + p; c = c * e[:, newaxis] + p[:, newaxis] * v[newaxis, :]; m = q; }} T d[4, 4] = ^c / ^(s[:, newaxis]); *(y + r * 4 + o) = d[+, :];",
    "one as a factor": f"T m = -9; T s = 0; T c = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q); c = c * exp(m - q) + exp(a - q) * v{ROW} c * rsqrt(s) / sqrt(s) + log(s * 2) + m;",
    "one by another name": f"T m[4] = -9; T s[4] = 0; {FOUR} T q[4] = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; }} T u[4] = s; *(y + r * 4 + o) = log(u) + m;",
    "a sum that may be 0": f"T m = -1; T s = 0; T c = *(w + r); {ONE} T q = max(m, a); s = s * exp(m - q) + (r == 0 ? exp(a - q) : 0); c = c * exp(m - q) + v * exp(a - q){ROW} (c + s) * exp(m);",
    "two growths": f"T m = -9; T s = 0; T d = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q); d = d * exp((m - q) * 2) + exp(2 * (a - q)) * v{ROW} d / (s * s);",
    "no sum of positive numbers": f"T m = -9; T s = 0; T d = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q) * v; d = d * exp(m - q) - exp(a - q){ROW} s / d;",
    "a row of exponents": f"T m[4] = -9; T s[4] = 0; {FOUR} T q[4] = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; }} *(y + r * 4 + o) = log(s) + m;",
    "rows and columns": f"T m[4] = -9; T s[4] = 0; T c[4, 4] = 0; {FOUR} T q[4] = max(m, a); T e[4] = exp(m - q); T p[4] = exp(a - q); s = s * e + p; c = c * e[:, newaxis] + p[:, newaxis] * v[newaxis, :]; m = q; }} T d[4, 4] = c / s[:, newaxis]; *(y + r * 4 + o) = d[:, +];",
    "scores of a loop": "T m = -9; T s = 0; for (int k = 0; k < n; k += 1) { T a = 0; for (int j = 0; j < 4; j += 1) a += *(x + (r * n + k) * 4 + j) * *(w + j); T q = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; } *(y + r) = log(s) + m;",
    "a branch": f"T m = -9; T s = 0; {ONE} T f = a; if (k % 2 == 0) f = a * v; T q = max(m, f); s = s * exp(m - q) + exp(f - q){ROW} log(s) + m;",
    "pointers move": "T m = -9; T s = 0; T *p = x + r * n * 4; for (int k = 0; k < n; k += 1) { T a = *p; T q = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; p += 4; } *(y + r) = log(s) + m;",
    "an element of the row": f"T t = *(x + r * n * 4 + 4); T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q){ROW} log(s) + m - t;",
    "a plain sum beside": f"T m = -9; T s = 0; T c = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q); c += a * v{ROW} log(s) + m + c * c;",
    "an update by the sum": f"T m = -3; T s = 1; {ONE} T q = max(m, a + s * 0.1); s = s * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "a guard": f"T m = -INFINITY; T s = 0; {FOUR} {MASKED} T q = max(m, a[max]); T t = q == -INFINITY ? 0 : q; s = s * exp(m - t) + exp(a - t)[+]{ROW} s > 0 ? log(s) + m : 0;",
    "a guard of a mean": f"T m = -INFINITY; T s = 0; T c = 0; {FOUR} {MASKED} T q = max(m, a[max]); T t = q > -INFINITY ? q : 0; T e = exp(m - t); T p[4] = exp(a - t); s = s * e + p[+]; c = c * e + (p * v)[+]; m = q; }} T d = s == 0 ? 1 : s; *(y + r) = c / d;",
    "a guard of rows": f"T m[4] = -INFINITY; T s[4] = 0; T c[4, 4] = 0; {FOUR} a = r != 1 && o != 2 ? a : -INFINITY; T q[4] = max(m, a); T t[4] = q != -INFINITY ? q : 0; T e[4] = exp2((m - t) * 2); T p[4] = exp2((a - t) * 2); s = s * e + p; c = c * e[:, newaxis] + p[:, newaxis] * v[newaxis, :]; m = q; }} T d[4, 4] = c / (s == 0 ? 1 : s)[:, newaxis]; *(y + r * 4 + o) = d[:, +];",
    "a guard of blocks": f"T m[4] = -INFINITY; T s[4] = 0; {FOUR} T f[4, 4] = r != 1 && (o != k + r)[:, newaxis] ? a[:, newaxis] * v[newaxis, :] : -INFINITY; T b[4] = f[:, max]; T q[4] = max(b, m); T t[4] = q == -INFINITY ? 0 : q; T p[4, 4] = exp(f - t[:, newaxis]); s = s * exp(m - t) + p[:, +]; m = q; }} *(y + r * 4 + o) = s > 0 ? log(s) + m : 0;",
    "a large number": f"T m = -9e30; {LARGE} *(y + r * 2 + 1) = m + log(s);",
    "a large number of no literal": f"T g = 69; T m = -INFINITY; {LARGE.replace('-1e30', '-exp(g)')} *(y + r * 2 + 1) = (m + log(s)) * 0.5;",
    "another loop after": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; }} T e = 0; for (int k = 0; k < n; k += 1) {{ T a = *(x + (r * n + k) * 4); e += a * exp(a - m) / s; }} *(y + r) = e;",
}
OTHERS = {
    "no exponent of its own": f"T m = -9; T s = 0; {ONE} s = s * exp(m - max(m, a)) + exp(a - max(m, a)); m = max(m, a); }} *(y + r) = log(s) + m;",
    "the exponent counts": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q){ROW} s + m;",
    "no exponent comes back": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q){ROW} log(s);",
    "two factors": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + exp((a - q) * 2){ROW} log(s) + m * 2;",
    "a factor of another base": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp2(m - q) + exp(a - q){ROW} log(s) + m;",
    "an addend without": f"T m = -9; T s = 0; {ONE} T q = max(m, a); s = s * exp(m - q) + v * v{ROW} log(s);",
    "by the old exponent": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - m){ROW} log(s) + m;",
    "the old exponent counts": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q) * m * m{ROW} log(s) + m;",
    "the new exponent counts": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q) * q * q{ROW} log(s) + m;",
    "not one at rest": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q + 0.1) + exp(a - q){ROW} log(s) + m;",
    "twice the old exponent": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m * 2 - q) + exp(a - q){ROW} log(s) + m;",
    "a sum that is read": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) + s * exp(a){ROW} log(s) + m;",
    "read by another sum": f"T m = -3; T s = 1; T c = 0; {ONE} T q = max(m, a); T p = s * exp(q); s = s * exp(m - q) + exp(a - q); c += p * v{ROW} log(s) + m + c;",
    "stored in each iteration": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; *(y + r * 4 + k) = log(s) + m; }}",
    "added before": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = (s + exp(a - m)) * exp(m - q){ROW} log(s) + m;",
    "the square": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * s * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "another exponent": f"T m = -3; T s = 1; T b = -3; {ONE} T q = max(m, a); T u = max(b, v); s = s * exp(b - u) + exp(a - u); b = u{ROW} log(s) + m;",
    "scaled again": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s *= v; s *= exp(m - q); s += exp(a - q){ROW} log(s) + m;",
    "twice": f"T m = -3; T s = 1; {ONE} T q = max(m, a); s = s * exp(m - q) * exp(m - q) + exp(a - q){ROW} log(s) + m;",
    "a guard where m is no maximum of f": f"T m = -INFINITY; T s = 0; {ONE} v = k < 2 ? -INFINITY : v; T q = max(m, v); T t = q == -INFINITY ? 0 : q; s = s * exp(m - t) + exp(a - t){ROW} log(s) + m;",
    "a guard where a sum begins at 1": f"T m = *(w + r); T s = 1; {ONE} T q = max(m, a); T t = q == -INFINITY ? 0 : q; s = s * exp(m - t) + exp(a - t){ROW} log(s) + m;",
    "a guard of other rows": f"T m[4] = -INFINITY; T s[4] = 0; {FOUR} T f[4, 4] = (o != k)[:, newaxis] ? a[:, newaxis] * v[newaxis, :] : -INFINITY; T q[4] = max(m, f[:, max]); T t[4] = q == -INFINITY ? 0 : q; T p[4, 4] = exp(f - t[newaxis, :]); s = s * exp(m - t) + p[+, :]; m = q; }} *(y + r * 4 + o) = log(s) + m;",
    "a sum of columns that may be 0": f"T m[4] = -INFINITY; T s[4] = 0; {FOUR} T f[4, 4] = (o != 1)[newaxis, :] && r < 9 ? a[:, newaxis] * v[newaxis, :] : -INFINITY; T q[4] = max(m, f[:, max][max]); s = s * exp(m - q) + exp(f - q[newaxis, :])[+, :]; m = q; }} *(y + r * 4 + o) = s == 0 ? m : log(s) + m;",
    "a sum that may be 0 by its sign": f"T m = -INFINITY; T s = 0; {ONE} v = r == 1 ? -1 : v; T q = max(m, a); s = s * exp(m - q) + exp(a - q) * v + exp(a - q){ROW} s == 0 ? m : log(s) + m;",
    "rows mixed": f"T m[4] = -9; T s[4] = 0; {FOUR} T q[4] = max(m, a); T e[4] = exp(m - q); s = s * e + exp(a - q)[+]; m = q; }} *(y + r * 4 + o) = log(s) + m;",
    "rows summed": "int i[16] = 0 ... 16; T m[16] = -9; T c[16, 16] = 0; for (int k = 0; k < n; k += 1) { T u[16] = *(x + r * 16 + i); T a[16, 16] = u[newaxis, :] * (i[:, newaxis] * 0.1 + k); T q[16] = max(m, a[:, max]); T e[16] = exp(m - q); T p[16, 16] = exp(a - q[:, newaxis]); c = c * e[:, newaxis] + a @ p; m = q; } T d[16, 16] = c * exp(m)[:, newaxis]; *(y + r * 16 + i) = d[:, +];",
    "one row of each": f"T m[4] = -9; T c[4, 4] = 0; {FOUR} T q[4] = max(m, a); T e[4] = exp(m - q); T p[4] = exp(a - q); c = c * e[:, newaxis] + v[:, newaxis] * p[newaxis, :]; m = q; }} T d[4, 4] = c * exp(m)[:, newaxis]; *(y + r * 4 + o) = d[:, +];",
}  # fmt: skip


def tensors(seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shape = (ROWS, TURNS, 4)
    return {name: torch.randn(shape, generator=generator, dtype=torch.double) * 0.7 + 0.5 for name in "xw"}


def compare(body: str, derive: Callable[..., Any] = pytriton.gradient) -> str:
    """Compare with central differences; the source of the gradient."""
    kernel = pytriton.kernel(f"{HEAD}  {body}\n}}", defines={"T": torch.double})
    derived = derive(kernel)
    given, size = tensors(len(body)), int(re.search(r"y \+ r(?: \* (\d+))?", body)[1] or 1)
    flow = torch.linspace(0.5, 2, ROWS * size, dtype=torch.double)

    def launched(moved: dict[str, torch.Tensor]) -> torch.Tensor:
        y = torch.zeros(ROWS * size, dtype=torch.double)
        kernel(y, moved["x"], moved["w"], TURNS, grid=(ROWS,))
        return y

    y = launched(given)
    made = derived(y, given["x"], given["w"], TURNS, grid=(ROWS,), d_outputs={"y": flow})
    assert torch.isfinite(y).all()
    for name in "xw":
        gradient = made.get(name, torch.zeros_like(given[name])).flatten()
        for at in range(given[name].numel()):
            step = torch.zeros(given[name].numel(), dtype=torch.double)
            step[at] = 1e-5
            ends = [
                launched(given | {name: given[name] + sign * step.reshape_as(given[name])})
                for sign in (1, -1)
            ]
            wanted = ((ends[0] - ends[1]) * flow).sum() / 2e-5
            assert abs(gradient[at] - wanted) <= 1e-6 * (1 + abs(wanted)), (name, at)
    return str(derived.source())


@pytest.mark.parametrize("body", RESCALED.values(), ids=RESCALED)
@pytest.mark.sampled(3)
def test_no_scratch(body: str) -> None:
    source = compare(body)
    assert "state_" not in source
    assert "iterations" not in source


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("logsumexp", "*(y + r)"),
        ("base 2", "*(y + r)"),
        ("a block of sums first", " - log_s"),
        ("from the first element", "*(y + r)"),
        ("one as a factor", " - log_s"),
        ("a large number", " - log_s"),
        ("a large number of no literal", " - log_s"),
        ("least", None),
        ("scaled", None),
        ("two growths", None),
        ("a difference", None),
        ("no sum of positive numbers", None),
    ],
)
def test_where_a_sum_is_one(name: str, normal: str | None) -> None:
    """Exponentials are divided by a sum where that is positive, and all sums grow as this one does. The exponent that
    does so, m + log(s), is read where the forward stored it.
    """
    text = f"{HEAD}  {RESCALED[name]}\n}}"
    source = str(pytriton.gradient(pytriton.kernel(text, defines={"T": torch.double})).source())
    found = re.findall(r"= (\*\(y \+ r\));|exp2?\(.*( - log2?_s)\);", source)
    assert {"".join(one) for one in found} == ({normal} - {None})


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS)
@pytest.mark.sampled(3)
def test_others_keep_their_states(body: str) -> None:
    assert "state_" in compare(body)


@pytest.mark.parametrize(
    ("mutant", "name"), [pytest.param(Mutant(*row[:4]), row[4], id=row[0]) for row in MUTANTS]
)
@pytest.mark.sampled(3)
def test_mutant(mutant: Mutant, name: str) -> None:
    """Without a condition, the gradient of a program is wrong, or refused."""
    with loaded(mutant) as derive, pytest.raises((AssertionError, KeyError, pytriton.UnsupportedError)):
        compare((RESCALED | OTHERS)[name], derive)


@pytest.mark.parametrize(
    ("queries", "keys", "causal"),
    [(16, 16, False), (40, 24, False), (24, 56, False), (1, 17, False), (16, 16, True), (40, 40, True)],
)
@pytest.mark.sampled(3)
def test_attention(queries: int, keys: int, causal: bool) -> None:
    """The example, whole, in double against torch."""
    generator = torch.Generator().manual_seed(queries)
    q, k, v, flow = (
        torch.randn(2, size, 16, generator=generator, dtype=torch.double)
        for size in (queries, keys, keys, queries)
    )
    defines = {"TYPE": torch.double, "TM": 16, "TN": 16, "D": 16, **({"CAUSAL": 1} if causal else {})}
    source = attention.SOURCE.replace("float", "TYPE")
    derived = pytriton.gradient(pytriton.kernel(source, defines=defines))
    o = torch.empty_like(q)
    strides = (s for tensor in (q, k, v) for s in tensor.stride()[:2])
    arguments = q, k, v, o, queries, keys, 0.25, *strides
    grid = (pytriton.cdiv(queries, 16), 2)
    pytriton.kernel(source, defines=defines)(*arguments, grid=grid)
    made = derived(*arguments, grid=grid, d_outputs={"O": flow})
    inputs = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
    scores = inputs[0] @ inputs[1].mT * 0.25
    if causal:
        scores = scores.masked_fill(torch.ones(queries, keys).triu(1).bool(), -torch.inf)
    wanted = scores.softmax(-1) @ inputs[2]
    torch.testing.assert_close(o, wanted.detach())
    wanted.backward(flow)
    for name, tensor in zip("QKV", inputs, strict=True):
        torch.testing.assert_close(made[name], tensor.grad)
    assert "state_" not in derived.source()


def products_of(dtype: torch.dtype, causal: bool) -> set[str]:
    """The products of cotangents in the backward of attention."""
    defines = attention.defines(dtype, 16, causal, attention.SMALL)
    lines = str(pytriton.gradient(pytriton.kernel(attention.SOURCE, defines=defines)).source()).splitlines()
    return {re.search(r"\S+ @ \^?\w+", line)[0] for line in lines if "d_" in line and "@" in line}


@pytest.mark.parametrize(("dtype", "scale"), [(torch.half, 1.0), (torch.half, 2e-3), (torch.bfloat16, 1.0)])
def test_attention_of_halves(dtype: torch.dtype, scale: float) -> None:
    """Products take halves, with cotangents as they were loaded: as near as torch's own backward in this type."""
    generator = torch.Generator().manual_seed(1)
    q, k, v, flow = (torch.randn(2, 96, 16, generator=generator).to(dtype) for _ in range(4))
    flow *= scale
    kernel = pytriton.kernel(attention.SOURCE, defines=attention.defines(dtype, 16, True, attention.SMALL))
    derived = pytriton.gradient(kernel)
    arguments = q, k, v, torch.empty_like(q), 96, 96, 0.25, *(s for x in (q, k, v) for s in x.stride()[:2])
    kernel(*arguments, grid=(6, 2))
    made = derived(*arguments, grid=(6, 2), d_outputs={"O": flow})
    assert products_of(dtype, causal=True) == {
        *("do_2 @ ^v", "t @ k"),
        *("shared_pk @ ^q", "shared_pv @ ^do_2", "0) @ do_2", "0) @ q"),
    }
    assert products_of(dtype, causal=False) == {
        *("do_2 @ ^v", "t @ k"),
        *("v @ ^do_2", "TM])p @ do_2", "t @ q"),
    }

    def by_torch(to: torch.dtype) -> list[torch.Tensor]:
        inputs = [tensor.detach().to(to).requires_grad_() for tensor in (q, k, v)]
        scores = (inputs[0] @ inputs[1].mT * 0.25).masked_fill(torch.ones(96, 96).triu(1).bool(), -torch.inf)
        out = scores.softmax(-1) @ inputs[2]
        return list(torch.autograd.grad(out, inputs, flow.to(to)))

    for name, exact, near in zip("QKV", by_torch(torch.double), by_torch(dtype), strict=True):
        mine, theirs = ((tensor.double() - exact).norm() / exact.norm() for tensor in (made[name], near))
        assert mine < theirs


@pytest.mark.parametrize(
    ("scores", "at", "mask", "also", "tolerance"),
    [
        ("half", 1000.0, "-INFINITY", "0", 2e-3),
        ("bfloat16", 200.0, "-INFINITY", "0", 2e-2),
        ("float", 0.0, "-1e9", "0", 1e-5),
        ("float", 0.0, "-1e9", "m + log(l)", 1e-5),
        ("float", 1e6, "-INFINITY", "0", 1e-5),
        ("float", 1e6, "-INFINITY", "(m + log(l)) * 2", 1e-5),
        ("float", -1e9, "-INFINITY", "0", 1e-5),
        ("float", -1e9, "-INFINITY", "(m + log(l)) * 2", 1e-5),
    ],
)
def test_probabilities_sum_to_one(scores: str, at: float, mask: str, also: str, tolerance: float) -> None:
    """M + log(s) is not taken where rounding would lose log(s): each probability would be wrong by that factor.
    ``also``: what the kernel stores besides means.
    """
    text = """\
__global__ void f(float *y, float *z, S *x, float *v, int *kept, int n) {
  int p = get_program_id(0);
  int j[16] = 0 ... 16;
  S m = -INFINITY;
  S l = 0;
  S acc = 0;
  for (int q = 0; q < n; q += 16) {
    bool in[16] = q + j < n;
    S s[16] = *?(in)(kept + p * n + q + j) ? *?(in)(x + p * n + q + j) : MASK;
    s = in ? s : -INFINITY;
    S mn = max(m, s[max]);
    S al = exp(m - mn);
    S e[16] = exp(s - mn);
    l = l * al + e[+];
    acc = acc * al + (e * *?(in)(v + p * n + q + j))[+];
    m = mn;
  }
  *(y + p) = acc / l;
  *(z + p) = ALSO;
}
"""
    torch.manual_seed(0)
    dtype = {"half": torch.half, "bfloat16": torch.bfloat16, "float": torch.float}[scores]
    x, v, kept = (torch.randn(8, 40) + at).to(dtype), torch.randn(8, 40), torch.ones(8, 40, dtype=torch.int32)
    kept[1] = mask == "-INFINITY"
    kernel = pytriton.kernel(text, defines={"S": scores, "MASK": mask, "ALSO": also})
    outputs = {"y": torch.zeros(8), "z": torch.zeros(8)}
    kernel(*outputs.values(), x, v, kept, 40, grid=(8,))
    flow = {"y": torch.ones(8), "z": torch.zeros(8)}
    made = pytriton.gradient(kernel)(*outputs.values(), x, v, kept, 40, grid=(8,), d_outputs=flow)
    masked = x.double().masked_fill(kept == 0, float(mask.replace("INFINITY", "inf")))
    torch.testing.assert_close(made["v"].double(), masked.softmax(1), rtol=tolerance * 10, atol=tolerance)
    torch.testing.assert_close(made["v"].sum(1), torch.ones(8), rtol=0, atol=tolerance)
