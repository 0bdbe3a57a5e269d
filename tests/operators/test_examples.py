"""The operators in examples/: opcheck, gradients, flops, and what each example is there to show."""

from __future__ import annotations

import csv
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


def test_every_operator_is_checked() -> None:
    """Each example with an operator has a test here that gives it to opcheck."""
    own = Path(__file__).read_text(encoding="utf-8")
    found = {
        path.stem for path in EXAMPLES.glob("*.py") if "pytriton.op(" in path.read_text(encoding="utf-8")
    }
    assert found >= {"sin_override", "dot_op", "linear_layer"}
    for name in found:
        body = own.split(f"\ndef test_{name}(")[1].split("\ndef ")[0]
        assert "opcheck(" in body


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
def test_gelu_gradient(example: Any, device: str) -> None:
    gelu = example("gelu_gradient").gelu
    x, bias = torch.randn(3, 70, device=device), torch.randn(70, device=device)
    opcheck(gelu.overload, (x.requires_grad_(), bias.requires_grad_()))


@pytest.mark.parametrize(
    "device",
    [
        pytest.param("cpu", marks=pytest.mark.slow),
        DEVICES[1],
    ],  # tests/programs runs its main(), which trains too
)
def test_linear_layer(example: Any, device: str) -> None:
    module = example("linear_layer")
    for transposed in (False, True):
        a, b = torch.randn(7, 5, device=device), torch.randn(5, 3, device=device)
        a = (a.t().contiguous().t() if transposed else a).requires_grad_()
        opcheck(module.matmul.overload, (a, b.requires_grad_()))
    wanted = module.train(False, device, torch.nn.Linear)
    for compiled in (False, True):
        torch.testing.assert_close(module.train(compiled, device), wanted, rtol=1e-5, atol=0)


def test_report_of_sin_override(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """GB/s before, during and after, printed, as CSV and as a picture."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    module = example("sin_override")
    (benchmark,) = module.bandwidth.benchmarks
    benchmark.x_vals = [256, 512]
    monkeypatch.setattr(sys, "argv", ["sin_override.py", str(tmp_path)])
    module.main()
    lines = ["torch before", "pytriton", "torch after"]
    shown = capsys.readouterr().out
    assert all(line in shown for line in lines)
    with (tmp_path / f"{benchmark.plot_name}.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["n", *(f"{line} (GB/s)" for line in lines)]
    assert [float(row[0]) for row in rows] == [256, 512]
    assert all(float(cell) > 0 for row in rows for cell in row[1:])
    (picture,) = tmp_path.glob("*.png")
    pixels = import_module("matplotlib.image").imread(picture)
    assert pixels.shape[0] > 100
    assert len({tuple(pixel) for pixel in pixels.reshape(-1, pixels.shape[2]).tolist()}) > 10  # lines, words
