"""Gradients, in all three ways, checked against finite differences in double precision."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import pytriton
from pytriton.operators.autograd import function
from tests.operators.kernels import add_scaled_, elementwise, exp, sin

pytestmark = pytest.mark.usefixtures("device")


class SinOfTorch(torch.autograd.Function):
    """An autograd.Function around kernels, whose backward is another one."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return elementwise(x, "sin")

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
        return dy * CosOfTorch.apply(*ctx.saved_tensors)


class CosOfTorch(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return elementwise(x, "cos")

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
        return -dy * SinOfTorch.apply(*ctx.saved_tensors)


class SinOf2019(function):
    """The base class of 2019."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return elementwise(x, "sin")

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
        return dy * CosOfTorch.apply(*ctx.saved_tensors)


def double(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


WAYS = {"function": SinOfTorch.apply, "2019": SinOf2019.apply, "operator": sin, "torch": exp}


@pytest.mark.parametrize("way", WAYS)
def test_gradient(way: str) -> None:
    for x in (double(7), double(3, 4).t(), double(1)):
        assert gradcheck(WAYS[way], (x,))


@pytest.mark.parametrize("way", WAYS)
def test_double_backward(way: str) -> None:
    for x in (double(7), double(3, 4).t(), double(1)):
        assert gradgradcheck(WAYS[way], (x,))


def test_forward_inputs_and_numbers() -> None:
    """Arguments that are no tensors get no gradient; one that needs none is left alone."""

    def scaled(x: torch.Tensor, y: torch.Tensor, n: int) -> torch.Tensor:
        return elementwise(x, "sin") * y * n

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        x, y, ctx.n = inputs
        ctx.save_for_backward(x, y)

    def backward(ctx: Any, dz: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, y = ctx.saved_tensors
        assert ctx.needs_input_grad[:2] == (True, y.requires_grad)
        return dz * ctx.n * y * torch.cos(x), dz * ctx.n * torch.sin(x) if y.requires_grad else None, None

    made = pytriton.op("pytriton_tests::scaled", scaled)
    made.register_autograd(backward, setup_context=setup)
    assert gradcheck(made, (double(5), double(5), 3))
    assert gradcheck(made, (double(5), double(5).detach(), 3))


def test_no_formula() -> None:
    """As with torch's custom operators, the error comes when the gradient is asked for."""
    made = pytriton.op("pytriton_tests::no_formula", without_formula)
    y = made(torch.randn(3, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError, match=r"no autograd formula was registered"):
        y.sum().backward()


def test_written_arguments() -> None:
    """What is written may not require a gradient, which would be that of the values before; the rest may."""
    x = torch.randn(3, requires_grad=True)
    for y in (torch.ones(3, requires_grad=True), x * 2):
        with pytest.raises(RuntimeError, match=r"writes argument 'y', which requires a gradient, and has no"):
            add_scaled_(y, x)
        with torch.no_grad():
            add_scaled_(y, x)
    y = torch.zeros(3)
    add_scaled_(y, x, 2.0)
    assert not y.requires_grad
    torch.testing.assert_close(y, 2 * x.detach())


def test_results_in_a_list() -> None:
    def both(x: torch.Tensor) -> list[torch.Tensor]:
        return [elementwise(x, "sin"), elementwise(x, "cos")]

    made = pytriton.op("pytriton_tests::both", both)

    def backward(ctx: Any, grads: list[torch.Tensor]) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return grads[0] * torch.cos(x) - grads[1] * torch.sin(x)

    made.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    assert gradcheck(lambda x: tuple(made(x)), (double(5),))


def test_checkpoint_and_hooks() -> None:
    """What is saved for a gradient goes through the hooks of autograd."""
    packed: list[torch.Tensor] = []
    x = double(7)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda one: packed.append(one) or len(packed) - 1, packed.__getitem__
    ):
        y = sin(x)
    y.sum().backward()
    assert len(packed) == 1
    found, x.grad = x.grad, None
    for reentrant in (False, True):
        torch.utils.checkpoint.checkpoint(lambda x: sin(exp(x)), x, use_reentrant=reentrant).sum().backward()
        wanted = torch.cos(torch.exp(x.detach())) * torch.exp(x.detach())
        torch.testing.assert_close(x.grad, wanted)
        x.grad = None
    torch.testing.assert_close(found, torch.cos(x.detach()))
    with torch.autograd.set_detect_anomaly(True):
        sin(x).sum().backward()
    torch.testing.assert_close(x.grad, found)


def test_several_results() -> None:
    """One of them whole numbers, which have no gradient; one whose gradient is not asked for."""

    def three(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return elementwise(x, "sin"), elementwise(x, "cos"), (x > 0).int()

    made = pytriton.op("pytriton_tests::three", three)

    def backward(ctx: Any, *grads: torch.Tensor | None) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        assert grads[1] is None
        assert grads[2] is None
        return grads[0] * torch.cos(x)

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)

    made.register_autograd(backward, setup_context=setup)
    for call in (made, made.overload):
        x = torch.randn(5, requires_grad=True)
        y, z, signs = call(x)
        assert (y.requires_grad, z.requires_grad, signs.requires_grad) == (True, True, False)
        y.mul_(2).sum().backward()
        torch.testing.assert_close(x.grad, 2 * torch.cos(x.detach()))


def without_formula(x: torch.Tensor) -> torch.Tensor:
    return elementwise(x, "sin")


def test_in_a_graph_with_torch() -> None:
    x = torch.randn(11, requires_grad=True)
    (sin(x * 2) * exp(x)).sum().backward()
    with torch.no_grad():
        wanted = (2 * torch.cos(2 * x) + torch.sin(2 * x)) * torch.exp(x)
    torch.testing.assert_close(x.grad, wanted)
