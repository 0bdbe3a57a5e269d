"""C's ``for`` becomes ``range`` where that is exact, and stays a ``while`` for each reason that it is not."""

from __future__ import annotations

import pytest
import torch

import pytriton

HEADER = "__global__ void k(int *X, int *Y, int n, int m, long w, unsigned u) {{ {} }}"

EXACT = {
    "up": ("for (int i = 0; i < n; i++) *(Y + i) = i;", "for i in range(n):"),
    "up to and with": ("for (int i = 1; i <= n; i += 2) *(Y + i) = i;", "for i in range(1, n + 1, 2):"),
    "mirrored": ("for (int i = 0; n > i; i += S) *(Y + i) = i;", "for i in range(0, n, S):"),
    "down": ("for (int i = n; i > 0; i -= S) *(Y + i) = i;", "for i in range(n, 0, -S):"),
    "down to and with": ("for (int i = n; i >= 1; i--) *(Y + i) = i;", "for i in range(n, 1 - 1, -1):"),
    "down, unused": ("for (int i = n; i > 0; i -= S) *Y += 1;", "for i in range(0, n, S):"),
    "minus a negative": ("for (int i = 0; i < n; i -= -2) *Y += i;", "for i in range(0, n, 2):"),
    "assigned, dead after": ("int i; for (i = 0; i < n; i++) *Y += i;", "for i in range(n):"),
    "bound of parameters": ("for (int i = m; i < n * 2 + m; i++) *Y += i;", "for i in range(m, n * 2 + m):"),
    "long": ("for (long i = 0; i < w; i++) *Y += 1;", "for i in range(w):"),
    "step in a variable": ("int s = S; for (int i = n; i > 0; i -= s) *Y += i;", "for i in range(n, 0, -S):"),
    "step of a variable": (
        "int s = S; for (int i = 0; i < n; i += 2 * s) *Y += i;",
        "for i in range(0, n, 2 * S):",
    ),
    "negative step": ("int s = -4; for (int i = n; i > 0; i += s) *Y += i;", "for i in range(n, 0, -4):"),
    "negative step, unused": (
        "int s = -4; for (int i = n; i > 0; i += s) *Y += 1;",
        "for i in range(0, n, 4):",
    ),
    "variable set anew behind": (
        "int i; for (i = 0; i < n; i++) *Y += i; for (i = 1; i < m; i++) *Y += i;",
        "for i in range(n):",
    ),
    "variable set anew in the next iteration": (
        "int i = 0; for (int j = 0; j < m; j++) { for (i = 0; i < n; i++) *Y += i; }",
        "for i in range(n):",
    ),
    "bound assigned before": ("n = n / m; for (int i = 0; i < n; i++) *Y += i;", "for i in range(n):"),
    "nested": ("for (int i = 0; i < n; i++) for (int j = i; j < m; j++) *Y += j;", "for j in range(i, m):"),
}

REFUSED = {
    "variable assigned in the body": "for (int i = 0; i < n; i++) { *Y += i; i = i + 1; }",
    "variable read after the loop": "int i = 0; for (i = 0; i < n; i++) *Y += 1; *(Y + 1) = i;",
    "variable read in the next iteration of an outer loop": (
        "int i = 0; for (int j = 0; j < 3; j++) { *(Y + 1) = i; for (i = 0; i < n; i++) *Y += 1; }"
    ),
    "bound assigned in the body": "for (int i = 0; i < n; i++) { *Y += 1; n = n - 1; }",
    "bound reads memory": "for (int i = 0; i < *X; i++) *Y += 1;",
    "bound depends on the variable": "for (int i = 0; i < n - i; i++) *Y += 1;",
    "unknown step": "for (int i = 0; i < n; i += m) { *Y += 1; if (m == 0) n = 0; }",
    "step in a variable that changes": "int s = 3; for (int i = 0; i < n; i += s) { *Y += i; s = s + 1; }",
    "step in a variable that is 0": "int s = 0; for (int i = 0; i < n; i += s) { *Y += i; n = 0; }",
    "variable read in a branch behind": (
        "int i = 0; for (i = 0; i < n; i++) *Y += 1; if (n > 3) i = 7; *(Y + 1) = i;"
    ),
    "variable read by the next loop": (
        "int i = 0; for (i = 0; i < n; i++) *Y += 1; for (; i < m; i++) *Y += 2;"
    ),
    "wrong direction": "for (int i = 0; i > n; i += 1) { *Y += 1; n = n + 5; }",
    "not equal": "for (int i = 0; i != n; i++) *Y += 1;",
    "unsigned": "for (unsigned i = u; i > 0; i -= 1) *Y += 1;",
    "char": "for (char i = 0; i < n; i++) *Y += 1;",
    "bound of another type": "for (int i = 0; i < w; i++) *Y += 1;",
    "two variables": "for (int i = 0, j = 0; i < n; i++, j++) *Y += j;",
    "multiplied": "for (int i = 1; i < n; i *= 2) *Y += 1;",
    "no condition, never ends here": "for (int i = 0; i + 1 < n; i++) *Y += 1;",
    "largest bound": "for (int i = 2147483000; i <= 2147483647 && i > 0; i += 100) *Y += 1;",
}


def text(body: str) -> str:
    return pytriton.translate(HEADER.format(body), {"S": 3}).text


@pytest.mark.parametrize("case", EXACT)
def test_exact(case: str) -> None:
    body, loop = EXACT[case]
    assert loop in text(body)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    generated = text(REFUSED[case])
    inner = generated[generated.index("Y") :]
    assert "while " in inner


def c_loop(start: int, condition: str, step: int, n: int) -> list[int]:
    """The values that C's loop visits."""
    compare = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}[condition]
    found = []
    while compare(start, n):
        found.append(start)
        start += step
    return found


@pytest.mark.parametrize("n", [-3, 0, 1, 2, 7, 12])
@pytest.mark.parametrize("condition", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("step", [1, 2, 5])
def test_visits_what_c_visits(n: int, condition: str, step: int) -> None:
    up = condition in ("<", "<=")
    start = -2 if up else 9
    source = (
        f"__global__ void k(int *Y, int n) {{ int c = 0; for (int i = {start}; i {condition} n; "
        f"i {'+' if up else '-'}= {step}) {{ *(Y + c) = i; c += 1; }} *(Y + 40) = c; }}"
    )
    y = torch.zeros(41, dtype=torch.int32)
    kernel = pytriton.kernel(source)
    assert "range" in kernel.source()
    kernel(y, n, grid=(1,))
    want = c_loop(start, condition, step if up else -step, n)
    assert y[: int(y[40])].tolist() == want
