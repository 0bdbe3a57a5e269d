"""Operators of PyTorch replaced by ours."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from tests.operators.kernels import add_scaled_, elementwise, sin


def counting(x: torch.Tensor) -> torch.Tensor:
    calls.append(x)
    return elementwise(x, "sin")


calls: list[torch.Tensor] = []
counted = pytriton.op("pytriton_tests::counted", counting)
counted.register_kernel("cpu")(torch.sin)  # never used by an override: it would call itself


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    calls.clear()


class TestOverride:
    def test_context(self) -> None:
        x = torch.linspace(-4, 4, 50)
        native = torch.sin(x)
        with pytriton.override("aten::sin", counted, dispatch_key="CPU"):
            torch.testing.assert_close(torch.sin(x), native)
            torch.testing.assert_close(x.sin(), native)
            assert len(calls) == 2
        assert torch.equal(torch.sin(x), native)
        assert len(calls) == 2

    def test_undo(self) -> None:
        replaced = pytriton.override("aten::sin", counted, dispatch_key="CPU")
        torch.sin(torch.ones(3))
        replaced.undo()
        replaced.undo()
        torch.sin(torch.ones(3))
        assert len(calls) == 1

    def test_undone_after_an_error(self) -> None:
        def interrupted() -> None:
            with pytriton.override("aten::sin", counted, dispatch_key="CPU"):
                torch.sin(torch.ones(3))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            interrupted()
        torch.sin(torch.ones(3))
        assert len(calls) == 1

    def test_autograd_and_a_model(self) -> None:
        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.linear = torch.nn.Linear(4, 3)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.sin(self.linear(x)).sum()

        model, x = Model(), torch.randn(5, 4, requires_grad=True)
        model(x).backward()
        wanted, x.grad = x.grad, None
        with pytriton.override("aten::sin", counted, dispatch_key="CPU"):
            model(x).backward()
        assert len(calls) == 1
        torch.testing.assert_close(x.grad, wanted)

    def test_other_key(self) -> None:
        with pytriton.override("aten::sin", counted):
            torch.sin(torch.ones(3))
        assert calls == []

    def test_twice(self) -> None:
        with pytriton.override("aten::sin", counted, dispatch_key="CPU"):
            with pytest.raises(
                LaunchError,
                match=r"aten::sin on CPU is overridden by pytriton_tests::counted already \[TC544\]",
            ):
                pytriton.override("aten::sin", sin, dispatch_key="CPU")
            with pytriton.override("aten::sin", sin, dispatch_key="CUDA"):
                pass
        pytriton.override("aten::sin", sin, dispatch_key="CPU").undo()

    def test_overload(self) -> None:
        def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

        with pytest.raises(LaunchError, match=r"takes \(Tensor, Tensor\).* takes \(Tensor, Tensor, number\)"):
            pytriton.override("aten::add.Tensor", pytriton.op("pytriton_tests::add", add), "CPU")

    @pytest.mark.parametrize("name", ["sin", "aten::sinn", "nolib::sin", "aten::sin.what"])
    def test_unknown(self, name: str) -> None:
        with pytest.raises(LaunchError, match=r"PyTorch has no operator .* \[TC544\]"):
            pytriton.override(name, sin)

    def test_wrong_use(self) -> None:
        with pytest.raises(LaunchError, match=r"no dispatch key 'cuda' \[TC544\]"):
            pytriton.override("aten::sin", sin, dispatch_key="cuda")
        with pytest.raises(LaunchError, match="is not an operator"):
            pytriton.override("aten::sin", torch.sin)  # type: ignore[arg-type]
        with pytest.raises(LaunchError, match=r"takes \(Tensor!, Tensor, float\)"):
            pytriton.override("aten::sin", add_scaled_)

    def test_other_results(self) -> None:
        """The kernel would give integers for integers, where PyTorch gives floats."""
        with (
            pytriton.override("aten::sin", counted, dispatch_key="CPU"),
            pytest.raises(LaunchError, match=r"gives \(3,\) of torch.int32, but aten::sin gives .*float32"),
        ):
            torch.sin(torch.ones(3, dtype=torch.int32))

    def test_body_calls_what_it_replaces(self) -> None:
        def f(x: torch.Tensor) -> torch.Tensor:
            return torch.sin(x)

        circular = pytriton.op("pytriton_tests::circular", f)
        with (
            pytriton.override("aten::sin", circular, dispatch_key="CPU"),
            pytest.raises(LaunchError, match="its body calls aten::sin, which it replaces"),
        ):
            torch.sin(torch.ones(3))
