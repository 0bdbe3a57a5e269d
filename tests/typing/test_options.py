"""The types of options (``options/annotations.py``) and their checks (``options/table.py``) accept the same values.

Each option is given each of ``VALUES``: to mypy in a file, and to ``option``. Types accept more only where no type
can be narrower (``BEYOND``), checks only where another check follows (``LATER``).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.gradient.backward import Gradient
from pytriton.runtime.options.annotations import ConfigSettings, LaunchCall
from pytriton.runtime.options.table import OPTION_TYPES, option

ROOT = Path(__file__).parent.parent.parent
VALUES = (
    *("None", "True", "0", "4", "-4", "4.0", "''", "'x'", "b'x'", "1j", "object()", "print"),
    *(
        "'full'",
        "'strict'",
        "'ieee'",
        "'cpu'",
        "[]",
        "()",
        "{}",
        "[None]",
        "[True]",
        "[4]",
        "(4, 4)",
        "[4.0]",
    ),
    *("['x']", "('x',)", "['ieee']", "{'x': 4}", "{'x': None}", "{'x': print}", "{4: 4}", "{'x'}", "[[4]]"),
    *(
        "Path('x')",
        "[Path('x')]",
        "[{'x': 4}]",
        "[pytriton.config()]",
        "iter(['x'])",
        "iter([4])",
        "slice(4)",
    ),
    *("torch.half", "torch.device('cpu')", "torch.zeros(1)", "{'x': torch.zeros(1)}", "[torch.zeros(1)]"),
    *("numpy.int64(4)", "numpy.float32(4)", "numpy.bool_(True)", "numpy.zeros(1)", "[numpy.int64(4)]"),
)
# What calls take each option: the statement of a user's program.
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "pytriton.kernel('', {}={})": (pytriton.kernel, "src"),
    "pytriton.op({}={})": (pytriton.op, ""),
    "pytriton.gradient('', {}={})": (pytriton.gradient, "of"),
    "kernel(grid=1, {}={})": (LaunchCall.__call__, "self grid"),
    "kernel.trace(grid=1, {}={})": (pytriton.Kernel.trace, "self grid"),
    "kernel.check_races(grid=1, {}={})": (pytriton.Kernel.check_races, "self grid"),
    "kernel.source({}={})": (pytriton.Kernel.source, "self"),
    "derived(grid=1, {}={})": (Gradient.__call__, "self grid"),
}
_EMPTY = {"[]", "()", "{}"}  # a list with an element, where one is needed
_ARRAYS = {"torch.zeros(1)", "numpy.zeros(1)"}  # they can be iterated over, and know __index__
_TEXTS = {"''", "'x'", "'full'", "'strict'", "'ieee'", "'cpu'"}  # a text is a series of texts
_NUMBERS = {"True", "-4"}  # a truth value is an integer; a type has no range
_COUNTS = {"0", "[True]", "{4: 4}", *_NUMBERS, *_EMPTY, *_ARRAYS}
BEYOND = {
    "device": {*_TEXTS, *_NUMBERS} - {"'cpu'"},
    "num_warps": {"b'x'", *_COUNTS},
    "num_stages": _COUNTS,
    "autotune_configs": {"b'x'", "torch.zeros(1)", *_TEXTS},  # triton.Config is Any to mypy
    "autotune_vals": {"b'x'", "torch.zeros(1)", *_TEXTS},
    "autotune_key": _ARRAYS,
    "outputs": {*_EMPTY, *_ARRAYS},
    "inputs": {*_EMPTY, *_ARRAYS},
    "include_dirs": _ARRAYS,
    "tune_budget": _NUMBERS,
    "precision": {*_EMPTY, *_ARRAYS},
    "fast_math": {*_EMPTY, *_ARRAYS},
    "mutates_args": {*_TEXTS, *_ARRAYS},
    "scratch_bytes": {*_NUMBERS, *_ARRAYS},
    "bench": _ARRAYS,
    "program": {"True", "b'x'", "[]", "()", "[True]", "[torch.zeros(1)]", *_ARRAYS},
}
# What ``option`` leaves to a later check: the entries of dictionaries.
LATER = {"defines": {"{4: 4}"}, "heuristics": {"{'x': 4}", "{'x': None}", "{4: 4}", "{'x': torch.zeros(1)}"}}


def options() -> list[tuple[str, str]]:
    """Each call with each of its options."""
    kinds = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [
        (call, name)
        for call, (function, others) in CALLS.items()
        for name, parameter in signature(function).parameters.items()
        if parameter.kind in kinds and name not in others.split()
    ]


def accepted_by_types(folder: Path) -> set[tuple[str, str, str]]:
    lines = [
        "import numpy, torch, pytriton",
        "from pathlib import Path",
        "kernel, derived = pytriton.kernel(''), pytriton.gradient('')",
    ]
    cases = [(call, name, value) for call, name in options() for value in VALUES]
    first = len(lines) + 1
    lines += [call.format(name, value) for call, name, value in cases]
    (folder / "program.py").write_text("\n".join(lines))
    command = [sys.executable, "-m", "mypy", "--hide-error-context", str(folder / "program.py")]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert printed.returncode == 1, printed.stderr
    wrong = {int(line) for line in re.findall(r"program\.py:(\d+): error:", printed.stdout)}
    assert min(wrong) >= first, printed.stdout
    return {case for number, case in enumerate(cases, first) if number not in wrong}


def accepted_by_check(name: str, value: str) -> bool:
    names = {"Path": Path, "torch": torch, "numpy": numpy, "pytriton": pytriton}
    try:
        option(name, eval(value, names))
    except LaunchError:
        return False
    return True


def test_types_and_checks(tmp_path: Path) -> None:
    accepted = accepted_by_types(tmp_path)
    beyond: dict[str, set[str]] = {}
    short: dict[str, set[str]] = {}
    for call, name in options():
        for value in VALUES:
            checked, typed = accepted_by_check(name, value), (call, name, value) in accepted
            if typed != checked:
                (beyond if typed else short).setdefault(name, set()).add(value)
    assert short == LATER
    assert beyond == BEYOND


def test_each_option_has_a_call() -> None:
    assert {name for _, name in options()} == set(OPTION_TYPES)


def test_settings_of_configs() -> None:
    """``pytriton.config`` names the fields of a config."""
    names = [field.name for field in fields(pytriton.config())]
    assert [*ConfigSettings.__annotations__] == [*names[2:], "remap"]
    with pytest.raises(TypeError):
        pytriton.config({}, num_warp=4)  # type: ignore[call-arg]
