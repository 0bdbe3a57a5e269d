"""The operators in examples/: opcheck, gradients, flops, and what each example is there to show."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.library import opcheck
from torch.utils.flop_counter import FlopCounterMode

EXAMPLES = Path(__file__).parents[2] / "examples"
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads an example anew: an operator that is defined again replaces the one before."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name: str) -> Any:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return import_module(name)

    return load


@pytest.mark.parametrize("device", DEVICES)
def test_sin_override(example: Any, device: str) -> None:
    sin = example("sin_override").sin
    for x in (torch.randn(5), torch.randn(4, 3, dtype=torch.float64).t(), torch.arange(5)):
        opcheck(sin.overload, (x.to(device),))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("gradient", [False, True])
def test_dot_op(example: Any, device: str, gradient: bool) -> None:
    dot = example("dot_op").dot
    a, b = (torch.randn(32, 32, device=device).half().requires_grad_(gradient) for _ in range(2))
    for at, bt in ((False, False), (True, False), (False, True), (True, True)):
        opcheck(dot.overload, (a, b, at, bt))
    with FlopCounterMode(display=False) as flops:
        dot(torch.ones(32, 64, device=device).half(), torch.ones(64, 96, device=device).half())
    assert flops.get_total_flops() == 2 * 32 * 64 * 96


@pytest.mark.parametrize("device", DEVICES)
def test_linear_layer(example: Any, device: str) -> None:
    module = example("linear_layer")
    for transposed in (False, True):
        a, b = torch.randn(7, 5, device=device), torch.randn(5, 3, device=device)
        a = (a.t().contiguous().t() if transposed else a).requires_grad_()
        opcheck(module.matmul.overload, (a, b.requires_grad_()))
    wanted = module.train(False, device, torch.nn.Linear)
    for compiled in (False, True):
        torch.testing.assert_close(module.train(compiled, device), wanted, rtol=1e-5, atol=0)
