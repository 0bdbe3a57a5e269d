"""In each of the six packages a module gets triton in a way that no import statement at its top shows."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType
from typing import Any

import pytest
import torch

import pytriton
from tests.legacy.modules import NAMES, PACKAGES, each_device, large, needs_cpu_only, package


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


@each_device
def test_2019_called_import(device: str) -> None:
    """``triton = __import__('triton')``"""
    torch.manual_seed(0)
    m, n = large(device, (37, 24), (5000, 1000))
    x, b = torch.randn(m, n, device=device, requires_grad=True), torch.randn(n, device=device)
    b.requires_grad_()
    y = package("lean2019").add_bias(x, b)
    assert torch.equal(y, x + b)
    dy = torch.randn_like(y)
    assert torch.equal(torch.autograd.grad(y, x, dy, retain_graph=True)[0], dy)
    torch.testing.assert_close(torch.autograd.grad(y, b, dy)[0], dy.sum(0))
    assert part("lean2019.bias").triton is pytriton


@each_device
def test_2020_renamed_and_inside_a_function(device: str) -> None:
    """``from importlib import import_module as load``"""
    torch.manual_seed(0)
    n = large(device, 20, 300)
    a, b, c = (torch.randn(n, n, device=device) for _ in range(3))
    contraction = package("contract2020")
    y, times = contraction.chain(contraction.contract, ["mk,kn->mn", "mk,nk->mn"], a, b, c, bench=2)
    torch.testing.assert_close(y, a @ b @ c.t(), rtol=1e-4, atol=1e-3)
    assert len(times) == 2
    assert min(times) >= 1


@each_device
def test_2020_under_try(device: str) -> None:
    needs_cpu_only(device)
    lesson = part("tutorials2020.transpose")
    assert lesson.triton is pytriton
    x = torch.randn(*large(device, (40, 24), (1000, 2000)), device=device)
    assert torch.equal(lesson.transpose(x), x.t())


def blocks(device: str) -> tuple[torch.Tensor, torch.Tensor, int]:
    """A tensor, a layout and a block size."""
    torch.manual_seed(0)
    heads, rows, columns, block = large(device, (2, 3, 4, 16), (4, 24, 20, 32))
    layout = (torch.rand(heads, rows, columns) < 0.5).long()
    layout[0, 0, 0] = 1
    return torch.randn(2, heads, rows * block, columns * block, device=device), layout.to(device), block


@each_device
def test_2020_import_module(device: str) -> None:
    """``triton = importlib.import_module('triton')``"""
    x, layout, block = blocks(device)
    sparse = package("sparse2020")
    dense = sparse.to_dense(pytriton.testing.sparsify_tensor(x, layout, block), layout, block)
    assert torch.equal(dense, pytriton.testing.mask_tensor(x, layout, block))
    assert part("sparse2020.dense").triton is pytriton


@each_device
def test_2021_import_module_when_it_is_needed(device: str) -> None:
    """``triton = None`` until the first call: ``global triton; triton = importlib.import_module('triton')``"""
    x, layout, block = blocks(device)
    module = part("sparse2021.gather")
    module.triton = None
    module.kernels.clear()
    assert torch.equal(module.to_sparse(x, layout, block), pytriton.testing.sparsify_tensor(x, layout, block))
    assert module.triton is pytriton


@each_device
def test_2021_import_module_of_what_is_not_there(device: str) -> None:
    """``importlib.import_module('.ops', package='triton')`` under ``try``"""
    torch.manual_seed(0)
    module: ModuleType = part("ops2021.linear")
    assert module.library is None
    m, n, k = large(device, (40, 24, 48), (1000, 520, 304))
    x, w = torch.randn(m, k, device=device), torch.randn(n, k, device=device)
    torch.testing.assert_close(module.linear(x, w), x @ w.t(), rtol=1e-4, atol=1e-4 * k**0.5)
