"""In each of the first six packages a module gets triton in a way that no import statement at its top shows."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

import pytest
import torch

import pytriton
from tests.legacy.modules import NAMES, PACKAGES, large, package


def part(name: str) -> Any:
    """A module of a package: ``sparse2020.dense``."""
    package(name.split(".")[0])
    return importlib.import_module(name)


def test_every_package_is_tested() -> None:
    assert {path.name for path in PACKAGES.iterdir() if path.name != "__pycache__"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_package_has_pytriton_and_nobody_else(name: str) -> None:
    found = package(name)
    for each in pkgutil.iter_modules(found.__path__):
        importlib.import_module(f"{name}.{each.name}")
    inside = [module for known, module in sys.modules.items() if known.split(".")[0] == name]
    users = [module for module in inside if getattr(module, "triton", None) is not None]
    assert users
    assert all(module.triton is pytriton for module in users)
    assert hasattr(importlib.import_module("triton"), "jit")


@pytest.mark.parametrize(
    "module",
    [
        "lean2019.bias",  # triton = __import__('triton')
        "tutorials2020.transpose",  # under try
        "sparse2020.dense",  # triton = importlib.import_module('triton')
        "ops2021.linear",  # the same, called at the top of a module that asks for triton.ops, too
    ],
)
def test_a_hidden_import_gives_pytriton(module: str) -> None:
    """What these modules compute is for the packages' own tests."""
    assert part(module).triton is pytriton


def blocks(device: str) -> tuple[torch.Tensor, torch.Tensor, int]:
    """A tensor, a layout and a block size."""
    torch.manual_seed(0)
    heads, rows, columns, block = large(device, (2, 3, 4, 16), (4, 24, 20, 32))
    layout = (torch.rand(heads, rows, columns) < 0.5).long()
    layout[0, 0, 0] = 1
    return torch.randn(2, heads, rows * block, columns * block, device=device), layout.to(device), block


def test_2021_import_module_when_it_is_needed(device: str) -> None:
    """``triton = None`` until the first call: ``global triton; triton = importlib.import_module('triton')``"""
    x, layout, block = blocks(device)
    module = part("sparse2021.gather")
    module.triton = None
    module.kernels.clear()
    assert torch.equal(module.to_sparse(x, layout, block), pytriton.testing.sparsify_tensor(x, layout, block))
    assert module.triton is pytriton


def test_2021_import_module_of_what_is_not_there() -> None:
    """``importlib.import_module('.ops', package='triton')`` under ``try``"""
    assert part("ops2021.linear").library is None
