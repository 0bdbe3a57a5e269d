"""Constructors and calls of 2019, 2020 and 2021, and constructors that are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.options.definition import by_era, device_of
from tests.runtime.kernels import ADD

N = 20


def cdiv_grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.d("TILE")),)


def tensors() -> list[Any]:
    return [torch.zeros(N), torch.arange(float(N)), torch.ones(N), N]


CALLS: dict[str, Callable[[list[Any]], object]] = {
    "2019 keywords": lambda a: pytriton.kernel(ADD, ["z"])(*a, cdiv_grid, TILE=16),
    "2019 list": lambda a: pytriton.kernel(ADD)(*a, cdiv_grid, TILE=[16, 32], num_warps=[2, 4]),
    "2019 tuple grid": lambda a: pytriton.kernel(ADD)(*a, (2,), TILE=16),
    "2019 defines": lambda a: pytriton.kernel(ADD)(*a, grid=cdiv_grid, num_warps=4, defines={"TILE": 16}),
    "2020": lambda a: pytriton.kernel(ADD, defines={"TILE": 16}, num_warps=[2, 4])(*a, grid=cdiv_grid),
    "2020 positional": lambda a: pytriton.kernel(ADD, {"TILE": 16}, [2, 4])(*a, grid=cdiv_grid),
    "2020 only warps": lambda a: pytriton.kernel(ADD, None, 8)(*a, grid=cdiv_grid, defines={"TILE": 16}),
    "2021": lambda a: pytriton.kernel(
        ADD,
        torch.device("cpu"),
        defines={"OTHER": 1},
        num_warps=4,
        autotune_configs=[pytriton.config(defines={"TILE": "16"}, num_warps=4)],
        autotune_key=["n"],
    )(*a[:1], *[x.data_ptr() for x in a[1:3]], N, grid=lambda opt: [pytriton.cdiv(N, opt.TILE)]),
    "2021 addresses only": lambda a: pytriton.kernel(ADD, "cpu", defines={"TILE": 16})(
        *[x.data_ptr() for x in a[:3]], N, grid=lambda opt: (pytriton.cdiv(N, opt.TILE),)
    ),
    "2021 positional": lambda a: pytriton.kernel(
        ADD, "cpu", {}, 4, [({"TILE": "16"}, 4), ({"TILE": "32"}, 4)], ["n"]
    )(*a, grid=cdiv_grid),
    "2021 vals": lambda a: pytriton.kernel(ADD, autotune_vals=[({"TILE": "16"}, 4)])(*a, grid=cdiv_grid),
    "list grid": lambda a: pytriton.kernel(ADD, {"TILE": 16})(*a, grid=[2]),
    "int grid": lambda a: pytriton.kernel(ADD, {"TILE": 16})(*a, grid=2),
    "numpy grid": lambda a: pytriton.kernel(ADD, {"TILE": 16})(*a, grid=(numpy.int64(2), 1, 1)),
    "call wins": lambda a: pytriton.kernel(ADD, {"TILE": 1})(*a, grid=cdiv_grid, TILE=32),
    "bytes": lambda a: pytriton.kernel(ADD.encode(), {"TILE": 16})(*a, grid=2),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_call(call: Callable[[list[Any]], object]) -> None:
    arguments = tensors()
    assert call(arguments) is None
    assert torch.equal(arguments[0], torch.arange(1.0, N + 1))


def test_path(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text(ADD)
    arguments = tensors()
    pytriton.kernel(tmp_path / "add.c", {"TILE": 32})(*arguments, grid=1)
    assert torch.equal(arguments[0], torch.arange(1.0, N + 1))


def test_a_str_is_never_a_path(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text(ADD)
    with pytest.raises(pytriton.CompileError):
        pytriton.kernel(str(tmp_path / "add.c"))


REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "source": (
        (3,),
        {},
        "expected source text or a Path, got int [TC515]\nhelp: give a str, bytes, or a pathlib.Path",
    ),
    "twice": ((ADD, {"TILE": 1}), {"defines": {"TILE": 2}}, "pytriton.kernel got 'defines' twice [TC515]"),
    "defines": (
        (ADD,),
        {"defines": ["TILE"]},
        "defines must be a dict, not ['TILE'] [TC515]\nhelp: give defines={'TM': 64}",
    ),
    "device": (
        (ADD, "gpu7"),
        {},
        "'gpu7' is not a device [TC515]\nhelp: give 'cuda', 'cuda:1', 'cpu' or a torch.device",
    ),
    "num_warps": (
        (ADD, {"TILE": 16}, 3),
        {},
        "num_warps is 3 [TC517]\nhelp: give a power of two from 1 to 64 (usually 4 or 8)",
    ),
    "autotune_key": (
        (ADD, {"TILE": 16}),
        {"autotune_key": ["N"]},
        "add: autotune_key names 'N', which is not a parameter [TC516]\nhelp: it has z, x, y, n",
    ),
}


@pytest.mark.parametrize(("arguments", "keywords", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(arguments: tuple[Any, ...], keywords: dict[str, Any], message: str) -> None:
    """test_messages.py has the order of arguments."""
    with pytest.raises(LaunchError) as caught:
        pytriton.kernel(*arguments, **keywords)
    assert str(caught.value) == message


def test_by_era() -> None:
    assert by_era((["C"],)).outputs == ("C",)
    assert by_era((["C"], {"A": 1}, 8)).num_warps == 8
    assert by_era((None, {"A": 1})).defines == {"A": 1}
    assert by_era((0, {"A": 1})).device == 0
    assert by_era((None, None, 8)).num_warps == 8
    assert by_era((None, [2, 4])).num_warps == [2, 4]


def test_devices() -> None:
    assert device_of(None) is None
    assert device_of("cuda:1") == torch.device("cuda", 1)
    assert device_of(1) == torch.device("cuda", 1)
