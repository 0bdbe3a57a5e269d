"""Random kernels whose loops carry values over inputs that all programs share, and whose extremes mix.

Recurrences of every form, values that are reset, swapped or decayed, products of tiles, reductions of reductions
along every axis, extremes that other rows or iterations read. Each has at most 64 inputs, so that central
differences can be taken for each of them.
"""

from __future__ import annotations

import random

import torch

from tests.gradient.generate import Made

__all__ = ["carried_kernel"]

UPDATES = (
    *("c = c * 0.9 + a * b;", "c = a * b - c;", "c = (c + a * b) / 2;", "c = a * b;", "c = c * a + b;"),
    *("c += a * b;", "c += a * b;", "c -= a * b;", "c = c + (c + a * b);", "c = c * b + c * a;"),
    *("c += a * b; e += c;", "e += c; c = a * b;", "c += a * b * e;", "e = e * 0.5; c += e * b;"),
    *("T h[B] = c + a * b; c = e; e = h;", "T h[B] = c; c = e * 0.5 + a; e = h + b;", "c += a * b; e = a;"),
    *(
        "if (k == 1) c = 0; c += a * b;",
        "c = k == 1 ? a * b : c + a * b;",
        "c += a * b; if (k == 0) { c = 0; }",
    ),
    *(
        "if (k % 2 == 0) { c += a * b; } else { c = c * 0.5; }",
        "c += a * b; e = k == 0 ? a : e;",
        "e = b; c += a * e;",
    ),
    *(
        "c = c * 0.5 + a * b[+];",
        "c += (a * b)[+];",
        "c = c * e; e += a * b;",
        "c += b; c += a * b;",
        "c += sin(a) * b; e = cos(b) - e;",
    ),
    *(
        "T m = a[max]; c += exp(a - m) * b;",
        "T m = (a * b)[max]; e = exp(-e - m); c += e;",
        "c = max(c, a * b);",
    ),
    *(
        "T m = a[min]; c += m * b; e = m;",
        "T q = max(c[max], a[max]); c = c * exp(-q) + b; e = e - q;",
        "p += 1; c += a * b;",
    ),
)
ENDS = (
    *("c", "c", "c", "c + 2 * e", "c * k2"),
    "c",
    "c + 2 * e",
    "c * e",
    "c * sin(e)",
    "exp(c - c[max])",
    "c * *p",
    "c * k2",
    "tanh(c)[+] * c",
    "c / (3 + c * c)",
)


def _recurrence(pick: random.Random) -> tuple[str, dict[str, int], str]:
    update = " ".join(pick.choice(UPDATES) for _ in range(pick.choice([1, 1, 2])))
    for _ in range(update.count("T h[B]") + update.count("T m =")):  # of one name each
        for word in ("T h[B] =", "T m =", "T q ="):
            first, found, rest = update.partition(word)
            if found and word in rest:
                name = word.split()[1].partition("[")[0]
                update = first + found + rest.replace(word, f"{name} =", 1)
    shared = pick.choice(["k * B + o"] * 6 + ["o", "k % 2 * B + o"])
    reads = f"T a[B] = *(x + (r * n + k) * B + o); T b[B] = *(w + {shared});"
    if pick.random() < 0.2:
        reads = f"T a[B] = *(x + k * B + o); T b[B] = *(w + {shared});"
    stored = pick.choice(["", "", "", "*(z + (r * n + k) * B + o) = c * c;"])
    start = pick.choice(["0", "0", "1", "r", "*(w + o)"])
    lines = f"T c[B] = {start}; T e[B] = {pick.choice('01')}; T *p[B] = x + o; int k2 = 0; "
    lines += f"for (int k = 0; k < n; k += 1) {{ {reads} {update} k2 += 2; {stored} }} "
    n = pick.choice([1, 2, 3, 3, 4])
    return lines + f"*(y + r * B + o) = {pick.choice(ENDS)};", {"x": 40, "w": 4 * n}, str(n)


def _tiles(pick: random.Random) -> tuple[str, dict[str, int], str]:
    step = pick.choice(
        [
            "c * 0.5 + u @ v",
            "u @ v - c",
            "u @ v",
            "c + u @ v",
            "(c + u @ v) / 2",
            "k == 2 ? u @ v : c + u @ v",
        ]
    )
    after = pick.choice(["c", "c * c", "c * c[max, :][newaxis, :]", "exp(c - c[:, max][:, newaxis])"])
    lines = "int i[2] = 0 ... 2; T c[2, 2] = 0; for (int k = 0; k < 2 * n; k += 2) { "
    lines += "T u[2, 2] = *(x + (r * 2 + i)[:, newaxis] * n * 2 + k + i[newaxis, :]); "
    lines += f"T v[2, 2] = *(w + (k + i)[:, newaxis] * 2 + i[newaxis, :]); c = {step}; }} "
    return lines + f"*(y + r * 4 + i[:, newaxis] * 2 + i[newaxis, :]) = {after};", {"x": 36, "w": 12}, "3"


def _extremes(pick: random.Random) -> tuple[str, dict[str, int], str]:
    axis = pick.choice([0, 1])
    kept = "i" if axis else "j"
    size = "4" if axis else "2"
    inner = pick.choice(["max", "max", "min", "+"])
    first = f"v[:, {inner}]" if axis else f"v[{inner}, :]"
    wide = "[:, newaxis]" if axis else "[newaxis, :]"
    lines = "int i[4] = 0 ... 4; int j[2] = 0 ... 2; T s = 0; T last = 0; "
    body = f"T v[4, 2] = *(x + (r * n + k) * 8 + i[:, newaxis] * 2 + j[newaxis, :]); T m[{size}] = {first}; "
    square = f"{kept}[:, newaxis] * {size} + {kept}[newaxis, :]"
    block = "i[:, newaxis] * 2 + j[newaxis, :]"
    row, base = pick.choice(
        [
            (f"T g[{size}] = exp(m - m[{pick.choice(['max', 'min'])}]); T u[{size}] = g / g[+];", kept),
            (f"T g[{size}] = exp(m); T u[{size}] = g / g[+];", kept),
            (f"T u[{size}] = m - m[+] / {size};", kept),
            (f"T g[{size}] = m - m[+] / {size}; T u[{size}] = g * rsqrt((g * g)[+] / {size} + 0.1);", kept),
            (f"T u[{size}, {size}] = m[:, newaxis] - m[newaxis, :];", square),
            (f"T g[4, 2] = exp(v - m{wide}); T u[4, 2] = g / (g[+, :][newaxis, :]);", block),
            (f"T g[4, 2] = exp(v - m{wide}); T u[4, 2] = g / (g[:, +][:, newaxis]);", block),
            (f"T g[4, 2] = exp(v - m{wide}); T u[{size}] = m + log(g[{':, +' if axis else '+, :'}]);", kept),
            (f"T u[{size}] = exp(last - m); last = m[max];", kept),
            (f"T u[{size}] = exp(m) * s; s += m[+]; ", kept),
            (f"T u[{size}] = m * m[max] + (v - m{wide})[{'max, :' if axis else ':, max'}][+];", kept),
        ]
    )
    lines += f"for (int k = 0; k < n; k += 1) {{ {body} {row} *(y + (r * n + k) * 16 + {base}) = u; }} "
    return lines + "*(z + r) = s + last;", {"x": 48, "w": 1}, pick.choice("12")


def carried_kernel(seed: int) -> Made:
    """The kernel of a seed; ``T`` is double."""
    pick = random.Random(seed)
    lines, sizes, n = pick.choice([_recurrence, _recurrence, _recurrence, _tiles, _extremes])(pick)
    generator = torch.Generator().manual_seed(seed)
    tensors = {name: torch.rand(size, generator=generator).double() * 2 - 1 for name, size in sizes.items()}
    tensors |= {"y": torch.zeros(96).double(), "z": torch.zeros(96).double()}
    parameters = ", ".join([*(f"T *{name}" for name in tensors), "int n"])
    text = f"__global__ void f({parameters}) {{ int r = get_program_id(0); int o[B] = 0 ... B; {lines} }}\n"
    programs = 2 if n == "4" else pick.choice([2, 2, 3])
    return Made(text, tensors, {"n": int(n)}, (programs,), [*tensors, "n"])
