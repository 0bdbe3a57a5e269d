"""Operators among the other machinery of PyTorch: modes, subclasses, transforms, profilers, threads."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

import pytriton
from tests.operators.kernels import add_scaled_, elementwise, sin

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

    def test_grad_is_refused(self) -> None:
        """torch.func.grad needs more than register_autograd gives, for every custom operator."""
        with pytest.raises(RuntimeError, match="setup_context"):
            torch.func.grad(lambda x: sin(x).sum())(torch.randn(5))


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
        wrong: list[BaseException] = []

        def work(seed: int) -> None:
            try:
                x = torch.randn(40, generator=torch.Generator().manual_seed(seed))
                for _ in range(3):
                    torch.testing.assert_close(sin(x), torch.sin(x))
                    y = torch.zeros(40)
                    add_scaled_(y, x, 2.0)
                    torch.testing.assert_close(y, 2 * x)
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
