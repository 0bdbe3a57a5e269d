"""Operators among the other machinery of PyTorch: modes, subclasses, transforms, profilers, threads."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

import pytriton
from tests.operators.kernels import add_scaled_, elementwise, exp, sin
from tests.together import in_threads

pytestmark = pytest.mark.usefixtures("device")


class Recording(TorchDispatchMode):
    """Writes down every operator."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Wrapper(torch.Tensor):
    """A wrapper subclass: a tensor that holds another one, and counts the operators that it meets."""

    met: list[str]
    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapper:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device, requires_grad=inner.requires_grad
        )
        made.inner = inner
        made.met = []
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for one in args:
            if isinstance(one, Wrapper):
                one.met.append(str(func))
        plain = [one.inner if isinstance(one, Wrapper) else one for one in args]
        result = func(*plain, **(kwargs or {}))
        return Wrapper(result) if isinstance(result, torch.Tensor) else result


class TestModes:
    def test_dispatch_mode(self) -> None:
        with Recording() as mode:
            sin(torch.ones(3))
            add_scaled_(torch.ones(3), torch.ones(3))
        assert "pytriton_tests.sin.default" in mode.names
        assert "pytriton_tests.add_scaled_.default" in mode.names

    def test_function_mode(self) -> None:
        class Counting(TorchFunctionMode):
            calls = 0

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                Counting.calls += func is sin.overload
                return func(*args, **(kwargs or {}))

        with Counting():
            sin(torch.ones(3))
        assert Counting.calls == 1

    def test_flops(self) -> None:
        with FlopCounterMode(display=False) as flops:
            sin(torch.ones(3, 5))
            sin(torch.ones(7, requires_grad=True))
        assert flops.get_total_flops() == 22

    def test_jit_trace(self) -> None:
        """An old tracer: the operator is one node."""
        graph = str(torch.jit.trace(lambda x: sin(x), torch.randn(5), check_trace=False).graph)
        assert "pytriton_tests::sin" in graph

    def test_functionalize(self) -> None:
        x = torch.randn(5)
        torch.testing.assert_close(torch.func.functionalize(lambda x: sin(x.clone().mul_(2)))(x), sin(2 * x))


class TestSubclasses:
    def test_wrapper(self) -> None:
        x = Wrapper(torch.randn(5))
        y = sin(x)
        assert isinstance(y, Wrapper)
        assert x.met == ["pytriton_tests.sin.default"]
        torch.testing.assert_close(y.inner, torch.sin(x.inner))

    def test_wrapper_is_written(self) -> None:
        y = Wrapper(torch.ones(3))
        add_scaled_(y, torch.ones(3), 2.0)
        assert y.inner.tolist() == [3.0] * 3

    def test_registered_rule(self) -> None:
        made = pytriton.op("pytriton_tests::with_rule", rule_body)
        made.register_torch_dispatch(Wrapper, lambda mode, func, types, args, kwargs: torch.zeros(7))
        assert made(Wrapper(torch.ones(3))).shape == (7,)

    def test_torch_function(self) -> None:
        """A subclass that only hears of functions hears of the operator."""

        class Logged(torch.Tensor):
            heard: ClassVar[list[Any]] = []

            @classmethod
            def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                cls.heard.append(func)
                return super().__torch_function__(func, types, args, kwargs or {})

        x = torch.randn(3)
        y = sin(x.as_subclass(Logged))
        assert sin.overload in Logged.heard
        assert isinstance(y, Logged)
        torch.testing.assert_close(y.as_subclass(torch.Tensor), torch.sin(x))

    def test_parameter(self) -> None:
        y = sin(torch.nn.Parameter(torch.ones(3)))
        y.sum().backward()
        assert type(y) is torch.Tensor


def rule_body(x: torch.Tensor) -> torch.Tensor:
    return elementwise(x, "sin")


class TestTransforms:
    @pytest.mark.parametrize("in_dim", [0, 1])
    def test_vmap(self, in_dim: int) -> None:
        x = torch.randn(3, 4)
        wanted = torch.func.vmap(torch.sin, in_dims=in_dim)(x)
        torch.testing.assert_close(torch.func.vmap(sin, in_dims=in_dim)(x), wanted)

    def test_forward_mode_is_refused(self) -> None:
        """There is no such formula to register; a tangent of zero would be wrong."""
        x = torch.randn(5)
        with pytest.raises(NotImplementedError, match="no formula for forward-mode derivatives"):
            torch.func.jvp(sin, (x,), (torch.ones(5),))
        with forward_ad.dual_level():
            with pytest.raises(NotImplementedError, match="no formula for forward-mode derivatives"):
                sin(forward_ad.make_dual(x, torch.ones(5)))
            torch.testing.assert_close(sin(x), torch.sin(x))

    @pytest.mark.parametrize("operator", [sin, exp, torch.ops.pytriton_tests.sin], ids=["sin", "exp", "ops"])
    def test_grad(self, operator: Any) -> None:
        """torch.func.grad, more than once, and within a graph of autograd."""
        native = torch.exp if operator is exp else torch.sin
        x = torch.randn(5)

        def first(function: Any, x: torch.Tensor) -> torch.Tensor:
            return torch.func.grad(lambda x: (function(x) * x).sum())(x)

        def second(function: Any, x: torch.Tensor) -> torch.Tensor:
            return torch.func.grad(lambda x: first(function, x).square().sum())(x)

        for derived in (first, second):
            torch.testing.assert_close(derived(operator, x), derived(native, x))
            leaves = [x.clone().requires_grad_() for _ in range(2)]
            for leaf, function in zip(leaves, (operator, native), strict=True):
                derived(function, leaf).sum().backward()
            torch.testing.assert_close(leaves[0].grad, leaves[1].grad)
        torch.testing.assert_close(torch.func.jacrev(operator)(x), torch.func.jacrev(native)(x))
        cotangent = torch.randn(5)
        (mine,), (theirs,) = (torch.func.vjp(one, x)[1](cotangent) for one in (operator, native))
        torch.testing.assert_close(mine, theirs)

    @pytest.mark.parametrize("operator", [sin, torch.ops.pytriton_tests.sin], ids=["operator", "ops"])
    def test_what_torch_func_leaves_behind(self, operator: Any) -> None:
        """A pullback runs when its level is gone; what it gives belongs to the graph around."""
        x, cotangent = torch.randn(5), torch.randn(5)
        found = []
        for function in (operator, torch.sin):
            leaf = x.clone().requires_grad_()
            _, pullback = torch.func.vjp(lambda x: function(x * 2), leaf)  # noqa: B023
            (first,) = pullback(cotangent)
            first.sum().backward()
            found.append((first.detach(), leaf.grad))
        torch.testing.assert_close(found[0], found[1])

    @pytest.mark.parametrize("operator", [sin, torch.ops.pytriton_tests.sin], ids=["operator", "ops"])
    def test_dead_wrappers(self, operator: Any) -> None:
        leaf, kept = torch.randn(5, requires_grad=True), []
        torch.func.grad(lambda x: (kept.append(x), x.sum())[1])(leaf)
        (dead,) = kept
        y = operator(dead)
        torch.testing.assert_close(y, torch.sin(leaf))
        y.sum().backward()
        torch.testing.assert_close(leaf.grad, torch.cos(leaf.detach()))
        with torch.no_grad():
            torch.testing.assert_close(operator(dead), torch.sin(leaf))

    def test_grad_in_vmap(self) -> None:
        """Gradients of each sample: the operator and that of its gradient have rules for vmap."""
        x, w = torch.randn(3, 4), torch.randn(4)

        def of_samples(function: Any) -> torch.Tensor:
            return torch.func.vmap(torch.func.grad(lambda w, x: function(w * x).sum()), (None, 0))(w, x)

        torch.testing.assert_close(of_samples(sin), of_samples(torch.sin))

    @pytest.mark.parametrize("compiled", [False, True])
    def test_functional_call(self, compiled: bool, device: str) -> None:
        class Layer(torch.nn.Module):
            def __init__(self, function: Any) -> None:
                super().__init__()
                self.function = function
                self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 5, device=device))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.function(self.weight * x)

        x = torch.randn(5)
        found = []
        for function in (torch.sin, sin):
            layer = Layer(function)
            parameters = {name: one.detach() * 2 for name, one in layer.named_parameters()}

            def loss(parameters: Any, x: torch.Tensor, layer: Any = layer) -> torch.Tensor:
                return torch.func.functional_call(layer, parameters, (x,)).square().sum()

            derived = torch.func.grad_and_value(loss)
            if compiled:
                derived = torch.compile(derived, backend="aot_eager", fullgraph=True)
            gradients, value = derived(parameters, x)
            found.append((gradients["weight"], value))
        torch.testing.assert_close(found[1], found[0])

    def test_grad_without_a_formula(self) -> None:
        """As in eager: the result can be computed, its gradient cannot."""
        made = pytriton.op("pytriton_tests::no_rule", rule_body)
        x = torch.randn(5)
        with pytest.raises(RuntimeError, match="no autograd formula was registered"):
            torch.func.grad(lambda x: made(x).sum())(x)
        with pytest.raises(RuntimeError, match=r"writes argument 'y', which requires a gradient"):
            torch.func.grad(lambda x: add_scaled_(y := x * 1, x) or y.sum())(x)

    def test_grad_of_lists_is_refused(self) -> None:
        def total(many: list[torch.Tensor]) -> torch.Tensor:
            return elementwise(torch.cat(many), "sin")

        made = pytriton.op("pytriton_tests::of_lists", total)
        made.register_autograd(
            lambda ctx, dy: list((dy * torch.cos(torch.cat(ctx.many))).split(5)),
            setup_context=lambda ctx, inputs, output: setattr(ctx, "many", inputs[0]),
        )
        x = torch.randn(5, requires_grad=True)
        made([x, torch.ones(5)]).sum().backward()
        torch.testing.assert_close(x.grad, torch.cos(x.detach()))
        with pytest.raises(NotImplementedError, match=r"torch.func has no gradients of lists, as .*of_lists"):
            torch.func.grad(lambda x: made([x, x]).sum())(torch.randn(5))

    def test_vmap_without_a_rule(self) -> None:
        made = pytriton.op("pytriton_tests::no_vmap", rule_body)
        x = torch.randn(3, 4)
        torch.testing.assert_close(torch.func.vmap(made)(x), torch.sin(x))  # one after the other


class TestAutocast:
    def test_casts(self, device: str) -> None:
        made = pytriton.op("pytriton_tests::autocast", rule_body)
        x = torch.randn(5)
        with torch.autocast(device, dtype=torch.bfloat16):
            assert made(x).dtype == torch.float32
        made.register_autocast(device, torch.bfloat16)
        assert made(x).dtype == torch.float32
        with torch.autocast(device, dtype=torch.bfloat16):
            y = made(x)
        assert y.dtype == torch.bfloat16
        torch.testing.assert_close(y, torch.sin(x.bfloat16()))


class TestProfiler:
    def test_name(self) -> None:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            sin(torch.ones(3))
        assert "pytriton_tests::sin" in {event.key for event in profile.key_averages()}


class TestThreads:
    def test_many(self) -> None:
        """Each thread checks its own launches against its own operator."""

        def work(seed: int) -> None:
            x = torch.randn(40, generator=torch.Generator().manual_seed(seed))
            for _ in range(3):
                torch.testing.assert_close(sin(x), torch.sin(x))
                y = torch.zeros(40)
                add_scaled_(y, x, 2.0)
                torch.testing.assert_close(y, 2 * x)

        in_threads(work, range(4))
