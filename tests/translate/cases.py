"""The cases of translations, each proved up to four ways. Needs neither torch nor Triton.

A case is a folder ``tests/translate/<case>`` with ``kernel.c`` and ``case.toml``. Its translation must compile for
each target, and compute what ``case.toml`` says::

    defines = { TM = 16, TYPE = "half" }   # as given to pytriton.kernel
    warnings = ["TC323"]                   # codes expected, none if absent
    fast_math = true                       # as given to pytriton.kernel; so are kernel, strict_literals
    not_on = ["hip:gfx942 3.6"]            # targets, perhaps of one Triton, whose compiler fails on it
    [run]
    grid = [2]
    args = { X = "normal(32)", Y = "full(32, nan)", N = "30" }      # torch expressions, in parameter order
    expect = { Y = "where(arange(32) < N, X + 1, Y)" }              # of the arguments as they were
    rtol = 1e-6                                                     # absent: equal bit for bit, NaN included

An expression sees torch's functions, ``normal(*shape)`` (float32, seeded), ``ints(low, high, *shape)`` (int32),
``special(*shape)`` (normal with NaN, infinities and zeros among it) and the dtypes.

Most cases have a golden, ``expected.py``: the translation is exactly that (``make golden`` rewrites it, and fills
an empty file), and ``ruff format`` leaves it alone. A case needs none where its translation has no construct, and
takes no path through passes and printer, that no other golden has.

``tables.toml`` holds cases whose Python differs from a golden in types, sizes and numbers alone: compiled and
computed as the others, without a golden. A table has a ``source`` and what its ``rows`` share; a row has a name and
adds to it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pytriton.pipeline import Translation, translate_as
from pytriton.settings import Settings

ROOT = Path(__file__).parent
FOLDERS = sorted(path.parent.name for path in ROOT.glob("*/kernel.c"))
GOLDENS = [name for name in FOLDERS if (ROOT / name / "expected.py").exists()]


def merged(shared: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Two nested tables as one; where both have a value, the row's."""
    both = {name: merged(shared[name], row[name]) for name in shared.keys() & row if type(row[name]) is dict}
    return shared | row | both


def runs(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a case, of which most have one."""
    return case["run"] if isinstance(case["run"], list) else [case["run"]]


def table() -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of all tables, each as a complete case."""
    for shared in tomllib.loads((ROOT / "tables.toml").read_text())["table"]:
        for name, row in shared.pop("rows").items():
            case = merged(shared, row)
            seen = {"defines": case.get("defines", {})}
            yield name, case | {"run": [run | seen for run in runs(case)]}


TABLE = dict(table())
CASES = [*FOLDERS, *TABLE]


@cache
def load(case: str) -> dict[str, Any]:
    """The row of a table, or the parsed case.toml."""
    return TABLE[case] if case in TABLE else tomllib.loads((ROOT / case / "case.toml").read_text())


def text(case: str) -> bytes:
    """The kernel as a user's file holds it."""
    return TABLE[case]["source"].encode() if case in TABLE else (ROOT / case / "kernel.c").read_bytes()


def translated(case: str) -> Translation:
    """The translation of a case."""
    data = load(case)
    settings = Settings(
        data.get("kernel"),
        strict_literals=data.get("strict_literals", False),
        fast_math=data.get("fast_math", False),
    )
    return translate_as(text(case), data.get("defines"), settings, "kernel.c")
