"""The table of options: a value of another type than the option's is refused before anything is launched."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.gradient.backward import Gradient
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.annotations import LaunchCall
from pytriton.runtime.options.table import OPTION_TYPES

TEXT = """__global__ void scale(float *y, float *x, float *bias, int n) {
  int r[16] = 0 ... 16;
  *?(r < n) (y + r) = *?(r < n) (x + r) * *?(r < n) (bias + r);
}
"""
KERNEL = pytriton.kernel(TEXT)
NOT_OPTIONS = {"grid", "self", "target", "mode", "src", "of"}


def body(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def constructed(name: str, value: Any) -> Any:
    return pytriton.kernel(TEXT, **{name: value})


def operator(name: str, value: Any) -> Any:
    return pytriton.op("pytriton_options::f", body, **{name: value})


def derived(name: str, value: Any) -> Any:
    return pytriton.gradient(TEXT, **{name: value})


ON_CALLS: dict[str, Callable[..., Any]] = {
    "call": KERNEL,
    "trace": KERNEL.trace,
    "races": KERNEL.check_races,
    "call with another": lambda *a, **o: KERNEL(*a, OTHER=1, **o),
    "gradient": lambda *a, grid, **o: pytriton.gradient(KERNEL, **o)(*a, grid=grid),
    "source": lambda *a, grid, **o: KERNEL.source(**o),
}
WRONG: dict[Callable[..., Any], dict[str, list[Any]]] = {
    constructed: {
        "defines": [[1], "X=1", [("X", 1)], 3],
        "kernel": [3, ["scale"], b"scale"],
        "name": [3, b"x"],
        "include_dirs": [3, [3], b"x"],
        "heuristics": [3, [1], "x"],
        "autotune_configs": [3, "x"],
        "autotune_vals": [3, True],
        "autotune_key": [3, [3]],
        "tune_budget": ["x", -1, True, float("nan"), [1]],
        "tune": [3],
        "strict_literals": ["x", 1, None],
        "strict_promises": [3, "x"],
        "check": [3, "x"],
        "device": [1.5, "nope"],
        "outputs": [3, [3], []],
        "num_warps": ["a", [], {}, 3],
        "num_stages": ["a", 0],
        "precision": [3, [], "x"],
        "fast_math": ["x", 1, []],
    },
    operator: {
        "mutates_args": [3, [3], None, "x"],
        "gradient": ["x", 3],
        "scratch_bytes": ["3", -1, 1.5, True],
    },
    derived: {
        "outputs": [3, [], [3]],
        "inputs": [3, [], [3]],
        "checkpoints": ["x", 3],
        "scratch_bytes": ["3", -1, 1.5, True],
        "defines": [[1], "X=1"],
    },
}
CASES = [
    (made, name, value) for made, options in WRONG.items() for name, all_ in options.items() for value in all_
]


@pytest.mark.parametrize(("made", "name", "value"), CASES)
def test_wrong(made: Callable[..., Any], name: str, value: Any) -> None:
    with pytest.raises(LaunchError, match=r"\[TC5(15|17|40)\]\nhelp: ") as caught:
        made(name, value)
    assert name in str(caught.value) or name == "device"


def arguments() -> tuple[Any, ...]:
    return torch.zeros(11), torch.ones(11), torch.ones(11), 11


@pytest.mark.parametrize("value", [[1], "X=1", [("X", 1)], 3, {3}])
@pytest.mark.parametrize("name", ON_CALLS)
def test_defines_of_a_call(name: str, value: Any) -> None:
    given = arguments()
    with pytest.raises(LaunchError, match=r"^defines must be a dict, not .*\[TC515\]"):
        ON_CALLS[name](*given, grid=(1,), defines=value)
    assert not given[0].any()


@pytest.mark.parametrize("value", ["a", 1.5, [1], torch.ones(2)])
def test_bench(value: Any) -> None:
    given = arguments()
    with pytest.raises(LaunchError, match=r"^bench is .*\[TC515\]"):
        KERNEL(*given, grid=(1,), bench=value)
    assert not given[0].any()


@pytest.mark.parametrize("value", ["2", 1.5, [], (0.5,), (0, 0, 0, 0), None, True])
def test_program(value: Any) -> None:
    with pytest.raises(LaunchError, match=r"^program is .*\[TC515\]"):
        KERNEL.trace(*arguments(), grid=(1,), program=value)


def test_accepted(tmp_path: Path) -> None:
    """One name or folder is a list of one; generators are lists."""
    (tmp_path / "a.h").write_text("#define A 2\n")
    source = '#include "a.h"\n' + TEXT.replace("*?(r < n) (x", "A * *?(r < n) (x")
    for folder in (str(tmp_path), tmp_path, [tmp_path], (str(each) for each in [tmp_path])):
        given = arguments()
        pytriton.kernel(source, include_dirs=folder)(*given, grid=(1,))
        assert given[0].tolist() == [2.0] * 11
    for names in ("bias", ["bias"], (name for name in ["bias"])):
        made = pytriton.gradient(TEXT, inputs=names, outputs=(name for name in ["y"]))
        assert (made.inputs, made.outputs) == (("bias",), ("y",))
        assert "d_bias" in made.source


def test_gradient_calls() -> None:
    made = pytriton.gradient(TEXT)
    for flowing in ({"y": 1.0}, [torch.ones(11)], torch.ones(11), "y"):
        with pytest.raises(LaunchError, match=r"^d_outputs.* is .*\[TC755\]"):
            made(*arguments(), grid=(1,), d_outputs=flowing)  # type: ignore[arg-type]
    swept = pytriton.kernel(TEXT.replace("16", "T"), {"T": [16, 32]})
    step, names = pytriton.gradient(swept).steps[0], dict(zip(made.parameters, arguments(), strict=True))
    for options in (pytriton.config({"T": 64}), {"T": 64}, 3):
        with pytest.raises(LaunchError, match=r"has no config with defines .*64|3.* \[TC755\]"):
            step.grid((1,), names, options)
    assert step.grid((1,), names, pytriton.config({"T": 32})) == (1, 1, 1)


@pytest.mark.parametrize(
    "function",
    [
        pytriton.kernel,
        LaunchCall.__call__,
        Kernel.trace,
        Kernel.check_races,
        Kernel.source,
        pytriton.op,
        pytriton.gradient,
        Gradient.__call__,
    ],
)
def test_all_are_in_the_table(function: Callable[..., Any]) -> None:
    named = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD) and each.name not in NOT_OPTIONS
    ]
    assert named
    assert set(named) <= OPTION_TYPES.keys()
