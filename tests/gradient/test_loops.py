# ruff: noqa: E501
"""Loops of all kinds, by what they carry: the derived gradient is that of numerical differences, or is refused.

Each body is run for no, one and four iterations; ``t`` is a table of steps.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch

import pytriton
from tests.gradient.programs import Launch, Program

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

LOOPS = {
    "pointer moved in a branch": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s = sin(s) + *p; if (k % 2 == 0) p += 2; else p += 1; } *y = s;",
    "pointers swapped": "T s = 1; T *p = x; T *q = x + 8; for (int k = 0; k < n; k += 1) { s = sin(s) + *p; T *h = p; p = q; q = h; } *y = s;",
    "pointer from a table": "T s = 1; for (int k = 0; k < n; k += 1) { T *p = x + *(t + k); s = sin(s) + *p; } *y = s;",
    "pointers swapped beside a sum": "T s = 1; T *p = x; T *q = x + 8; for (int k = 0; k < n; k += 1) { s += *p * *p; T *h = p; p = q; q = h; p += 1; } *y = s;",
    "steps from a table beside a sum": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s += *p * *p; p += *(t + k); } *y = s;",
    "while": "T s = 1; int k = 0; T *p = x; while (k < n) { s = sin(s) * *p; p += 2; k += 1; } *y = s;",
    "do while": "T s = 1; int k = 0; T *p = x; do { s = sin(s) * *p; p += 2; k += 1; } while (k < n); *y = s;",
    "counts down": "T s = 1; T *p = x; for (int k = n; k > 0; k -= 2) { s = sin(s) * *(p + k); p += 1; } *y = s;",
    "two loops": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s = sin(s) * *p; p += 1; } T u = s; for (int k = 0; k < n; k += 1) { u = u * cos(s) + *p; p += 1; } *y = u;",
    "a loop in a loop, both carry": "T s = 1; T *p = x; for (int k = 0; k < 2; k += 1) { for (int j = 0; j < n; j += 1) { s = sin(s) * *p; p += 1; } } *y = s;",
    "a sum in a loop that carries": "T s = 1; T *p = x; for (int k = 0; k < 2; k += 1) { T u = 0; for (int j = 0; j < n; j += 1) { u += *p * *p; p += 1; } s = sin(s) * u; } *y = s;",
    "steps from a table in a loop that carries": "T s = 1; T *p = x; for (int k = 0; k < 2; k += 1) { T u = 0; for (int j = 0; j < n; j += 1) { u += *p; p += *(t + j); } s = sin(s) + u; } *y = s;",
    "stored in each iteration": "T s = 1; for (int k = 0; k < n; k += 1) { s = sin(s) * *(x + k); *(y + k) = s; }",
    "stored before it changes": "T s = 1; for (int k = 0; k < n; k += 1) { *(y + k) = s * *(x + k); s = sin(s) * *(x + k + 4); }",
    "counter used after the loop": "T s = 1; int k = 0; for (; k < n; k += 1) { s = sin(s) * *(x + k); } *y = s * *(x + k);",
    "counter in the value": "T s = 1; for (int k = 0; k < n; k += 1) { s = s * *(x + k) * (k + 1) + k; } *y = s;",
    "integer state": "T s = 1; int m = 1; for (int k = 0; k < n; k += 1) { s = s * *(x + k) * m; m = m * 2; } *y = s;",
    "integer state sum": "T s = 1; int m = 1; for (int k = 0; k < n; k += 1) { s += *(x + k) * m; m = m * 2; } *y = s;",
    "max state": "T s = -3; for (int k = 0; k < n; k += 1) { s = max(s, *(x + k)); } *y = s * s;",
    "select state": "T s = 1; for (int k = 0; k < n; k += 1) { T a = *(x + k); s = a > 0.2 ? s * a : s - a; } *y = s;",
    "branch on state": "T s = 1; for (int k = 0; k < n; k += 1) { T a = *(x + k); if (k > 1) { s = s * a; } else { s = s + a * a; } } *y = s;",
    "two states": "T s = 1; T u = 2; for (int k = 0; k < n; k += 1) { T a = *(x + k); T v = s * u + a; u = s - a; s = v; } *y = s * u;",
    "values change places": "T s = *x; T u = *(x + 1); for (int k = 0; k < n; k += 1) { T h = s; s = u; u = h + u; } *y = s * u;",
    "last value used once": "T s = 1; T a = *x; for (int k = 0; k < n; k += 1) { s = s * a; a = *(x + k + 1); } *y = s + a;",
    "block state": "T s[4] = 1; T *p[4] = x + r; for (int k = 0; k < n; k += 1) { s = sin(s) * *p; p += 4; } *(y + r) = s;",
    "block masked": "T s[4] = 1; T *p[4] = x + r; for (int k = 0; k < n; k += 1) { bool m[4] = r + k < 5; s = m ? sin(s) * *p : s + 1; p += 4; } *(y + r) = s;",
    "reduce state": "T s = 1; for (int k = 0; k < n; k += 1) { T a[4] = *(x + k * 4 + r); T m = max(s, a[max]); s = s * exp(-m) + a[+]; } *y = s;",
    "state through shape": "T s[4] = 1; for (int k = 0; k < n; k += 1) { T a[4] = *(x + k * 4 + r); T w[4, 4] = s[:, newaxis] * a[newaxis, :]; s = w[:, +]; } *(y + r) = s;",
    "square of the counter": "T s = 1; for (int k = 0; k < n; k += 1) { s = sin(s) + *(x + k * k); } *y = s;",
    "pointer moved twice": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s = sin(s) * *p + *(p + 1); p += 1; p += 1; } *y = s;",
    "pointer moved by the counter": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s = sin(s) + *p; p += k; } *y = s;",
    "pointer moved by the counter beside a sum": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s += *p * *p; p += k; } *y = s;",
    "break": "T s = 1; for (int k = 0; k < n; k += 1) { if (k == 2) break; s = s * *(x + k); } *y = s;",
    "offset from a table": "T s = 1; int o = 0; for (int k = 0; k < n; k += 1) { s = sin(s) + *(x + o); o += *(t + k); } *y = s;",
    "offset from a table beside a sum": "T s = 1; int o = 0; for (int k = 0; k < n; k += 1) { s += *(x + o) * *(x + o); o += *(t + k); } *y = s;",
    "loop in branch": "T s = 1; if (n > 2) { for (int k = 0; k < n; k += 1) s = s * *(x + k); } else { s = *x; } *y = s;",
    "maximum first, then a sum": "T m = -9; for (int k = 0; k < n; k += 1) m = max(m, *(x + k)); T s = 0; for (int k = 0; k < n; k += 1) s += exp(*(x + k) - m); *y = log(s) + m;",
    "online": "T m = -9; T s = 0; for (int k = 0; k < n; k += 1) { T a = *(x + k); T q = max(m, a); s = s * exp(m - q) + exp(a - q); m = q; } *y = log(s) + m;",
    "the same input each time": "T s = 1; T a = *x; for (int k = 0; k < n; k += 1) { s = s * a; } *y = s;",
    "atomic add": "T s = 1; for (int k = 0; k < n; k += 1) { s = s * *(x + k); atomic_add(y, s); }",
    "pointer moved back": "T s = 1; T *p = x + 10; for (int k = 0; k < n; k += 1) { s = sin(s) * *p; p -= 2; } *y = s;",
    "steps that change once": "T s = 1; T *p = x; int st = 2; for (int k = 0; k < n; k += 1) { s = sin(s) * *p; p += st; st = 1; } *y = s;",
    "pointer used after the loop": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s = sin(s) * *p; p += 2; } *y = s * *p;",
    "pointer by a table used after the loop": "T s = 1; T *p = x; for (int k = 0; k < n; k += 1) { s = s + 1; p += *(t + k); } *y = s * *p * *p;",
    "few elements in turns": "T s = 1; for (int k = 0; k < n; k += 1) { s = sin(s) * *(x + k % 2); } *y = s;",
    "ahead mask": "T s = 1; T *p = x; T a = n > 0 ? *p : 0; for (int k = 0; k < n; k += 1) { s = sin(s) * a; p += 1; a = k + 1 < n ? *p : 0; } *y = s;",
    "ahead index": "T s = 1; int i = 0; T a = *(x + i); for (int k = 0; k < n; k += 1) { s += a * a; i += 3; T b = *(x + i); a = b; } *y = s;",
    "ahead computed": "T s = 1; T *p = x; T a = sin(*p); for (int k = 0; k < n; k += 1) { s += a * a; p += 1; a = sin(*p); } *y = s;",
    "ahead other fn": "T s = 1; T *p = x; T a = cos(*p); for (int k = 0; k < n; k += 1) { s += a * a; p += 1; a = sin(*p); } *y = s;",
    "ahead two": "T s = 1; T *p = x; T a = *p; T b = a * a; for (int k = 0; k < n; k += 1) { s += b * a; p += 1; a = *p; b = a * a; } *y = s;",
    "ahead and used after": "T s = 1; T *p = x; T a = *p; for (int k = 0; k < n; k += 1) { s += a * a; p += 1; a = *p; } *y = s * a;",
    "ahead twice read": "T s = 1; T *p = x; T a = *p; T c = a; for (int k = 0; k < n; k += 1) { s += a * a * c; p += 1; a = *p; } *y = s;",
}
REFUSED = {
    "pointer moved in a branch": "TC708",
    "pointers swapped": "TC708",
    "do while": "TC702",
    "a loop in a loop, both carry": "TC708",
    "a sum in a loop that carries": "TC708",
    "steps from a table in a loop that carries": "TC708",
    "integer state": "TC708",
    "pointer moved by the counter": "TC708",
    "break": "TC702",
    "offset from a table": "TC708",
    "steps that change once": "TC708",
}
STEPS = (1, 3, 2, 1, 2, 1, 3, 1)


def program(name: str, n: int) -> Program:
    text = f"__global__ void f(T *x, int *t, T *y, int n) {{\n  int r[4] = 0 ... 4;\n  {LOOPS[name]}\n}}\n"
    shapes = {"x": (40,), "t": (len(STEPS),), "y": (8,)}
    table = {"t": lambda: torch.tensor(STEPS, dtype=torch.int32)}
    return Program(name, text, shapes, {"n": n}, (1,), integers=table, low=0.3, high=1.3)


@pytest.mark.parametrize("checkpoints", [False, True])
@pytest.mark.parametrize("n", [0, 1, 4, 6])
@pytest.mark.parametrize("name", [name for name in LOOPS if name not in REFUSED])
def test_is_right(name: str, n: int, checkpoints: bool) -> None:
    if n == 0 and "log(s)" in LOOPS[name]:
        pytest.skip("the logarithm of 0")
    launch = Launch(program(name, n), torch.double, partial(pytriton.gradient, checkpoints=checkpoints))
    if checkpoints and "int segment" not in launch.gradient.source:
        pytest.skip("nothing is kept")
    tensors = launch.program.tensors(torch.double)
    tensors["y"].zero_()
    inputs = [tensors[each].requires_grad_() for each in launch.gradient.inputs]
    assert torch.autograd.gradcheck(launch.function(tensors), inputs, atol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    with pytest.raises(pytriton.UnsupportedError, match=REFUSED[name]):
        Launch(program(name, 4), torch.double)
