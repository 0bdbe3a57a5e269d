"""Operators on CPU tensors, without gradients and without torch.compile."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch.library import opcheck

import pytriton
from pytriton.errors import LaunchError
from tests.operators.kernels import add_scaled_, axpy, blocks, elementwise, exp, sin

SAMPLES = (
    torch.linspace(-4, 4, 37),
    torch.linspace(-4, 4, 36).reshape(6, 6).t(),
    torch.linspace(-4, 4, 36)[::3],
    torch.tensor([float("nan"), float("inf"), -0.0]),
    torch.empty(0, 3),
    torch.tensor(0.5),
    torch.linspace(-4, 4, 20, dtype=torch.float64),
)


@pytest.mark.usefixtures("device")
class TestEager:
    @pytest.mark.parametrize("x", SAMPLES, ids=lambda x: f"{x.dtype}{tuple(x.shape)}")
    def test_values(self, x: torch.Tensor, device: str) -> None:
        x = x.to(device)
        torch.testing.assert_close(sin(x), torch.sin(x), equal_nan=True)

    def test_through_torch_ops(self) -> None:
        x = torch.randn(5)
        assert torch.equal(torch.ops.pytriton_tests.sin(x), sin(x))
        assert torch.equal(sin.overload(x), sin(x))

    def test_default_and_keyword(self) -> None:
        for arguments, keywords, wanted in (
            ((torch.ones(3),), {}, 2.0),
            ((torch.ones(3), 3.0), {}, 4.0),
            ((torch.ones(3), 3), {}, 4.0),
            ((torch.ones(3),), {"a": -1.0}, 0.0),
        ):
            y = torch.ones(3)
            assert add_scaled_(y, *arguments, **keywords) is None
            assert y.tolist() == [wanted] * 3

    def test_keyword_only(self) -> None:
        def f(x: torch.Tensor, *, out: torch.Tensor, a: float = 2.0) -> None:
            axpy(out, x, a, x.numel(), grid=blocks(x.numel()))

        made = pytriton.op("pytriton_tests::keyword_only", f, mutates_args=["out"])
        assert made.schema == "(Tensor x, *, Tensor(a1!) out, float a=2.) -> ()"
        out = torch.ones(3)
        made(torch.ones(3), out=out)
        assert out.tolist() == [3.0] * 3

    def test_optional(self) -> None:
        """Absent tensors, texts and booleans; what has another type than declared is converted by torch."""

        def f(
            x: torch.Tensor,
            y: torch.Tensor | None = None,
            a: float = 2.0,
            name: str = "sin",
            plus: bool = True,
        ) -> torch.Tensor:
            assert (type(a), type(plus)) == (float, bool)
            z = elementwise(x, name)
            if y is not None and plus:
                axpy(z, y, a, z.numel(), grid=blocks(z.numel()))
            return z

        made = pytriton.op("pytriton_tests::optional", f)
        assert "Tensor? y=None" in made.schema
        x, y = torch.randn(5), torch.randn(5)
        for arguments, keywords, wanted in (
            ((x,), {}, torch.sin(x)),
            ((x, None, 3.0, "cos"), {}, torch.cos(x)),
            ((x, y), {}, torch.sin(x) + 2 * y),
            ((x, y, 3), {}, torch.sin(x) + 3 * y),
            ((x, y, True), {}, torch.sin(x) + y),
            ((x,), {"plus": True, "y": y, "a": -1.0}, torch.sin(x) - y),
            ((x, y, 1.0, "sin", False), {}, torch.sin(x)),
            ((x, y.double().float().neg().conj(), 1.0), {}, torch.sin(x) - y),
        ):
            torch.testing.assert_close(made(*arguments, **keywords), wanted)
            torch.testing.assert_close(made.overload(*arguments, **keywords), wanted)
        y = torch.complex(y, y).conj().imag
        assert y.is_neg()
        torch.testing.assert_close(made(x, y), torch.sin(x) + 2 * y)
        with pytest.raises((TypeError, RuntimeError), match="name"):
            made(x, y, 1.0, 5)

    def test_parameters_of_any_name(self) -> None:
        """Names that the written function uses itself, too."""

        def f(self: torch.Tensor, _modes: torch.Tensor, __self: float = 2.0) -> torch.Tensor:
            z = _modes.clone()
            axpy(z, self, __self, z.numel(), grid=blocks(z.numel()))
            return z

        made = pytriton.op("pytriton_tests::names", f)
        x, y = torch.randn(5), torch.randn(5)
        torch.testing.assert_close(made(x, y), 2 * x + y)
        torch.testing.assert_close(made(self=x, _modes=y), 2 * x + y)

    def test_lists(self) -> None:
        def f(many: list[torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
            for y in many:
                axpy(y, x, 1.0, x.numel(), grid=blocks(x.numel()))
            return [y.clone() for y in many]

        made = pytriton.op("pytriton_tests::lists", f, mutates_args=["many"])
        assert made.schema == "(Tensor(a0!)[] many, Tensor x) -> Tensor[]"
        many = [torch.zeros(3), torch.ones(3)]
        copies = made(many, torch.ones(3))
        assert [y.tolist() for y in many] == [[1.0] * 3, [2.0] * 3] == [y.tolist() for y in copies]

    @pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
    def test_without_gradients(self, mode: Any) -> None:
        x = torch.randn(5, requires_grad=True)
        with mode():
            y = sin(x)
        assert not y.requires_grad
        torch.testing.assert_close(y, torch.sin(x.detach()))

    def test_inference_tensor_is_written(self) -> None:
        """It has no version, in inference mode and after it."""
        with torch.inference_mode():
            y = torch.ones(3)
            add_scaled_(y, torch.ones(3))
        assert y.is_inference()
        add_scaled_(y, torch.ones(3), 2.0)
        assert y.tolist() == [4.0] * 3

    def test_negative_view(self) -> None:
        """The imaginary part of a conjugate is negated when it is read: its memory holds other numbers."""
        x = torch.complex(torch.ones(3), torch.tensor([1.0, 2.0, 3.0])).conj().imag
        assert x.is_neg()
        torch.testing.assert_close(sin(x), torch.sin(x))

    def test_versions(self) -> None:
        """Autograd keeps a version of each tensor, by which it notices what was overwritten."""
        y, x = torch.ones(3), torch.ones(3)
        for count, call in enumerate((add_scaled_, torch.ops.pytriton_tests.add_scaled_), 1):
            call(y, x, 1.0)
            assert (y._version, x._version) == (count, 0)
        w = torch.ones(3, requires_grad=True)
        product = w * y
        add_scaled_(y, x, 1.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()

    def test_wrong_arguments(self) -> None:
        with pytest.raises((TypeError, RuntimeError)):
            sin()
        with pytest.raises((TypeError, RuntimeError)):
            sin(torch.ones(3), torch.ones(3))
        with pytest.raises((TypeError, RuntimeError)):
            sin("x")

    def test_errors_of_the_kernel(self) -> None:
        with pytest.raises(LaunchError, match="TC502"):
            add_scaled_(torch.ones(3), torch.ones(3, dtype=torch.float64))


class TestRegistrations:
    def test_kernel(self, device: str) -> None:
        """The kernel that is registered for the device, else the function; on the CPU the interpreter."""
        made = pytriton.op("pytriton_tests::with_kernel", lambda_sin)
        x = torch.randn(5)
        torch.testing.assert_close(made(x), torch.sin(x))
        calls = []

        @made.register_kernel(device)
        def _(x: torch.Tensor) -> torch.Tensor:
            calls.append(x)
            return torch.cos(x)

        assert torch.equal(made(x), torch.cos(x))
        assert torch.equal(made.overload(x), torch.cos(x))
        assert torch.equal(torch.compile(made, backend="aot_eager", fullgraph=True)(x), torch.cos(x))
        assert len(calls) == 3
        made.register_kernel(["cpu", "cuda"])(torch.sin)
        assert torch.equal(made(x), torch.sin(x))

    def test_kernel_is_for_dense_tensors(self, device: str) -> None:
        """As by the dispatcher: a sparse tensor goes to the function, whose kernel cannot read it."""
        made = pytriton.op("pytriton_tests::dense_kernel", lambda_sin)
        given: list[Any] = []
        made.register_kernel(device)(lambda x: given.append(x) or torch.cos(x))
        x = torch.randn(5)
        with torch.inference_mode():
            assert torch.equal(made(x.clone()), torch.cos(x))
        for call in (made, made.overload):
            assert torch.equal(call(x), torch.cos(x))
            with pytest.raises((LaunchError, RuntimeError)):
                call(x.to_sparse())
        assert not any(one.is_sparse for one in given)

    def test_derived_fake(self) -> None:
        for x in SAMPLES:
            meta = sin(x.to("meta"))
            real = sin(x)
            assert (meta.shape, meta.dtype, meta.stride()) == (real.shape, real.dtype, real.stride())
        y = torch.ones(3, device="meta")
        assert add_scaled_(y, torch.ones(3, device="meta")) is None

    def test_given_fake(self) -> None:
        made = pytriton.op("pytriton_tests::with_fake", lambda_sin)
        made.register_fake(lambda x: x.new_empty(7))
        assert made(torch.ones(5, device="meta")).shape == (7,)

    def test_autograd_of_a_writer(self) -> None:
        with pytest.raises(LaunchError, match=r"writes its arguments \(y\) has no gradient \[TC540\]"):
            add_scaled_.register_autograd(lambda ctx: None)

    def test_name_twice(self) -> None:
        pytriton.op("pytriton_tests::twice", lambda_sin)
        made = pytriton.op("pytriton_tests::twice", lambda_exp)
        x = torch.randn(5)
        torch.testing.assert_close(made(x), torch.exp(x))
        torch.testing.assert_close(torch.ops.pytriton_tests.twice(x), torch.exp(x))

    def test_copies(self) -> None:
        assert copy.deepcopy(sin) is sin
        assert pickle.loads(pickle.dumps(sin)) is sin
        assert sin.__doc__ == "sin(x), whose gradient is another operator."
        assert repr(sin) == "<pytriton.op pytriton_tests::sin(Tensor x) -> Tensor>"


def lambda_sin(x: torch.Tensor) -> torch.Tensor:
    return elementwise(x, "sin")


def lambda_exp(x: torch.Tensor) -> torch.Tensor:
    return elementwise(x, "exp")


@pytest.mark.usefixtures("device")
class TestOpcheck:
    @pytest.mark.parametrize("operator", [sin, exp], ids=["sin", "exp"])
    @pytest.mark.parametrize("gradient", [False, True])
    def test_functional(self, operator: Any, gradient: bool) -> None:
        for x in (torch.randn(5), torch.randn(4, 3, dtype=torch.float64).t(), torch.randn(1)):
            opcheck(operator.overload, (x.requires_grad_(gradient),))

    def test_writing(self) -> None:
        opcheck(add_scaled_.overload, (torch.randn(5), torch.randn(5)))
        opcheck(add_scaled_.overload, (torch.randn(5), torch.randn(5), 2.5))
